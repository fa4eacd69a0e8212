package keyshape

import (
	"math"
	"strconv"
	"time"
)

// clockSkew is how far ahead of the reader's clock the clock of the machine
// that made an id may be.
const clockSkew = time.Minute

// snowflakeTimeShift is the number of bits below the time in a snowflake.
const snowflakeTimeShift = 22

// epochs are the starts of well-known snowflake clocks, in milliseconds since
// 1970.
var epochs = map[string]int64{
	"twitter": 1288834974657,
	"discord": 1420070400000,
}

// snowflake is the class of 63-bit ids that carry, above 22 other bits, the
// milliseconds from epoch to their making.
type snowflake struct{ epoch int64 }

func newSnowflake(arg field) (class, error) {
	if epoch, known := epochs[arg.text()]; known {
		return snowflake{epoch}, nil
	}
	epoch, err := strconv.ParseInt(arg.text(), 10, 64)
	if err != nil || epoch < 0 || epoch > 1<<52 || strconv.FormatInt(epoch, 10) != arg.text() {
		return nil, arg.fail("this class needs an epoch: twitter, discord, or milliseconds since 1970")
	}
	return snowflake{epoch}, nil
}

func (f snowflake) width() (int, int)  { return 1, 19 }
func (f snowflake) first() *charset    { return digits }
func (f snowflake) alphabet() *charset { return digits }

func (f snowflake) accept(s string, now int64) bool {
	id, ok := parseDecimal(s)
	if !ok || id > math.MaxInt64 {
		return false
	}
	made := f.epoch + int64(id>>snowflakeTimeShift)
	return made-clockSkew.Milliseconds() <= now
}

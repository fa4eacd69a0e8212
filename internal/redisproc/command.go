package redisproc

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// Do runs a command and returns its reply as text, nil as "". It asks on a connection
// of its own, which leaves no trace on the server but the command itself.
func (p *Process) Do(args ...string) (string, error) {
	m, err := p.ask(args)
	if rueidis.IsRedisNil(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if n, err := m.ToInt64(); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	if m.IsArray() {
		parts, err := m.AsStrSlice()
		return strings.Join(parts, "\n"), err
	}
	return m.ToString()
}

// patience is how long a command may take.
const patience = 20 * time.Second

func (p *Process) ask(args []string) (rueidis.RedisMessage, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{p.Addr}, ForceSingleClient: true, DisableCache: true,
		ClientSetInfo: rueidis.DisableClientSetInfo, PipelineMultiplex: -1,
		Dialer: net.Dialer{Timeout: patience}, ConnWriteTimeout: patience,
		RingScaleEachConn: 1, ReadBufferEachConn: 4 << 10, WriteBufferEachConn: 4 << 10, // for one command
	})
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Do(ctx, c.B().Arbitrary(args[0]).Args(args[1:]...).Build()).ToMessage()
}

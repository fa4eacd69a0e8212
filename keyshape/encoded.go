package keyshape

import "strings"

// The alphabets of RFC 4648 in the order of their values.
const (
	base32Order = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base64Order = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// encoded is the class of whole bytes written in characters of 5 or 6 bits,
// without padding, as an encoder writes them: a length that some number of
// bytes comes to, and the bits of the last character that belong to no byte
// zero. Decoders mostly overlook those bits, and so would read up to 16
// spellings of one id.
type encoded struct {
	run
	order string
	bits  int // per character
}

func newEncoded(order string) maker {
	bits := 5
	if len(order) == 64 {
		bits = 6
	}
	return func(arg field) (class, error) {
		lo, hi, err := arg.lengths(maxRun)
		if err != nil {
			return nil, err
		}
		set := bytesOf(order)
		e := encoded{run{set, set, lo, hi}, order, bits}
		if lo == hi && e.spare(lo) >= bits {
			return nil, arg.fail("no number of whole bytes takes %d characters", lo)
		}
		return e, nil
	}
}

// spare is the number of bits of n characters that are left when they are cut
// into bytes. As many as a character has are a character too many.
func (e encoded) spare(n int) int { return n * e.bits % 8 }

func (e encoded) accept(s string, now int64) bool {
	spare := e.spare(len(s))
	if spare >= e.bits || !e.run.accept(s, now) {
		return false
	}
	last := strings.IndexByte(e.order, s[len(s)-1])
	return last&(1<<spare-1) == 0
}

func (encoded) costly() {}

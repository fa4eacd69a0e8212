package redisstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/store"
)

// Whatever a server says, it is an error, it costs no more than a connection,
// and when the server comes to its senses it is used again.
func TestStore_survivesGarbage(t *testing.T) {
	t.Parallel()
	nothing := func(command []string) string {
		switch command[0] {
		case "PTTL":
			return ":-2\r\n"
		case "MGET":
			return "*2\r\n$-1\r\n$-1\r\n"
		}
		return ":0\r\n"
	}
	for _, garbage := range []string{
		"HTTP/1.1 400 Bad Request\r\n\r\n", "$1099511627776\r\n", "*1073741824\r\n", "$-7\r\n", "*-3\r\n", "%-9\r\n",
		"+OK\r\n+OK\r\n+OK\r\n+OK\r\n", ":1\r\n", "+text\r\n", "*0\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:2\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n",
		"*3\r\n$5\r\nfound\r\n$1\r\nx\r\n$1\r\nx\r\n", "*3\r\n$7\r\ngranted\r\n$2\r\n-1\r\n:1\r\n", "*3\r\n$4\r\nbusy\r\n:-5\r\n_\r\n", "*3\r\n*0\r\n*0\r\n*0\r\n",
		">3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n", ">2\r\n$10\r\ninvalidate\r\n:1\r\n:1\r\n", ">2\r\n$10\r\ninvalidate\r\n*1\r\n:9\r\n:1\r\n", "\x00\x00\x00",
	} {
		fake := redistest.NewFake(t, func([]string) string { return garbage })
		s := open(t, brisk(fake.Addr))
		for range 3 {
			if r, err := s.Get(t.Context(), "key"); err == nil {
				require.Equal(t, store.Missing, r.Kind, "%q", garbage)
			} else {
				require.ErrorIs(t, err, store.ErrUnavailable, "%q", garbage)
			}
			if c, err := s.Acquire(t.Context(), "key", 0, long); err == nil {
				require.Fail(t, "acquired", "%q: %+v", garbage, c)
			}
			s.GetMany(t.Context(), []string{"a", "b"})
			s.Set(t.Context(), "key", value("v"))
			s.Invalidate(t.Context(), "key")
		}
		fake.Answer(nothing)
		eventually(t, func() error { _, err := s.Get(t.Context(), "other"); return err })
	}
}

func TestStore_oneKeysReplyIsNeverAnothers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "mine", "mine")
	var stolen atomic.Pointer[string]
	raw := server.Do("GET", "eb:v:{"+tagOf(t, server, "mine")+"}mine")
	epoch := server.Do("GET", "eb:e:{"+tagOf(t, server, "mine")+"}")
	stolen.Store(&raw)
	fake := redistest.NewFake(t, func(command []string) string {
		switch command[0] {
		case "PTTL":
			return ":60000\r\n"
		case "MGET":
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(raw), raw, len(epoch), epoch)
		}
		return ":0\r\n"
	})
	f := open(t, patient[string](fake.Addr))
	require.NoError(t, finds(t, f, "mine", "mine"), "the fake is good at it")
	require.NoError(t, finds(t, f, "yours", ""))
	require.EqualValues(t, 1, f.Stats().Foreign)
}

package redisstore_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
)

// log is where a store's Logger writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// answered are options for a server that is there and says no: how soon, on a busy
// machine, is not what is wrong with it.
func answered(o *redisstore.Options[string]) {
	p := patient[string]()
	o.Timeout, o.WriteTimeout, o.ConnectTimeout = p.Timeout, p.WriteTimeout, p.ConnectTimeout
}

// Whatever is wrong with a server, it shows: by method, apart from what is
// missing, with a reason, and in a log that does not grow with the traffic.
func TestStats_showWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]struct {
		args   []string
		opts   func(*redisstore.Options[string])
		strike func(*redistest.Server)
		reason string
		reads  bool // work all the same
	}{
		"killed":  {strike: (*redistest.Server).Kill},
		"stopped": {strike: (*redistest.Server).Stop},
		"wrong password": {
			args:   []string{"--requirepass", "right"},
			opts:   func(o *redisstore.Options[string]) { o.Password = "wrong" },
			reason: "WRONGPASS",
		},
		"not allowed": {
			opts: answered,
			strike: func(s *redistest.Server) {
				s.Do("ACL", "SETUSER", "default", "-@all", "+client", "+hello", "+ping", "+acl")
			},
			reason: "NOPERM",
		},
		"full": {
			opts:   answered,
			strike: func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "1") },
			reason: "OOM", reads: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, wrong.args...)
			opts, log := brisk(server.Addr), new(log)
			opts.Logger = slog.New(slog.NewTextHandler(log, nil))
			if wrong.opts != nil {
				wrong.opts(&opts)
			}
			s := open(t, opts)
			if wrong.strike != nil {
				set(t, s, "warm", "v")
				wrong.strike(server)
			}
			before := s.Stats()
			const n = 300
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() {
					key := fmt.Sprint("key", i)
					s.Get(context.Background(), key)
					s.GetMany(context.Background(), []string{key, "other"})
					s.Acquire(context.Background(), key, 0, long)
					s.Set(context.Background(), key, value("v"))
					s.Invalidate(context.Background(), key)
				})
			}
			all.Wait()
			after := s.Stats()
			require.EqualValues(t, n, after.Sets.Errors()-before.Sets.Errors())
			require.EqualValues(t, n, after.Acquires.Errors()-before.Acquires.Errors())
			require.Equal(t, before.Sets.Done, after.Sets.Done)
			if wrong.reads {
				require.Equal(t, before.Gets.Errors(), after.Gets.Errors())
				require.EqualValues(t, 3*n, after.Missing-before.Missing)
			} else {
				require.EqualValues(t, 2*n, after.Gets.Errors()-before.Gets.Errors())
				require.Equal(t, before.Missing, after.Missing, "nothing is missing")
				require.EqualValues(t, n, after.Pending)
				require.EqualValues(t, n, after.Invalidations.Errors()-before.Invalidations.Errors())
			}
			require.NotEmpty(t, after.LastError)
			eventually(t, func() error { return says(s, wrong.reason) })
			require.Less(t, len(log.lines()), 20, log.lines())
		})
	}
}

package redisstore_test

import (
	"fmt"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

type item = storetest.Item

// patient are options for a machine that is busy with other things: what is
// judged is what happens, not how soon.
func patient[V any](addrs ...string) redisstore.Options[V] {
	return redisstore.Options[V]{Addrs: addrs, Timeout: 10 * time.Second, WriteTimeout: 10 * time.Second, ConnectTimeout: 10 * time.Second}
}

// open returns a store that is closed when the test ends.
func open[V any](t testing.TB, opts redisstore.Options[V]) *redisstore.Store[V] {
	t.Helper()
	s, err := redisstore.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

var namespaces atomic.Int64

// ofBusOrBlobs are the promises of a store.Bus and of store.Blobs.
var ofBusOrBlobs = regexp.MustCompile(`/(WhoHears|Listening|Facts|Bus|Blob|MeaninglessBlobs)`)

// suite runs the conformance suite, each test in a namespace of its own.
func suite(t *testing.T, opts redisstore.Options[*item]) {
	suiteOf(opts, false).Run(t)
}

func suiteOf(opts redisstore.Options[*item], unwatched bool) storetest.Suite {
	return storetest.Suite{
		SharedLeases: opts.SharedLeases,
		Unwatched:    unwatched,
		Open: func(t *testing.T) func() store.Store[*item] {
			if (opts.SharedLeases || unwatched) && ofBusOrBlobs.MatchString(t.Name()) {
				t.Skip("neither leases nor tracking have a part in it")
			}
			opts.Namespace = fmt.Sprint("suite:", namespaces.Add(1))
			return func() store.Store[*item] { return open(t, opts) }
		},
	}
}

func TestStore_keepsTheContract(t *testing.T) {
	t.Parallel()
	suite(t, patient[*item](redistest.Start(t).Addr))
}

func TestStore_keepsTheContractWithSharedLeases(t *testing.T) {
	t.Parallel()
	opts := patient[*item](redistest.Start(t).Addr)
	opts.SharedLeases = true
	suite(t, opts)
}

func TestStore_keepsTheContractInACluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	suite(t, patient[*item](c.Addrs()...))
}

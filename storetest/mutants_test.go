package storetest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// mutant is a store with something wrong with it.
type mutant struct {
	good
	wrong string
	ear   *mutantEar
}

// wrongs are what can be wrong, each with a promise that it breaks.
var wrongs = map[string]string{
	"publishes without a lease":      "InvalidateFencesLoads",
	"keeps the lease when it fails":  "FailLetsTheNextTry",
	"forgets nothing":                "InvalidateForgets",
	"forgets all but some":           "InvalidateOfManyKeys",
	"never wakes":                    "WaiterIsWokenByPublish",
	"mixes up many":                  "GetManyAnswersInOrder",
	"shares values":                  "ValuesAreCopies",
	"takes nil for an absence":       "NilIsAValue",
	"counts from the wrong end":      "RecordTravelsUnchanged",
	"loses costs":                    "RecordTravelsUnchanged",
	"finds what the caller has":      "NewerRecordIsFound",
	"does not say that it cools":     "FailCoolsDown",
	"takes keys for the same":        "AnyStringIsAKey",
	"ignores contexts":               "DoneContextIsNoticed",
	"keeps everything for ever":      "LifeRunsOut",
	"flushes nothing":                "InvalidateAllForgets",
	"is late to forget":              "NobodySeesWhatWasBeforeAChange",
	"never tells":                    "WatchTellsOfChanges",
	"tells others' changes only":     "WatchTellsOfChanges",
	"reads before it watches":        "WatchMissesNothing",
	"watches what is not there":      "WatchIsAGet",
	"tells everything":               "WatchIsNotForOtherKeys",
	"tells after it is closed":       "WatchNoticesEnds",
	"says it watches":                "WatchWithoutNotifyIsAGet",
	"spreads nothing":                "CopiesHoldWhatTheBaseHolds",
	"takes all copies for the same":  "CopiesOfOtherNumbersAreOthers",
	"tells no copies":                "CopiesLearnOfInvalidate",
	"tells no copies of a Set":       "CopiesLearnOfSet",
	"tells no copies of all":         "CopiesLearnOfInvalidateAll",
	"tells copies late":              "CopiesShowNobodyWhatWasBeforeAChange",
	"spreads once only":              "CopiesTakeWhatIsNewerAtOnce",
	"never finds a copy due":         "CopiesAreRenewed",
	"keeps copies for ever":          "CopiesEndByThemselves",
	"finds copies for ever due":      "CopiesEndWithTheBase",
	"finds copies of any number":     "CopiesThatAreNotThere",
	"tells and does not wait":        "WhoHearsHasHeard",
	"hears all the same":             "ListeningBeginsWithAGap",
	"forgets places":                 "ListeningGoesOnFromAPlace",
	"turns facts round":              "FactsTravelUnchanged",
	"hears when it is closed":        "BusNoticesEnds",
	"counts those who have left":     "ListenersAreCounted",
	"forgets when it fails":          "FailKeepsTheRecord",
	"remembers failures as absences": "FailKeepsTheRecord",
	"loses marks":                    "BlobsTravelUnchanged",
	"keeps any generation":           "BlobsAreReplacedByNewerOnes",
	"keeps half blobs":               "BlobIsReadAsItWasOrNotAtAll",
	"keeps blobs for ever":           "BlobsEnd",
	"keeps blobs without a life":     "MeaninglessBlobsAreRefused",
}

// good is all that a store can be.
type good interface {
	store.Store[*storetest.Item]
	store.Watcher[*storetest.Item]
	store.Splitter[*storetest.Item]
	store.Bus
	store.Blobs
}

func (m mutant) is(wrong string) bool { return m.wrong == wrong }

func (m mutant) name(key string) string {
	if m.is("takes keys for the same") {
		return strings.ReplaceAll(strings.Trim(key, "{}"), "#", "")
	}
	return key
}

func (m mutant) context(ctx context.Context) context.Context {
	if m.is("ignores contexts") {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (m mutant) bend(r store.Record[*storetest.Item]) store.Record[*storetest.Item] {
	switch {
	case m.is("takes nil for an absence") && r.Value == nil:
		r.Kind = store.Absent
	case m.is("counts from the wrong end"):
		r.Left = r.Life - r.Left
	case m.is("loses costs"):
		r.Cost = 0
	case m.is("shares values") && r.Value != nil:
		r.Value = &theOne
	}
	return r
}

var theOne storetest.Item

func (m mutant) Get(ctx context.Context, key string) (store.Record[*storetest.Item], error) {
	r, err := m.good.Get(m.context(ctx), m.name(key))
	return m.bend(r), err
}

func (m mutant) GetMany(ctx context.Context, keys []string) []store.Reply[*storetest.Item] {
	rs := m.good.GetMany(m.context(ctx), keys)
	if m.is("mixes up many") && len(rs) > 1 {
		rs[0], rs[1] = rs[1], rs[0]
	}
	return rs
}

func (m mutant) Acquire(ctx context.Context, key string, have store.Generation, life time.Duration) (store.Claim[*storetest.Item], error) {
	if m.is("finds what the caller has") && have > 0 {
		have--
	}
	c, err := m.good.Acquire(m.context(ctx), m.name(key), have, life)
	if c.Outcome == store.Granted {
		c.Lease.Key = key
	}
	c.Cooling = c.Cooling && !m.is("does not say that it cools")
	return c, err
}

func (m mutant) Publish(ctx context.Context, l store.Lease, r store.Record[*storetest.Item]) error {
	if m.is("keeps everything for ever") {
		r.Life = 1 << 60
	}
	l.Key = m.name(l.Key)
	err := m.good.Publish(m.context(ctx), l, r)
	if m.is("publishes without a lease") && err == store.ErrLost {
		_, err = m.good.Set(ctx, l.Key, r)
	}
	return err
}

func (m mutant) Fail(ctx context.Context, l store.Lease, coolDown time.Duration) error {
	if m.is("keeps the lease when it fails") {
		return nil
	}
	if m.is("forgets when it fails") {
		m.good.Invalidate(ctx, m.name(l.Key))
	}
	if m.is("remembers failures as absences") {
		m.good.Set(ctx, m.name(l.Key), store.Record[*storetest.Item]{Kind: store.Absent, Life: time.Second})
	}
	return m.good.Fail(ctx, l, coolDown)
}

func (m mutant) Wait(ctx context.Context, key string, have store.Generation) error {
	if m.is("never wakes") {
		<-ctx.Done()
		return ctx.Err()
	}
	return m.good.Wait(ctx, key, have)
}

func (m mutant) Invalidate(ctx context.Context, keys ...string) error {
	switch {
	case m.is("forgets nothing"):
		return nil
	case m.is("forgets all but some") && len(keys) > 256:
		keys = keys[:256]
	case m.is("tells others' changes only"):
		for _, key := range keys {
			m.ear.own.Store(key, true)
		}
	case m.is("is late to forget"):
		time.AfterFunc(2*time.Millisecond, func() { m.good.Invalidate(ctx, keys...) })
		return nil
	}
	return m.good.Invalidate(ctx, keys...)
}

func (m mutant) InvalidateAll(ctx context.Context) error {
	if m.is("flushes nothing") {
		return nil
	}
	return m.good.InvalidateAll(ctx)
}

// copied is what a mutant remembers of copies, though it should not.
var copied = struct {
	sync.Mutex
	of     map[string]store.Copy[*storetest.Item]
	spread map[string]bool
}{of: map[string]store.Copy[*storetest.Item]{}, spread: map[string]bool{}}

// remembers says whether m still knows copies after what a change.
func (m mutant) remembers(what store.Record[*storetest.Item], lived time.Duration) bool {
	switch {
	case m.is("tells no copies"), m.is("tells no copies of a Set"), m.is("tells no copies of all"):
		return true
	case m.is("keeps copies for ever"):
		return what.Kind == store.Missing
	}
	return m.is("tells copies late") && lived < 5*time.Millisecond
}

var copiedAt = map[string]time.Time{}

func (m mutant) GetCopy(ctx context.Context, key string, i, n int) (store.Copy[*storetest.Item], error) {
	switch {
	case m.is("finds copies of any number") && (n < 2 || i < 0 || i >= n):
		return store.Copy[*storetest.Item]{}, nil
	case m.is("takes all copies for the same") && i > 0:
		i, n = 1, 2
	}
	c, err := m.good.GetCopy(m.context(ctx), key, i, n)
	c.Due = c.Due && !m.is("never finds a copy due") || m.is("finds copies for ever due")
	copied.Lock()
	defer copied.Unlock()
	name := fmt.Sprint(key, i, n)
	old, ok := copied.of[name]
	if i > 0 && ok && m.remembers(c.Record, time.Since(copiedAt[name])) {
		return old, err
	}
	if c.Kind != store.Missing {
		copied.of[name], copiedAt[name] = c, time.Now()
	}
	return c, err
}

func (m mutant) Spread(ctx context.Context, key string, n int) error {
	switch {
	case m.is("spreads nothing"), m.is("finds copies of any number") && n < 2:
		return nil
	case m.is("takes all copies for the same"):
		n = 2
	case m.is("spreads once only"):
		copied.Lock()
		defer copied.Unlock()
		if copied.spread[key] {
			return nil
		}
		copied.spread[key] = true
	}
	err := m.good.Spread(m.context(ctx), key, n)
	if m.remembers(store.Record[*storetest.Item]{}, 0) && n >= 2 { // they will be asked for
		for i := 1; i < n; i++ {
			m.GetCopy(ctx, key, i, n)
		}
	}
	return err
}

const mutantVar = "EARLYBIRD_TEST_MUTANT"

// TestMutant is run by the test below, in a process of its own, to fail.
func TestMutant(t *testing.T) {
	wrong, ok := os.LookupEnv(mutantVar)
	if !ok {
		t.Skip("for TestSuite_noticesWhatIsWrong")
	}
	open := opener(storetest.Options[*storetest.Item]{Latency: 50 * time.Microsecond})
	storetest.Suite{Virtual: true, Open: func(t *testing.T) func() store.Store[*storetest.Item] {
		client := open(t)
		return func() store.Store[*storetest.Item] { return mutant{client().(good), wrong, new(mutantEar)} }
	}}.Run(t)
}

func TestSuite_noticesWhatIsWrong(t *testing.T) {
	run := func(t *testing.T, wrong, promise string) (string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestMutant$/^"+promise+"$", "-test.v", "-test.timeout", "60s")
		cmd.Env = append(os.Environ(), mutantVar+"="+wrong, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	good, err := run(t, "", ".*")
	require.NoError(t, err, "a good store breaks a promise:\n%s", good)
	for wrong, promise := range wrongs {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, good, "--- PASS: TestMutant/"+promise+" ")
			out, err := run(t, wrong, promise)
			require.Error(t, err, "a store that %s keeps %s:\n%s", wrong, promise, out)
			require.Contains(t, out, promise)
		})
	}
}

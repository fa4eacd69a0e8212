package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// kin are caches whose guards begin with what others know.
type kin struct {
	tier *storetest.Memory[string]

	mu     sync.Mutex
	rows   map[string]string
	events []earlybird.Event
}

func newKin(network storetest.Options[string]) *kin {
	return &kin{tier: storetest.NewMemory(network), rows: map[string]string{"k": "v"}}
}

func (k *kin) load(_ context.Context, key string) (string, error) {
	time.Sleep(5 * time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.rows[key]; ok {
		return v, nil
	}
	return "", earlybird.ErrNotFound
}

// ids lists what is committed when it is asked.
func (k *kin) ids() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		for key := range k.rows {
			if !yield(key, nil) {
				return
			}
		}
	}
}

func (k *kin) commit(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[key] = "v"
}

func (k *kin) complaints() (list []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.events {
		if e.Err != nil && strings.Contains(e.Err.Error(), "snapshot") {
			list = append(list, e.Err.Error())
		}
	}
	return list
}

// instance is one process.
type instance struct {
	*earlybird.Cache[string]
	client *storetest.Client[string]
	guard  *bloom.Guard
	t      testing.TB
}

type setting struct {
	guard bloom.Options
	part  func(string) string
	wrap  func(*storetest.Client[string]) store.Store[string]
}

func (k *kin) join(t testing.TB, s setting) *instance {
	t.Helper()
	guard, err := bloom.New(s.guard)
	require.NoError(t, err)
	i := &instance{client: k.tier.Client(), guard: guard, t: t}
	opts := earlybird.Options[string]{
		TTL: time.Minute, NegativeTTL: earlybird.Off, Store: i.client, Guard: guard, GuardPart: s.part,
		OnError: func(e earlybird.Event) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.events = append(k.events, e)
		},
	}
	if s.wrap != nil {
		opts.Store = s.wrap(i.client)
	}
	i.Cache, err = earlybird.New(k.load, opts)
	require.NoError(t, err)
	t.Cleanup(i.leave)
	return i
}

func (i *instance) leave() {
	_ = i.Close()
	_ = i.client.Close()
}

func (i *instance) refuses(key string) bool {
	before := i.Stats().Refused
	_, _ = i.Get(context.Background(), key)
	return i.Stats().Refused > before
}

// senior is an instance whose guard is built and in the tier.
func (k *kin) senior(t testing.TB, s setting) *instance {
	t.Helper()
	i := k.join(t, s)
	require.NoError(t, i.guard.Build(t.Context(), k.ids()))
	_, err := i.Get(t.Context(), "k")
	require.NoError(t, err)
	for range 100 {
		if i.Stats().GuardSaves > 0 {
			return i
		}
		time.Sleep(time.Second)
	}
	require.Fail(t, "it leaves no snapshot")
	return nil
}

func TestGuard_ofANewCacheBeginsWithWhatOthersKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		first := k.senior(t, setting{})
		for n := range 20 { // since the snapshot
			id := fmt.Sprint("new", n)
			k.commit(id)
			require.NoError(t, first.Created(t.Context(), id))
		}
		second := k.join(t, setting{})
		require.False(t, second.refuses("nobody"), "it knows nothing yet")
		time.Sleep(200 * time.Millisecond)
		require.EqualValues(t, 1, second.Stats().GuardLoads)
		require.True(t, second.refuses("nobody"))
		for n := range 20 {
			require.False(t, second.refuses(fmt.Sprint("new", n)))
		}
		require.False(t, second.refuses("k"))

		first.leave()
		k.commit("newer")
		require.NoError(t, second.Created(t.Context(), "newer"))
		time.Sleep(5 * time.Minute) // and it hands on what it knows
		third := k.join(t, setting{})
		time.Sleep(200 * time.Millisecond)
		require.True(t, third.refuses("nobody"))
		require.False(t, third.refuses("newer"))
		require.Equal(t, first.guard.Stats().Read, third.guard.Stats().Read)
		require.Empty(t, k.complaints())
	})
}

// slowly calls during in the middle of a snapshot that is read.
type slowly struct {
	*storetest.Client[string]
	during func()
}

func (s *slowly) GetBlob(ctx context.Context, name string) (store.Blob, error) {
	b, err := s.Client.GetBlob(ctx, name)
	if b.Body != nil {
		all, _ := io.ReadAll(b.Body)
		half := len(all) / 2
		b.Body = io.MultiReader(strings.NewReader(string(all[:half])), readerFunc(func([]byte) (int, error) {
			if s.during != nil {
				s.during()
			}
			return 0, io.EOF
		}), strings.NewReader(string(all[half:])))
	}
	return b, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestGuard_hearsOfWhatIsCreatedWhileItLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		first := k.senior(t, setting{})
		second := k.join(t, setting{wrap: func(c *storetest.Client[string]) store.Store[string] {
			return &slowly{c, func() {
				time.Sleep(2 * time.Second)
				k.commit("meanwhile")
				require.NoError(t, first.Created(context.Background(), "meanwhile"))
			}}
		}})
		time.Sleep(time.Second)
		require.False(t, second.refuses("nobody"))
		time.Sleep(3 * time.Second)
		require.True(t, second.refuses("nobody"))
		require.False(t, second.refuses("meanwhile"))
	})
}

// stillOpen sees that a snapshot was of no use, and that a build of its own closes
// the guard.
func (k *kin) stillOpen(t testing.TB, i *instance, complaint string) {
	t.Helper()
	time.Sleep(30 * time.Second)
	require.Zero(t, i.Stats().GuardLoads)
	require.False(t, i.refuses("nobody"))
	complaints := k.complaints()
	require.NotEmpty(t, complaints)
	require.Contains(t, complaints[len(complaints)-1], complaint)
	require.NoError(t, i.guard.Build(t.Context(), k.ids()))
	require.True(t, i.refuses("nobody"))
}

func TestGuard_trustsNoSnapshotThatIsNotGood(t *testing.T) {
	name := setting{guard: bloom.Options{Name: "ids"}}
	for _, c := range []struct {
		name, complaint string
		spoil           func(t *testing.T, k *kin, first *instance)
		second          setting
	}{
		{"forgotten", "does not remember", func(t *testing.T, k *kin, first *instance) {
			for n := range 30 {
				id := fmt.Sprint("new", n)
				k.commit(id)
				require.NoError(t, first.Created(t.Context(), id))
			}
		}, name},
		{"the tier was emptied", "does not remember", func(t *testing.T, k *kin, first *instance) {
			b, err := first.client.GetBlob(t.Context(), "guard/ids")
			require.NoError(t, err)
			k.tier.Lose()
			b.Life = time.Hour
			_ = first.client.PutBlob(t.Context(), "guard/ids", b)
		}, name},
		{"damaged", "checksum", func(t *testing.T, k *kin, first *instance) {
			rewrite(t, first, func(body []byte, mark string) ([]byte, string) {
				body[len(body)-100] ^= 1
				return body, mark
			})
		}, name},
		{"cut short", "cut short", func(t *testing.T, k *kin, first *instance) {
			rewrite(t, first, func(body []byte, mark string) ([]byte, string) { return body[:100], mark })
		}, name},
		{"without a mark", "mark", func(t *testing.T, k *kin, first *instance) {
			rewrite(t, first, func(body []byte, _ string) ([]byte, string) { return body, "nonsense" })
		}, name},
		{"of other ids", "spells", func(*testing.T, *kin, *instance) {},
			setting{guard: name.guard, part: func(key string) string { return "id:" + key }}},
		{"too old", "too old", func(*testing.T, *kin, *instance) { time.Sleep(2 * time.Minute) },
			setting{guard: bloom.Options{Name: "ids", MaxAge: time.Minute}}},
		{"too large", "MaxBytes", func(*testing.T, *kin, *instance) {},
			setting{guard: bloom.Options{Name: "ids", MaxBytes: 128}}},
		{"a panic", "panic", func(*testing.T, *kin, *instance) {},
			setting{guard: name.guard, part: func(key string) string {
				if key == "k" {
					panic("part")
				}
				return key
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := someNetwork
				network.MaxFacts = 10
				k := newKin(network)
				first := k.senior(t, name)
				c.spoil(t, k, first)
				second := k.join(t, c.second)
				if c.name == "a panic" {
					time.Sleep(time.Second)
					require.Contains(t, fmt.Sprint(k.complaints()), c.complaint)
					require.Zero(t, second.Stats().GuardLoads)
					return
				}
				k.stillOpen(t, second, c.complaint)
			})
		})
	}
}

// rewrite replaces the snapshot in the tier.
func rewrite(t testing.TB, i *instance, change func(body []byte, mark string) ([]byte, string)) {
	t.Helper()
	b, err := i.client.GetBlob(t.Context(), "guard/ids")
	require.NoError(t, err)
	body, err := io.ReadAll(b.Body)
	require.NoError(t, err)
	body, b.Mark = change(body, b.Mark)
	b.Body, b.Size, b.Life = strings.NewReader(string(body)), int64(len(body)), time.Hour
	b.Generation++
	require.NoError(t, i.client.PutBlob(t.Context(), "guard/ids", b))
}

// A guard of another name has a snapshot of its own.
func TestGuard_snapshotsOfOthersAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		k.senior(t, setting{guard: bloom.Options{Name: "a"}})
		other := k.join(t, setting{guard: bloom.Options{Name: "b"}})
		time.Sleep(time.Minute)
		require.False(t, other.refuses("nobody"))
		require.Empty(t, k.complaints())
		k.senior(t, setting{guard: bloom.Options{Name: "b"}})
		for _, name := range []string{"a", "b"} {
			next := k.join(t, setting{guard: bloom.Options{Name: name}})
			time.Sleep(time.Second)
			require.True(t, next.refuses("nobody"))
		}
	})
}

func TestGuard_isOpenWhileItIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		first := k.senior(t, setting{})
		var second *instance
		second = k.join(t, setting{wrap: func(c *storetest.Client[string]) store.Store[string] {
			return &slowly{c, sync.OnceFunc(func() { k.tier.Cut(c.ID()) })}
		}})
		time.Sleep(5 * time.Second)
		k.commit("new")
		require.NoError(t, first.Created(t.Context(), "new"))
		require.False(t, second.refuses("new"))
		require.False(t, second.refuses("nobody"))
		k.tier.Heal()
		time.Sleep(5 * time.Second)
		require.True(t, second.refuses("nobody"), "it has had the snapshot, and now hears")
		require.False(t, second.refuses("new"))

		// One that is cut off from the beginning begins to listen when it has waited
		// long enough, and then builds.
		third := k.tier.Client().ID() + 1
		k.tier.Cut(third - 1)
		late := k.join(t, setting{wrap: func(c *storetest.Client[string]) store.Store[string] {
			k.tier.Cut(c.ID())
			return c
		}})
		built := make(chan error, 1)
		go func() { built <- late.guard.Build(context.Background(), k.ids()) }()
		time.Sleep(time.Minute)
		require.NoError(t, <-built)
		require.False(t, late.refuses("nobody"))
		k.tier.Heal()
		time.Sleep(5 * time.Second)
		require.False(t, late.refuses("nobody"), "it does not know what it has missed")
		require.NoError(t, late.guard.Build(t.Context(), k.ids()))
		require.True(t, late.refuses("nobody"))
	})
}

// Several caches of one guard are told by buses of their own: nobody else's
// snapshot has all that they need.
func TestGuard_ofSeveralCachesIsNotLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		k.senior(t, setting{})
		guard, err := bloom.New(bloom.Options{})
		require.NoError(t, err)
		for range 2 {
			client := k.tier.Client()
			c, err := earlybird.New(k.load, earlybird.Options[string]{TTL: time.Minute, Store: client, Guard: guard})
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close(); _ = client.Close() })
		}
		time.Sleep(time.Minute)
		require.Equal(t, bloom.Unbuilt, guard.Stats().State)
		require.NoError(t, guard.Build(t.Context(), k.ids()))
		require.Equal(t, bloom.Ready, guard.Stats().State)
	})
}

// One cache of a fleet writes a snapshot, about once a minute, and none if there is
// nothing new.
func TestGuard_oneOfTheFleetSavesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, claims, bodies, now, most atomic.Int64
		network := someNetwork
		network.Fault = func(c storetest.Call) storetest.Fault {
			switch {
			case c.Method == "GetBlob":
				asked.Add(1)
			case c.Method == "PutBlob" && strings.HasPrefix(c.Key, "claim/"):
				claims.Add(1)
			case c.Method == "PutBlob":
				bodies.Add(1)
			}
			return storetest.Fault{}
		}
		k := newKin(network)
		k.senior(t, setting{})
		fleet := make([]*instance, 5)
		for n := range fleet {
			fleet[n] = k.join(t, setting{wrap: func(c *storetest.Client[string]) store.Store[string] {
				return &counting{c, &now, &most}
			}})
		}
		time.Sleep(10 * time.Second)
		asked.Store(0)
		bodies.Store(0)
		time.Sleep(20 * time.Minute)
		require.Zero(t, bodies.Load(), "there is nothing new")
		require.LessOrEqual(t, asked.Load(), int64(6*80))

		for n := range 40 {
			id := fmt.Sprint("new", n)
			k.commit(id)
			require.NoError(t, fleet[n%5].Created(t.Context(), id))
			time.Sleep(30 * time.Second)
		}
		require.LessOrEqual(t, bodies.Load(), int64(20))
		require.Greater(t, bodies.Load(), int64(8))
		require.EqualValues(t, 1, most.Load())
	})
}

// counting counts those who write a snapshot at once, which takes them a while.
type counting struct {
	*storetest.Client[string]
	now, most *atomic.Int64
}

func (c *counting) PutBlob(ctx context.Context, name string, b store.Blob) error {
	if strings.HasPrefix(name, "guard/") {
		if n := c.now.Add(1); n > c.most.Load() {
			c.most.Store(n)
		}
		defer c.now.Add(-1)
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.Client.PutBlob(ctx, name, b)
}

// A tier that has no room for it is not asked again.
func TestGuard_thatIsTooLargeIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKin(someNetwork)
		var tries atomic.Int64
		i := k.join(t, setting{wrap: func(c *storetest.Client[string]) store.Store[string] { return &small{c, &tries} }})
		require.NoError(t, i.guard.Build(t.Context(), k.ids()))
		time.Sleep(time.Hour)
		require.EqualValues(t, 1, tries.Load())
		require.Zero(t, i.Stats().GuardSaves)
		require.Len(t, k.complaints(), 1)
	})
}

type small struct {
	*storetest.Client[string]
	tries *atomic.Int64
}

func (s *small) PutBlob(ctx context.Context, name string, b store.Blob) error {
	if strings.HasPrefix(name, "guard/") {
		s.tries.Add(1)
		return &store.ValueError{Key: name, Err: errors.New("too large")}
	}
	return s.Client.PutBlob(ctx, name, b)
}

// Instances come and go, messages are lost, the tier forgets: whatever happens, none
// of them refuses an id once Created has returned.
func TestGuard_neverRefusesWhatWasCreated(t *testing.T) {
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) { (&succession{rng: rand.New(rand.NewPCG(seed, 0))}).run(t, seed) })
	}
}

// succession is a fleet whose instances are replaced one after the other.
type succession struct {
	*kin
	mu        sync.Mutex
	rng       *rand.Rand
	instances []*instance
	created   []string
	refused   int // strangers
	loads     uint64
}

func (s *succession) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

func (s *succession) one() *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[s.rng.IntN(len(s.instances))]
}

func (s *succession) fault(storetest.Call) storetest.Fault {
	switch s.draw(300) {
	case 0:
		return storetest.Fault{LoseRequest: true}
	case 1:
		return storetest.Fault{LoseReply: true}
	case 2:
		return storetest.Fault{Delay: time.Duration(s.draw(3000)) * time.Millisecond}
	}
	return storetest.Fault{}
}

func (s *succession) run(t *testing.T, seed uint64) {
	s.kin = newKin(storetest.Options[string]{Latency: time.Millisecond, Jitter: 5 * time.Millisecond, MaxFacts: 400, Fault: s.fault})
	for range 4 {
		s.instances = append(s.instances, s.kin.join(t, setting{}))
	}
	end := time.Now().Add(6 * time.Minute)
	var all sync.WaitGroup
	for who := range 3 {
		all.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				s.create(t, fmt.Sprint(who, "/", n))
				time.Sleep(time.Duration(s.draw(1500)) * time.Millisecond)
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(end) {
			s.look(t)
			time.Sleep(time.Duration(s.draw(100)) * time.Millisecond)
		}
	})
	all.Go(func() {
		for time.Now().Before(end) {
			s.strike(t)
			time.Sleep(time.Duration(s.draw(15)) * time.Second)
		}
	})
	all.Wait()
	s.tier.Heal()
	for _, i := range s.instances {
		s.loads += i.Stats().GuardLoads
	}
	t.Logf("seed %d: %d created, %d strangers refused, %d loads", seed, len(s.created), s.refused, s.loads)
	require.Greater(t, len(s.created), 200)
	require.Positive(t, s.refused)
	require.Positive(t, s.loads)
}

func (s *succession) create(t *testing.T, id string) {
	s.commit(id)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if s.one().Created(ctx, id) != nil {
		return
	}
	s.mu.Lock()
	s.created = append(s.created, id)
	s.mu.Unlock()
}

// look asks for what was created lately, or a while ago, and for a stranger.
func (s *succession) look(t *testing.T) {
	s.mu.Lock()
	created, instances := s.created, append([]*instance(nil), s.instances...)
	s.mu.Unlock()
	for n, i := range instances {
		if len(created) > 0 {
			id := created[max(0, len(created)-1-s.draw(20+s.draw(300)))]
			if _, err := i.Get(t.Context(), id); errors.Is(err, earlybird.ErrNotFound) {
				t.Errorf("%d refuses %s", n, id)
			}
		}
		if i.refuses(fmt.Sprint("stranger", s.draw(1<<30))) {
			s.mu.Lock()
			s.refused++
			s.mu.Unlock()
		}
	}
}

func (s *succession) strike(t *testing.T) {
	switch p := s.draw(100); {
	case p < 15:
		s.tier.Cut(s.one().client.ID())
	case p < 40:
		s.tier.Heal()
	case p < 42:
		s.tier.Lose()
	case p < 60:
		_ = s.one().guard.Build(t.Context(), s.ids())
	default:
		next := s.kin.join(t, setting{})
		s.mu.Lock()
		n := s.rng.IntN(len(s.instances))
		old := s.instances[n]
		s.instances[n] = next
		s.mu.Unlock()
		s.loads += old.Stats().GuardLoads
		old.leave()
	}
}

package earlybird

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func requirePanicError(t *testing.T, err error) *PanicError {
	t.Helper()
	var p *PanicError
	require.ErrorAs(t, err, &p)
	return p
}

// calamities are the ways in which a loader can end without returning.
var calamities = map[string]struct {
	end  func()
	says string
}{
	"panic":             {func() { panic("bad row") }, "earlybird: loader panicked: bad row"},
	"panic with nil":    {func() { panic(nil) }, "panic called with nil argument"},
	"panic with error":  {func() { panic(fmt.Errorf("row: %w", ErrNotFound)) }, "row: earlybird: not found"},
	"nil map":           {func() { var m map[int]int; m[1] = 1 }, "assignment to entry in nil map"},
	"nil pointer":       {func() { var p *int; *p = 1 }, "nil pointer dereference"},
	"panic while dying": {func() { defer panic("second"); panic("first") }, "second"},
	"Goexit":            {runtime.Goexit, "earlybird: loader called runtime.Goexit"},
}

func TestGet_loaderThatPanicsHangsNobody(t *testing.T) {
	for name, calamity := range calamities {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				c := newTidy(t, func(_ context.Context, key string) (string, error) {
					time.Sleep(time.Second)
					if calls.Add(1) == 1 {
						calamity.end()
					}
					return key, nil
				}, plain[string](time.Minute))

				together(5, func(int) {
					_, err := c.Get(context.Background(), "k")
					var p *PanicError
					if !errors.As(err, &p) {
						t.Errorf("got %v", err)
						return
					}
					if !strings.Contains(p.Error(), calamity.says) || !strings.Contains(string(p.Stack), "panic_test.go") {
						t.Errorf("got %v\n%s", p, p.Stack)
					}
					if errors.Is(err, ErrNotFound) {
						t.Error("a panic is no absence, whatever it carries")
					}
				})
				require.EqualValues(t, 1, calls.Load())
				require.EqualValues(t, 5, c.Stats().Failed)

				soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				v, err := c.Get(soon, "k")
				require.NoError(t, err)
				require.Equal(t, "k", v)
			})
		})
	}
}

func TestPanicError_carriesWhatWasPanickedWith(t *testing.T) {
	type row struct{ id int }
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		if key == "exit" {
			runtime.Goexit()
		}
		panic(row{7})
	}, plain[string](time.Minute))
	_, err := c.Get(t.Context(), "k")
	require.Equal(t, row{7}, requirePanicError(t, err).Value)
	_, err = c.Get(t.Context(), "exit")
	require.Nil(t, requirePanicError(t, err).Value)
}

// A panic frees what the load held: its slot at the gate, and its key for a
// nested load's parent.
func TestGet_loaderThatPanicsGivesItsSlotBack(t *testing.T) {
	for name, calamity := range calamities {
		t.Run(name, func(t *testing.T) {
			opts := plain[string](time.Minute)
			opts.MaxLoads = 1
			var c *Cache[string]
			c = newTidy(t, func(ctx context.Context, key string) (string, error) {
				switch key {
				case "bad":
					calamity.end()
				case "page":
					if _, err := c.Get(ctx, "bad"); err != nil {
						return "page without bad", nil
					}
				}
				return key, nil
			}, opts)
			for range 3 {
				_, err := c.Get(t.Context(), "bad")
				requirePanicError(t, err)
			}
			require.Equal(t, "page without bad", mustGet(t, c, "page"))
			require.Equal(t, "good", mustGet(t, c, "good"))
		})
	}
}

// What happens in goroutines of the library cannot be recovered by anyone but
// the library, so these scenarios run in a process of their own.
const scenarioVar = "EARLYBIRD_TEST_SCENARIO"

var scenarios = map[string]func(t *testing.T, calamity func()){
	"refresh":        panicsInARefresh,
	"abandoned":      panicsWhenNobodyWaits,
	"late":           panicsAfterLoadTimeout,
	"closing":        panicsWhileClosing,
	"batch refresh":  panicsInABatchRefresh,
	"hooks":          panicsInAHook,
	"told too late":  panicsInOnErrorOfATimeout,
	"told of sheds":  panicsInOnErrorOfASheddingGate,
	"told of a wait": panicsInOnErrorOfAWait,
}

func TestProcess_survivesPanics(t *testing.T) {
	if os.Getenv(scenarioVar) != "" {
		t.Skip("is the process")
	}
	for scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcess_scenario$", "-test.v")
			cmd.Env = append(os.Environ(), scenarioVar+"="+scenario, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "survived "+scenario)
		})
	}
}

func TestProcess_scenario(t *testing.T) {
	scenario := os.Getenv(scenarioVar)
	if scenario == "" {
		t.Skip("run by TestProcess_survivesPanics")
	}
	for name, calamity := range calamities {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { scenarios[scenario](t, calamity.end) })
		})
	}
	t.Log("survived " + scenario)
}

func panicsInARefresh(t *testing.T, calamity func()) {
	var calls atomic.Int64
	c := newTidy(t, func(context.Context, string) (int64, error) {
		time.Sleep(time.Second)
		n := calls.Add(1)
		if n == 2 {
			calamity()
		}
		return n, nil
	}, eager[int64](time.Minute))
	mustGet(t, c, "k")

	time.Sleep(30 * time.Second)
	require.Equal(t, Early, mustLookup(t, c, "k").State)
	time.Sleep(time.Second)
	synctest.Wait()
	for range 100 {
		require.Equal(t, Result[int64]{1, Fresh, 31 * time.Second}, mustLookup(t, c, "k"), "the value is kept, and the origin left alone")
	}
	require.EqualValues(t, 1, c.Stats().RefreshFailures)
	require.EqualValues(t, 2, calls.Load())

	time.Sleep(7500 * time.Millisecond) // an eighth of its life, the longest back-off
	require.Equal(t, Early, mustLookup(t, c, "k").State, "it is tried again")
	time.Sleep(time.Second)
	synctest.Wait()
	require.EqualValues(t, 3, mustGet(t, c, "k"))
	require.EqualValues(t, 2, c.Stats().Refreshes)
	require.EqualValues(t, 1, c.Stats().RefreshFailures)
}

func panicsWhenNobodyWaits(t *testing.T, calamity func()) {
	c := newTidy(t, func(context.Context, string) (int64, error) {
		time.Sleep(time.Second)
		calamity()
		return 0, nil
	}, plain[int64](time.Minute))
	hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := c.Get(hurried, "k")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	time.Sleep(2 * time.Second)
	require.Zero(t, c.Stats().LoadsNow)
}

func panicsAfterLoadTimeout(t *testing.T, calamity func()) {
	opts := plain[int64](time.Minute)
	opts.LoadTimeout = time.Second
	c := newTidy(t, func(context.Context, string) (int64, error) {
		time.Sleep(2 * time.Second)
		calamity()
		return 0, nil
	}, opts)
	_, err := c.Get(t.Context(), "k")
	require.ErrorIs(t, err, ErrLoadTimeout)
	require.Equal(t, 1, c.Stats().LoadsNow)
	time.Sleep(2 * time.Second)
	require.Zero(t, c.Stats().LoadsNow)
}

func panicsWhileClosing(t *testing.T, calamity func()) {
	c := newTidy(t, func(ctx context.Context, _ string) (int64, error) {
		<-ctx.Done()
		calamity()
		return 0, nil
	}, plain[int64](time.Minute))
	go c.Get(t.Context(), "k")
	synctest.Wait()
	require.NoError(t, c.Close())
	synctest.Wait()
}

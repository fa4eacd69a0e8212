package earlybird_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// edit replaces text in a file. The text must occur there exactly once, so
// that this table fails when the code has moved on without it.
type edit struct{ file, old, new string }

// edits plant faults, each in force when planted is asked for it by name. The
// model test must tell the cache with any one of them from the cache without.
// With dawdle they also hold goroutines up in windows that are otherwise a few
// nanoseconds wide; the faultless cache is dawdling too.
var edits = []edit{
	// What is served.
	{
		"cache.go", `ok && now < e.expiry && e.alive(`,
		`ok && (planted("serve what has expired") || now < e.expiry) && e.alive(`,
	}, {
		"cache.go", `ok && now < a.expiry && a.alive(`,
		`ok && (planted("remember absences for ever") || now < a.expiry) && a.alive(`,
	}, {
		"cache.go", `if e := c.fresh(key, now); e != nil {
		return c.serve(`,
		`if e := c.fresh(key, now); e != nil && !(planted("refuse a hit to a context that has ended") && ctx.Err() != nil) {
		return c.serve(`,
	}, {
		"cache.go", `case !c.opts.Shapes.`,
		`case !planted("let any shape through") && !c.opts.Shapes.`,
	}, {
		"cache.go", `c.tally.count(early)`,
		`c.tally.count(early)
	if planted("count an early refresh as a hit too") {
		c.tally.count(hit)
	}`,
	}, {
		"cache.go", `case c.life.isOver():`,
		`case !planted("ask the guard and the negatives after Close") && c.life.isOver():`,
	},

	// Early refresh.
	{
		"xfetch/draw.go", `return min(-math.Log(u), MaxDraw)`,
		`if planted("reverse the sign of the logarithm") {
		return math.Log(u)
	}
	return min(-math.Log(u), MaxDraw)`,
	}, {
		"cache.go", `now < e.resume.Load() ||
		!xfetch.Due(left, scale, c.opts.Rand()) || !e.elect(now, satAdd(now, c.leaseLife())) {`,
		`!xfetch.Due(left, scale, c.opts.Rand()) ||
		!planted("elect whoever draws well") && !e.elect(now, satAdd(now, c.leaseLife())) {`,
	}, {
		"load.go", `	if seat.led {
		c.launch(l)
	}
}`,
		`	if seat.led {
		c.launch(l)
	}
	if planted("wait for one's own refresh") {
		<-seat.landed
	}
}`,
	}, {
		"publish.go", `e.backOff(c.clock.now(), c.opts.Rand())`,
		`if planted("drop the value whose refresh failed") {
		c.dropValue(f.key, always)
	}
	if planted("do not back off") {
		e.spare()
		return
	}
	e.backOff(c.clock.now(), c.opts.Rand())`,
	},

	// The fence.
	{
		"change.go", `		c.invalidate(key)
`,
		`		c.invalidate(key)
		if planted("invalidate the first of several keys") {
			break
		}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	c.dropValue(key, always)
	c.dropAbsence(key, always)
	c.fence.raise(key)
`,
		`	if !planted("raise the fence once, after the change") {
		c.fence.raise(key)
	}
	dawdle()
	c.dropValue(key, always)
	c.dropAbsence(key, always)
	dawdle()
	if !planted("raise the fence once, before the change") {
		c.fence.raise(key)
	}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	defer c.fence.raise(key)
`,
		`	if !planted("Set without the fence") {
		c.fence.raise(key)
		defer c.fence.raise(key)
	}
`,
	}, {
		"change.go", `	c.fence.raiseAll()
	c.clear()
`,
		`	if !planted("InvalidateAll without the fence") {
		c.fence.raiseAll()
	}
	c.clear()
`,
	}, {
		"change.go", `		c.opts.Guard.Add(c.guardPart(key))
		c.fence.raise(key)
		c.dropAbsence(key, always)
`,
		`		if !planted("do not tell the guard of what is created") {
			c.opts.Guard.Add(c.guardPart(key))
		}
		c.fence.raise(key)
		if !planted("let absences survive Created") {
			c.dropAbsence(key, always)
		}
`,
	}, {
		"publish.go", `	c.dropAbsence(key, pass.holds)
	c.values.Update(key, func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !pass.holds() {
`,
		`	c.dropAbsence(key, pass.holds)
	held := pass.holds()
	dawdle()
	c.values.Update(key, func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if planted("ask the fence before the critical section") {
			if !held {
				return nil, memstore.Keep
			}
		} else if !planted("publish a value past the fence") && !pass.holds() {
`,
	}, {
		"publish.go", `		if !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		return a,`,
		`		if !planted("publish an absence past the fence") && !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		return a,`,
	}, {
		"flight.go", `	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height}
`,
		`	if planted("join across the fence") {
		return flightID{key: f.key}
	}
	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height}
`,
	},

	// Absences and errors.
	{
		"publish.go", `case absent(o.err):`,
		`case absent(o.err) || planted("take any error for an absence"):`,
	}, {
		"errors.go", `!errors.Is(err, errDependencyNotFound)`,
		`(planted("take a dependency's absence for the key's own") || !errors.Is(err, errDependencyNotFound))`,
	}, {
		"publish.go", `	published = false
`,
		`	if planted("let absences take the room of values") {
		c.values.Update("not "+key, func(*entry[V], bool) (*entry[V], memstore.Op) {
			return new(entry[V]), memstore.Put
		})
	}
	published = false
`,
	}, {
		"load.go", `	returned = true
`,
		`	returned = true
	if planted("swallow the loader's error") {
		o.err = nil
	}
`,
	}, {
		"load.go", `			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
`,
		`			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
			if planted("answer a panic with nothing") {
				o.err = nil
			}
`,
	},

	// Loads.
	{
		"load.go", `	case <-ctx.Done():
`,
		`	case <-map[bool]<-chan struct{}{false: ctx.Done()}[planted("stay past the end of one's own context")]:
`,
	}, {
		"flight.go", `	if s.flight == nil {
`,
		`	if s.flight == nil || planted("let every reader lead a load") {
`,
	}, {
		"flight.go", `	patience := l.cache.opts.LoadTimeout
`,
		`	patience := l.cache.opts.LoadTimeout
	if planted("give the loader's context longer than the load") {
		patience *= 2
		defer func() { l.timer.Reset(patience / 2) }()
	}
`,
	}, {
		"flight.go", `context.WithoutCancel(l.asked)`,
		`map[bool]context.Context{false: context.WithoutCancel(l.asked), true: l.asked}[planted("give the load its leader's context")]`,
	}, {
		"load.go", `	l := c.newLoad(ctx, key, parent)
`,
		`	dawdle()
	l := c.newLoad(ctx, key, parent)
`,
	}, {
		"load.go", `	if c.lookAgain(&l.flight) {
`,
		`	again := c.lookAgain(&l.flight)
	dawdle()
	if again && !planted("do not look again") {
`,
	}, {
		"flight.go", `	l.timer = time.AfterFunc(patience, l.expire)
`,
		`	if planted("give the load twice its time") {
		patience *= 2
	}
	l.timer = time.AfterFunc(patience, l.expire)
`,
	}, {
		"load.go", `		l.cache.calls.abandon()
`,
		`		l.cache.calls.abandon()
		if planted("free the slot of an abandoned load") && l.slot {
			l.slot = false
			l.cache.gate.leave(&l.ticket)
		}
`,
	}, {
		"load.go", `	case s.asker != nil:
`,
		`	case s.asker != nil && !planted("have nested loads wait at the gate"):
`,
	}, {
		"life.go", `	c.life.drain(c.opts.LoadTimeout)
`,
		`	if !planted("do not wait for loads in Close") {
		c.life.drain(c.opts.LoadTimeout)
	}
`,
	}, {
		"publish.go", `xfetch.Life(c.opts.TTL, c.jitter(), c.opts.Rand())
`,
		`xfetch.Life(c.opts.TTL, c.jitter(), c.opts.Rand())
	if planted("lengthen lives at random") {
		life += time.Duration(c.jitter() * c.opts.Rand() * float64(c.opts.TTL))
	}
`,
	},
}

// planting is what each edited package needs beside.
const planting = `
import (
	"math/rand/v2"
	"os"
	"runtime"
)

var plantedFault = os.Getenv("EARLYBIRD_PLANTED_FAULT")

func planted(fault string) bool { return fault == plantedFault }

func dawdle() {
	for range rand.IntN(20) {
		runtime.Gosched()
	}
}
`

// TestMutants is the proof that the model test finds faults. It builds the
// tests once, with all faults in place, and then runs TestModel and its storm
// with each of them in force.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package, and runs its model test some forty times")
	}
	bin := buildMutants(t)

	t.Run("no fault", func(t *testing.T) {
		out, err := runMutant(t, bin, "")
		require.NoError(t, err, "%s", out)
	})
	atOnce := make(chan struct{}, 2)
	for _, fault := range faults() {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			out, err := runMutant(t, bin, fault, "-model.runs=200", "-model.storm=100000")
			require.Error(t, err, "the model test does not notice")
			_, what, found := strings.Cut(out, "broken promise: ")
			require.True(t, found, "it failed for another reason:\n%s", out)
			promise, _, _ := strings.Cut(what, "\n")
			t.Log(promise)
		})
	}
}

var plantedFault = regexp.MustCompile(`planted\("([^"]+)"\)`)

// faults returns the names of the faults that the edits plant.
func faults() []string {
	var names []string
	for _, e := range edits {
		for _, m := range plantedFault.FindAllStringSubmatch(e.new, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func buildMutants(t *testing.T) (bin string) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for file, text := range edited(t) {
		path, err := filepath.Abs(file)
		require.NoError(t, err)
		overlay.Replace[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(overlay.Replace[path], []byte(text), 0o600))
	}
	list, err := json.Marshal(overlay)
	require.NoError(t, err)
	listFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(listFile, list, 0o600))

	bin = filepath.Join(dir, "mutants.exe") // a name that every system runs
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", listFile, "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// edited returns the text of every edited file, and of one more file for each
// of their packages.
func edited(t *testing.T) map[string]string {
	texts := make(map[string]string)
	for _, e := range edits {
		if texts[e.file] == "" {
			text, err := os.ReadFile(e.file)
			require.NoError(t, err)
			texts[e.file] = string(text)
		}
		require.Equal(t, 1, strings.Count(texts[e.file], e.old), "how often %s has\n%s", e.file, e.old)
		texts[e.file] = strings.Replace(texts[e.file], e.old, e.new, 1)

		pkg, _, _ := strings.Cut(texts[e.file], "\n")
		require.True(t, strings.HasPrefix(pkg, "package "), e.file)
		texts[filepath.Join(filepath.Dir(e.file), "planting.go")] = pkg + "\n" + planting
	}
	return texts
}

func runMutant(t *testing.T, bin, fault string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // should it hang
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append(args, "-model.seed=1", "-test.run=^TestModel", "-test.failfast")...)
	cmd.Env = append(os.Environ(), "EARLYBIRD_PLANTED_FAULT="+fault)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

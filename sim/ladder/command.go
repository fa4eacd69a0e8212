package ladder

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/origin"
	"github.com/earlybird-cache/earlybird/sim/progress"
	"github.com/earlybird-cache/earlybird/sim/trace"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

const usage = `usage: sim [flags]            play the ladder
       sim refresh [flags]    play the early refresh of one key; see sim refresh -h
       sim scenarios [flags]  play what is claimed and check it; see sim scenarios -h
       sim fleet [flags]      run many caches on a real Redis; see sim fleet -h
       sim plan [flags]       work out a cache's options; see sim plan -h

Plays one stream of requests on a ladder of ways to cache, each adding one thing to
the one before, in virtual time, and prints what the origin and the clients saw of
each. Requests are read from a product catalogue at random, or replayed from a trace.

`

// A Command is the ladder with its flags set.
type Command struct {
	trace    string // path, "-", or "" for the catalogue
	json     bool
	seed     uint64
	rate     float64
	hostile  float64
	products int
	zipf     float64
	duration time.Duration
	ttl      time.Duration
	entries  int
	timeout  time.Duration
	servers  int
	service  time.Duration
	zero     bool
}

// maxReads keeps a run within the memory and the patience of one person.
const maxReads = 20_000_000

// Parse reads the arguments of the command. Asked for help, it prints that to stdout
// and returns flag.ErrHelp; every other error is one line about a bad flag.
func Parse(args []string, stdout io.Writer) (*Command, error) {
	c := new(Command)
	flags := c.flags()
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["trace"] {
		if err := c.forTrace(given); err != nil {
			return nil, err
		}
	}
	return c, c.validate()
}

func (c *Command) flags() *flag.FlagSet {
	f := flag.NewFlagSet("sim", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error, in one line
	f.StringVar(&c.trace, "trace", "", "replay the requests in this `file`, - for standard input: text, one key a line, gzip'd or not")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.Uint64Var(&c.seed, "seed", 1, "`seed` of the request stream")
	f.Float64Var(&c.rate, "rate", 4000, "`requests` a second, all together; with -trace 1000 unless set")
	f.Float64Var(&c.hostile, "hostile", 0.1, "`share` of requests for keys that do not exist; with -trace 0 unless set")
	f.IntVar(&c.products, "products", 5000, "`number` of products in the catalogue")
	f.Float64Var(&c.zipf, "zipf", 1, "`exponent` of the products' popularity; 0 makes all alike")
	f.DurationVar(&c.duration, "duration", 150*time.Second, "virtual `time` for which requests come")
	f.DurationVar(&c.ttl, "ttl", time.Minute, "`life` of a cached product")
	f.IntVar(&c.entries, "entries", 100_000, "`number` of products that a cache may hold")
	f.DurationVar(&c.timeout, "timeout", 2*time.Second, "`time` after which a client gives up")
	f.IntVar(&c.servers, "servers", 220, "`calls` that the origin serves at once")
	f.DurationVar(&c.service, "service", 250*time.Millisecond, "mean `time` that a call takes at the origin")
	f.BoolVar(&c.zero, "zero", false, "caches keep nothing: the hit ratio is 0 for ever")
	return f
}

// forTrace refuses what is the catalogue's and sets what a trace wants otherwise: real
// requests repeat less than the catalogue's, so fewer a second are as hard to serve.
func (c *Command) forTrace(given map[string]bool) error {
	if c.trace == "" {
		return errors.New("-trace: wants a file name")
	}
	for _, name := range []string{"products", "zipf", "duration"} {
		if given[name] {
			return fmt.Errorf("-%s: has no meaning with -trace", name)
		}
	}
	if !given["rate"] {
		c.rate = 1000
	}
	if !given["hostile"] {
		c.hostile = 0
	}
	return nil
}

// validate returns an error that names the first flag out of its bounds. Comparisons
// are written so that NaN fails them.
func (c *Command) validate() error {
	for _, f := range []struct {
		name      string
		value     float64
		low, high float64
	}{
		{"rate", c.rate, 1, 1e6},
		{"hostile", c.hostile, 0, 0.9},
		{"products", float64(c.products), 1, 1e6},
		{"zipf", c.zipf, 0, 5},
		{"entries", float64(c.entries), 1, 1e7},
		{"servers", float64(c.servers), 1, 1e5},
	} {
		if !(f.value >= f.low && f.value <= f.high) {
			return fmt.Errorf("-%s %s: must be from %s to %s", f.name, plain(f.value), plain(f.low), plain(f.high))
		}
	}
	for _, f := range []struct {
		name      string
		value     time.Duration
		low, high time.Duration
	}{
		{"duration", c.duration, time.Second, 24 * time.Hour},
		{"ttl", c.ttl, time.Millisecond, 24 * time.Hour},
		{"timeout", c.timeout, time.Millisecond, 10 * time.Minute},
		{"service", c.service, time.Microsecond, 10 * time.Minute},
	} {
		if f.value < f.low || f.value > f.high {
			return fmt.Errorf("-%s %v: must be from %v to %v", f.name, f.value, f.low, f.high)
		}
	}
	if reads := c.rate * c.duration.Seconds(); c.trace == "" && reads > maxReads {
		return fmt.Errorf("-rate times -duration: %.0f requests are too many, the most is %d", reads, maxReads)
	}
	return nil
}

// plain writes a number as one types it.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Run plays the ladder and prints it to stdout. Progress goes to stderr. It returns
// the exit code; whatever is wrong with the trace is found out before anything is
// printed.
func (c *Command) Run(r bubble.Runner, stdin io.Reader, stdout, stderr io.Writer) int {
	stream, err := c.stream(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "sim:", err)
		return 2
	}
	setup := c.setup(stream)
	var played atomic.Int64
	meter := progress.Start(stderr, setup.Stream.Census().Requests*len(rungs), &played)
	rows, err := setup.Climb(r, &played)
	meter.Stop()
	if err == nil {
		err = c.print(stdout, setup, rows)
	}
	if err != nil {
		fmt.Fprintln(stderr, "sim:", err)
		return 1
	}
	return 0
}

func (c *Command) stream(stdin io.Reader) (*workload.Stream, error) {
	mix := workload.Mix{Seed: c.seed, Rate: c.rate, Hostile: c.hostile}
	if c.trace == "" {
		customers := int(c.rate * (1 - c.hostile) * c.duration.Seconds())
		return workload.Zipf(workload.Catalogue(c.products, c.seed), c.zipf, max(1, customers), mix), nil
	}
	t, err := trace.Open(c.trace, stdin)
	if err != nil {
		return nil, err
	}
	return workload.Replay(t, mix), nil
}

// setup makes the origin slow down to 1/2.5 of its capacity when four calls wait for
// each one served; measured systems differ, and lose more.
func (c *Command) setup(stream *workload.Stream) Setup {
	return Setup{
		Stream: stream,
		Origin: origin.Params{
			Servers:  c.servers,
			Service:  c.service,
			Stages:   4,
			Crowd:    4 * c.servers,
			Slowdown: 2.5,
		},
		Seed:       c.seed,
		TTL:        c.ttl,
		MaxEntries: c.entries,
		Timeout:    c.timeout,
		KeepNone:   c.zero,
	}
}

func (c *Command) print(stdout io.Writer, s Setup, rows []Row) error {
	if !c.json {
		return writeText(stdout, s, rows)
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	return out.Encode(map[string][]Row{"rows": rows})
}

package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// writeText writes the report for people, in one piece.
func (r Report) writeText(w io.Writer, verbose bool) error {
	var b bytes.Buffer
	s := r.Setup
	fmt.Fprintf(&b, "%d caches in one process before one origin, a load takes %g ms; %s.\n", s.Instances, 1000*s.DeltaS, r.Server)
	switch {
	case len(r.Cold) > 0:
		r.writeCold(&b, verbose)
	case len(r.Hot) > 0:
		r.writeHot(&b, verbose)
	case r.Outage != nil:
		r.writeOutage(&b)
	default:
		r.writeRungs(&b, verbose)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r Report) writeRungs(b *bytes.Buffer, verbose bool) {
	s := r.Setup
	fmt.Fprintf(b, "%g reads/s over all for %g s a rung, of %d keys; ttl %g s, NearTTL its default 5s unless named.\n\n", s.Rate, s.DurationS, s.Keys, s.TTLS)
	t := newTable(b)
	t.line("", "", "loads per", "most", "reads", "", "", "", "", "round trips", "")
	t.line("rung", "reads", "generation", "at once", "waited", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "per read", "errors")
	for _, row := range r.Rungs {
		t.line(row.Name, count(row.Reads), fmt.Sprintf("%.2f", row.PerGeneration), count(row.MostAtOnce), count(row.Waited),
			row.Latency, fmt.Sprintf("%.3f", row.TripsPerRead), count(row.Errors))
	}
	t.Flush()
	fmt.Fprintln(b)
	for _, row := range r.Rungs {
		fmt.Fprintf(b, "%-18s %s\n", row.Name, row.about)
	}
	fmt.Fprint(b, `
loads per generation  origin calls for a key in each ttl; lives that end early, by jitter or
                      an early refresh, make it more than 1
most at once          loads of one key at one moment, over all instances
reads waited          reads that began before the load ended whose value they got
ms                    since a read was due; reads began late by `+lates(r.Rungs)+` at the
                      99th percentile, which is the machine's part in them
round trips           to the server, counted by its INFO commandstats
`)
	if worst := slices.MaxFunc(r.Rungs, func(x, y Row) int { return cmp.Compare(x.LateP99, y.LateP99) }); worst.LateP99 > 500*s.DeltaS {
		fmt.Fprintf(b, "\nThe machine was too busy for this: the figures of %q tell more of it than of the caches.\n", strings.TrimSpace(worst.Name))
	}
	for _, row := range r.Rungs {
		complain(b, row.Name, row.Errors, row.FirstError, row.TierErrors)
	}
	if verbose {
		for _, row := range r.Rungs {
			row.ServerCommands.write(b, row.Name)
		}
	}
}

// lates is the range of how late the machine was.
func lates(rows []Row) string {
	var all []float64
	for _, row := range rows {
		all = append(all, row.LateP99)
	}
	return fmt.Sprintf("%s to %s ms", ms(slices.Min(all)), ms(slices.Max(all)))
}

func (r Report) writeCold(b *bytes.Buffer, verbose bool) {
	fmt.Fprintf(b, "%d readers at once, spread over all instances, for a key that no cache has: %d times.\n\n", r.Setup.Readers, crowds)
	t := newTable(b)
	t.line("", "loads", "most", "a read", "", "", "", "woken", "", "", "", "round trips", "")
	t.line("", "per key", "at once", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "per read", "errors")
	for _, row := range r.Cold {
		t.line(row.Name, fmt.Sprintf("%.2f", row.LoadsPerKey), count(row.MostAtOnce), row.Latency, row.wakeUp(),
			fmt.Sprintf("%.2f", row.TripsPerRead), count(row.Errors))
	}
	t.Flush()
	fmt.Fprintln(b)
	for _, row := range r.Cold {
		fmt.Fprintf(b, "%-18s %s\n", row.Name, row.about)
	}
	fmt.Fprint(b, `
a read  takes so long, counted from when the crowd comes
woken   so long after the load of another instance had ended, its reader had the value
`)
	for _, row := range r.Cold {
		complain(b, row.Name, row.Errors, row.FirstError, 0)
	}
	if verbose {
		for _, row := range r.Cold {
			row.Commands.write(b, row.Name)
		}
	}
}

// wakeUp are the cells of who waited for another instance, if anybody did.
func (row ColdRow) wakeUp() any {
	if row.Woken == 0 {
		return []string{"-", "-", "-", "-"}
	}
	return row.WakeUp
}

func (r Report) writeOutage(b *bytes.Buffer) {
	s, o := r.Setup, r.Outage
	what := map[string]string{kill: "killed, and started again, empty,", stop: "stopped, so that it accepts and never answers, and goes on"}
	fmt.Fprintf(b, "%g reads/s over all, of %d keys; ttl %g s. The server is %s after %g s.\n\n", s.Rate, s.Keys, s.TTLS, what[o.Kind], s.DurationS)
	t := newTable(b)
	t.line("", "", "loads", "busiest", "most", "most in", "reads", "", "", "", "", "added to", "")
	t.line("server", "reads", "per s", "second", "at once", "a cache", "waited", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "p99 ms", "errors")
	for _, p := range o.Parts {
		t.line(p.Name, count(p.Reads), fmt.Sprintf("%.1f", p.LoadsPerSecond), count(p.BusiestSecond), count(p.MostAtOnce),
			count(p.MostOneCache), count(p.Waited), p.Latency, ms(p.AddedP99), count(p.Errors))
	}
	t.Flush()
	fmt.Fprintf(b, "\nThe tier answered a cache again %s after the server was back, and each of them %s.\n", after(o.FirstAgain), after(o.AllAgain))
	fmt.Fprintf(b, "It did not answer %s questions in all. A cache runs at most %d loads at once.\n", count(o.TierErrors), maxLoads)
	for _, p := range o.Parts {
		complain(b, "server "+p.Name, p.Errors, p.FirstError, 0)
	}
}

// maxLoads is earlybird's default.
const maxLoads = 128

func after(t *float64) string {
	if t == nil {
		return "not in that time"
	}
	return fmt.Sprintf("%.0f ms", *t)
}

// complain says what should not have been.
func complain(b *bytes.Buffer, name string, errors int, first string, tierErrors int) {
	name = strings.TrimSpace(name)
	if errors > 0 {
		fmt.Fprintf(b, "\n%s: %s reads failed, one with: %s\n", name, count(errors), first)
	}
	if tierErrors > 0 {
		fmt.Fprintf(b, "\n%s: the tier did not answer %s questions in time\n", name, count(tierErrors))
	}
}

// write lists the commands, the most called first.
func (c commands) write(b *bytes.Buffer, name string) {
	names := slices.SortedFunc(maps.Keys(c), func(x, y string) int { return c[y] - c[x] })
	fmt.Fprintf(b, "\nServer commands, %s:\n", strings.TrimSpace(name))
	for _, command := range names {
		fmt.Fprintf(b, "%12s %s\n", count(c[command]), command)
	}
}

// table aligns columns to the right, but for the first.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table {
	return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
}

// line writes a row. A cell is a string, a list of them, or a Latency.
func (t table) line(name string, cells ...any) {
	fmt.Fprintf(t, "%-18s\t", name)
	for _, cell := range cells {
		switch cell := cell.(type) {
		case Latency:
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t", ms(cell.P50), ms(cell.P99), ms(cell.P999), ms(cell.Max))
		case []string:
			fmt.Fprint(t, strings.Join(cell, "\t")+"\t")
		default:
			fmt.Fprintf(t, "%v\t", cell)
		}
	}
	fmt.Fprintln(t)
}

// ms prints what can be told of a time in milliseconds.
func ms(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// count prints n with commas.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package ladder

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/earlybird-cache/earlybird/sim/workload"
)

// writeText writes the rows as a table, and under it what was played, what the
// columns mean and what the ladder shows, in one piece.
func writeText(w io.Writer, s Setup, rows []Row) error {
	var b bytes.Buffer
	writeTable(&b, rows)
	writeNotes(&b, s, rows)
	_, err := w.Write(b.Bytes())
	return err
}

func writeTable(w io.Writer, rows []Row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, cells ...string) {
		// Columns are aligned right; padding aligns the first one left.
		fmt.Fprintf(t, "%-17s\t%s\t\n", name, strings.Join(cells, "\t"))
	}
	line("", "", "origin", "calls per", "most", "reads", "", "", "", "hostile", "")
	line("rung", "reads", "calls", "episode", "at once", "waited", "p50 ms", "p99 ms", "p99.9 ms", "ids", "errors")
	for _, r := range rows {
		line(r.Name, grouped(r.Reads), grouped(r.OriginCalls), fmt.Sprintf("%.2f", r.CallsPerEpisode),
			grouped(r.MaxConcurrent), grouped(r.Waited), fmt.Sprintf("%.0f", r.P50), fmt.Sprintf("%.0f", r.P99),
			fmt.Sprintf("%.0f", r.P999), grouped(r.HostileLeaked), grouped(r.Errors))
	}
	t.Flush() // to a bytes.Buffer: cannot fail
}

func writeNotes(w io.Writer, s Setup, rows []Row) {
	fmt.Fprintln(w)
	for _, r := range rungs {
		fmt.Fprintf(w, "%-17s  %s\n", r.name, r.about)
	}
	fmt.Fprint(w, `
calls per episode  origin calls for a key from the first read that finds nothing until an
                   answer arrives; 1 is the least, more is a stampede
most at once       calls at the origin at one moment, those waiting for a server included
reads waited       reads not answered at once; the percentiles are over all reads
hostile ids        distinct keys asked of the origin that it does not have
errors             reads that got no answer, or a wrong one

`)
	c := s.Stream.Census()
	writeSetup(w, s, c)
	writeVerdict(w, s.Stream.Population, c, rows)
}

// writeSetup says what was played.
func writeSetup(w io.Writer, s Setup, c workload.Census) {
	fmt.Fprintf(w, "Requests: %s in %.0f s of virtual time, the same on every rung, for %s keys.\n",
		grouped(c.Requests), c.Duration.Seconds(), grouped(len(s.Stream.Population.Keys())))
	if c.Malformed+c.Absent > 0 {
		fmt.Fprintf(w, "  %s of them are hostile: %s malformed, the others for %s absent ids.\n",
			grouped(c.Malformed+c.Absent), grouped(c.Malformed), grouped(c.AbsentIDs))
	}
	if s.KeepNone {
		fmt.Fprintln(w, "  Nothing is ever kept: there are no hits, only loads that are shared while they run.")
	} else {
		fmt.Fprintf(w, "  Half-way the cache is flushed. A cached product lives for %v.\n", s.TTL)
	}
	fmt.Fprintf(w, "Clients give up after %v and do not try again.\n", s.Timeout)
	fmt.Fprintf(w, "Origin: %d servers, %v a call, so %.0f calls/s; when calls wait it slows down, %g times at %d.\n",
		s.Origin.Servers, s.Origin.Service, s.Origin.Capacity(), s.Origin.Slowdown, s.Origin.Crowd)
	fmt.Fprintln(w, "  It carries out a call that has begun even if nobody waits for it any more.")
}

// writeVerdict says in words what the last row reached.
func writeVerdict(w io.Writer, p *workload.Population, c workload.Census, rows []Row) {
	first, last := rows[0], rows[len(rows)-1]
	fmt.Fprintf(w, "Result: %s makes %.1f %% of the origin calls of %q; %s errors instead of %s.\n", last.Name,
		100*float64(last.OriginCalls)/float64(first.OriginCalls), first.Name, grouped(last.Errors), grouped(first.Errors))
	if c.AbsentIDs == 0 {
		return
	}
	fmt.Fprintf(w, "  The guard may let one absent id in %.0f pass, here at most %d; %d reached the origin.\n",
		1/falsePositiveRate, leakBound(c), last.HostileLeaked)
	if p.Pattern() == "" {
		fmt.Fprintln(w, "  These keys have no shape in common, so malformed ones were the guard's to refuse.")
	}
}

// grouped writes n with commas between groups of three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

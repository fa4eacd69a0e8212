package refresh

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// WriteText writes the report as tables for people.
func (r Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	s := r.Setup
	fmt.Fprintf(out, "One key, %.6g reads/s over %d %s; a load takes %s (%v), ttl %s, %s rule, beta %.6g, %s.\n",
		s.Rate, s.Instances, plural(s.Instances, "instance"), short(s.Delta), s.Cost, short(s.TTL), s.Rule, s.Beta, s.coordinated())
	fmt.Fprintf(out, "Scale s = beta*delta = %s", short(r.Aim.Scale))
	if r.Aim.Shift != 0 {
		fmt.Fprintf(out, ", shifted by %s", short(r.Aim.Shift))
	}
	fmt.Fprintf(out, ": draws can succeed from %s before expiry.\n", short(r.Aim.Window()))
	r.writeElections(out)
	r.writeFigures(out)
	for i, note := range r.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "Note:", note)
	}
	return out.Flush()
}

func (s Setup) coordinated() string {
	switch s.Coordination {
	case Singleflight:
		return "singleflight in each instance"
	case Lease:
		return "a lease seen by the others after " + short(s.RoundTrip)
	}
	return "no coordination"
}

func (r Report) writeElections(out io.Writer) {
	fmt.Fprintf(out, "\nIs a read elected to refresh? (%d draws a row)\n", r.Setup.Draws)
	fmt.Fprintf(out, "%12s %8s %10s %12s %12s %9s\n", "time left", "scales", "elected", "observed", "probability", "z")
	for _, e := range r.Elections {
		fmt.Fprintf(out, "%12s %8.4g %10d %12.4g %12.4g %9s\n",
			short(e.Left), e.Scales, e.Elected, e.Share.Observed, e.Share.Theory, zText(e.Share))
	}
}

// writeFigures sets engines and closed forms side by side.
func (r Report) writeFigures(out io.Writer) {
	fmt.Fprintf(out, "\nWhat does an expiry cost?\n\n  %-38s", "")
	engines := []Figures{r.Thinned}
	fmt.Fprintf(out, " %12s %24s", "closed form", "thinned ± stderr     z")
	if r.Event != nil {
		engines = append(engines, *r.Event)
		fmt.Fprintf(out, " %24s", "event ± stderr     z")
	}
	fmt.Fprintln(out)
	for i, row := range engines[0].rows(r.Setup) {
		fmt.Fprintf(out, "  %-38s %12s", row.name, figure(row.e.Theory))
		for _, f := range engines {
			e := f.rows(r.Setup)[i].e
			fmt.Fprintf(out, " %8s ±%7.2g %6s", figure(e.Observed), e.StdErr, zText(e))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	for i, f := range engines {
		fmt.Fprintf(out, "  %-8s %d expiries, %.3g reads, in %.3g s: %.3g expiries and %.3g reads a second\n",
			[]string{"thinned:", "event:"}[i], f.Expiries, f.Reads, f.Seconds, float64(f.Expiries)/f.Seconds, f.Reads/f.Seconds)
	}
}

type row struct {
	name string
	e    estimate.Estimate
}

func (f Figures) rows(s Setup) []row {
	waits := "reads that wait"
	if s.Inline {
		waits += ", the elected included"
	}
	return []row{
		{"loads", f.Loads},
		{"  started before expiry", f.Early},
		{"  started after it", f.Hard},
		{"share of expiries with a single load", f.Single},
		{"seconds left when the first starts", f.Gap},
		{"share late: no new value at expiry", f.Late},
		{waits, f.Waits},
		{"seconds from one entry to the next", f.Life},
	}
}

// figure prints four decimals, or an exponent where these would say nothing.
func figure(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return "-"
	case x != 0 && size < 0.001, size >= 1e5:
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.4f", x)
}

func zText(e estimate.Estimate) string {
	switch {
	case math.IsNaN(e.Theory):
		return "-"
	case math.IsNaN(e.Z):
		return "rare"
	}
	return fmt.Sprintf("%+.2f", e.Z)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

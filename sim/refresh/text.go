package refresh

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"time"
)

// WriteText writes the report as tables for people.
func (r Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	s := r.Setup
	fmt.Fprintf(out, "One key, %.6g reads/s over %d %s; a load takes %s, ttl %s, beta %.6g.\n",
		s.Rate, s.Instances, plural(s.Instances, "instance"), short(s.Delta), short(s.TTL), s.Beta)
	fmt.Fprintf(out, "Scale s = beta*delta = %s: draws can succeed from %s before expiry.\n", short(r.Scale), short(r.Window))
	r.writeElections(out)
	fmt.Fprintf(out, "\nWhat does an expiry cost? (%d played, standing for %.3g reads)\n", s.Expiries, r.reads())
	for _, l := range r.Loads {
		l.write(out, s)
	}
	for i, note := range r.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "Note:", note)
	}
	return out.Flush()
}

func (r Report) reads() float64 {
	total := 0.0
	for _, l := range r.Loads {
		total += l.Reads
	}
	return total
}

func (r Report) writeElections(out io.Writer) {
	fmt.Fprintf(out, "\nIs a read elected to refresh? (%d draws a row)\n", r.Setup.Draws)
	fmt.Fprintf(out, "%12s %8s %10s %12s %12s %9s\n", "time left", "scales", "elected", "observed", "e^(-left/s)", "z")
	for _, e := range r.Elections {
		fmt.Fprintf(out, "%12s %8.4g %10d %12.4g %12.4g %9s\n",
			short(e.Left), e.Scales, e.Elected, e.Share.Observed, e.Share.Theory, zText(e.Share))
	}
}

func (l Loads) write(out io.Writer, s Setup) {
	title := "readers who share nothing else"
	if l.Coordination == Singleflight {
		title = fmt.Sprintf("singleflight in each of %d %s", s.Instances, plural(s.Instances, "instance"))
	}
	fmt.Fprintf(out, "\n  %-38s %10s %10s %12s %9s\n", title, "observed", "± stderr", "closed form", "z")
	for _, row := range []struct {
		name string
		e    Estimate
	}{
		{"loads", l.Mean},
		{"  started before expiry", l.Early},
		{"  started after it", l.Hard},
		{"share of expiries with a single load", l.Single},
		{"seconds left when the first starts", l.Gap},
		{"share late: first not done at expiry", l.Late},
	} {
		fmt.Fprintf(out, "  %-38s %10s %10.2g %12s %9s\n",
			row.name, figure(row.e.Observed), row.e.StdErr, figure(row.e.Theory), zText(row.e))
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

func zText(e Estimate) string {
	switch {
	case math.IsNaN(e.Theory):
		return "-"
	case math.IsNaN(e.Z):
		return "too rare"
	}
	return fmt.Sprintf("%+.2f", e.Z)
}

// short rounds a duration to what is worth reading.
func short(d time.Duration) string {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d < 10_000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

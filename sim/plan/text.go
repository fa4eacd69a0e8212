package plan

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// WriteText writes the plan for people.
func (p Plan) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	s := p.Setup
	fmt.Fprintf(out, "%d keys, the hottest read %.6g times a second over %d %s; a load takes %s, ttl %s.\n",
		s.Keys, s.Rate, s.Instances, plural(s.Instances, "instance"), short(s.Delta), short(s.TTL))
	fmt.Fprintf(out, "Targets: at most %.3g %% loads beyond one per life, %.3g %% of refreshes late.\n\n", 100*s.Extra, 100*s.Late)
	fmt.Fprintln(out, "What to set")
	for _, f := range p.Figures() {
		f.write(out)
	}
	fmt.Fprintln(out, "\nWhat to expect")
	for _, f := range p.Outcome() {
		f.write(out)
	}
	p.writeColder(out)
	for i, note := range p.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "Note:", note)
	}
	fmt.Fprintf(out, "\nIn Go, for each instance:\n\n%s\n", p.Options())
	if check := p.Check(); check != "" {
		fmt.Fprintf(out, "\nTo see it played:\n\n%s\n", check)
	}
	return out.Flush()
}

func (f Figure) write(out io.Writer) {
	fmt.Fprintf(out, "  %-16s %-22s %s\n", f.Name, f.Value, f.Words)
	fmt.Fprintf(out, "  %-16s %-22s   %s\n", "", "", f.Numbers)
}

// Outcome is what the plan leads to.
func (p Plan) Outcome() []Figure {
	s, r := p.Setup, p.Refresh
	return []Figure{
		{
			"late refreshes", percent(r.Late) + verdict(r.Late <= s.Late),
			"e^-V, V being the refreshes expected while more than the lead d is left",
			fmt.Sprintf("V = %.4g, d = %s + 2 * %s", min(math.Abs(math.Log(r.Late)), 745), short(s.Delta), short(s.Deviation)),
		},
		{
			"extra loads", percent(r.Extra) + verdict(r.Extra <= s.Extra),
			"N T / (T - G + δ) - 1, with T a mean life, N loads per expiry, G left at the first start",
			fmt.Sprintf("%.4g * %s / (%[2]s - %s + %s) - 1", r.Loads, short(xfetch.MeanLife(s.TTL, p.jitter())), short(r.Gap), short(s.Delta)),
		},
		{
			"origin load", fmt.Sprintf("%s/s, %s", number(p.Steady), percent(p.Steady/s.calls())),
			"loads of all keys, if each is read like the hottest, and their part of what the origin completes",
			fmt.Sprintf("%d * %.4g loads per ttl / %s", p.entries(), p.Steady*s.TTL.Seconds()/float64(p.entries()), short(s.TTL)),
		},
		{
			"busiest second", number(p.Peak) + "/s",
			"refreshes of keys that were written together: n N / (j T), a little less for the draws",
			fmt.Sprintf("%d * %.4g / (%.2g * %s)", p.entries(), r.Loads, p.jitter(), short(s.TTL)),
		},
		{
			"after a flush", short(p.Refill),
			"until all keys are back: n/C, and the ramp",
			fmt.Sprintf("%d / %s/s", p.entries(), number(s.calls())),
		},
	}
}

func (p Plan) writeColder(out io.Writer) {
	fmt.Fprintln(out, "\nKeys that are read less, with the same options (below 0: they are not read in every life)")
	name := "deadline"
	if p.Refresh.isClassic() {
		name = ""
	}
	fmt.Fprintf(out, "  %12s %14s %14s", "reads/s", "classic late", "extra loads")
	if name != "" {
		fmt.Fprintf(out, " %14s %14s", "deadline late", "extra loads")
	}
	fmt.Fprintln(out)
	for _, c := range p.Colder {
		fmt.Fprintf(out, "  %12s %14s %14s", number(c.Rate), percent(c.Classic.Late), percent(c.Classic.Extra))
		if name != "" {
			fmt.Fprintf(out, " %14s %14s", percent(c.Chosen.Late), percent(c.Chosen.Extra))
		}
		fmt.Fprintln(out)
	}
}

func verdict(ok bool) string {
	if ok {
		return ", as asked"
	}
	return ", too much"
}

// percent prints what can be told of a share.
func percent(x float64) string {
	if x > 0 && x < 1e-12 {
		return "0 %"
	}
	return fmt.Sprintf("%.3g %%", 100*x)
}

// number prints four digits at most, without an exponent where that can be.
func number(x float64) string {
	if x >= 1e4 && x < 1e12 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// short rounds a duration to what is worth reading.
func short(d time.Duration) string {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d.Abs() < 10_000*unit {
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

package scenarios

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

func writeList(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, s := range All() {
		fmt.Fprintf(out, "  %-22s %s\n", s.Name, s.Title)
	}
	return out.Flush()
}

func writeText(w io.Writer, played []Played) error {
	out := bufio.NewWriter(w)
	for _, p := range played {
		fmt.Fprintf(out, "%s: %s\n", p.Name, p.Title)
		for line := range strings.SplitSeq(fold(p.About, 96), "\n") {
			fmt.Fprintf(out, "  %s\n", line)
		}
		fmt.Fprintf(out, "\n  %-74s %11s %-12s %11s %9s %7s  %s\n", "", "expected", "", "got", "± stderr", "z", "verdict")
		for _, r := range p.Rows {
			fmt.Fprintf(out, "  %-74s %11s %-12s %11s %9s %7s  %s\n",
				r.Figure, number(r.Expected), r.Basis, number(r.Got), r.errText(), r.zText(), r.Verdict())
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func (r Row) errText() string {
	if r.StdErr == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", r.StdErr)
}

func (r Row) zText() string {
	if math.IsNaN(r.Z) {
		return ""
	}
	return fmt.Sprintf("%+.2f", r.Z)
}

func number(x float64) string { return fmt.Sprintf("%.5g", x) }

// fold breaks text into lines of at most width runes.
func fold(text string, width int) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		length := len([]rune(word))
		switch {
		case n == 0:
		case n+1+length > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += length
	}
	return b.String()
}

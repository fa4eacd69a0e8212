package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is what came of a row with one workload.
type table struct {
	Row      string `json:"row"`
	Workload string `json:"workload"`
	Procs    int    `json:"procs"`
	Lines    []line `json:"lines"`

	columns []column
}

type line struct {
	Subject string            `json:"subject"`
	Failure string            `json:"failure,omitempty"`
	Figures map[string]spread `json:"figures,omitempty"` // by column
}

func newTable(r row, label string, procs int, m measurement) table {
	t := table{Row: r.name, Workload: label, Procs: procs, columns: r.columns}
	base := slices.IndexFunc(r.subjects, func(s subject) bool { return s.name == r.base })
	for i, s := range r.subjects {
		if err := m.failed[s.name]; err != nil {
			t.Lines = append(t.Lines, line{Subject: s.name, Failure: err.Error()})
			continue
		}
		l := line{Subject: s.name, Figures: make(map[string]spread)}
		for _, c := range r.columns {
			l.Figures[c.head] = over(m.turns, func(t turn) float64 { return c.of(t[i], t[base]) })
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

func (t table) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s, %d procs; %s\n", t.Row, t.Procs, t.Workload)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "\t%s\n", strings.Join(t.heads(), ""))
	for _, l := range t.Lines {
		if l.Failure == "" {
			fmt.Fprintf(tab, "%-*s\t%s\n", t.widest(), l.Subject, strings.Join(t.cells(l), ""))
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, l := range t.Lines {
		if l.Failure != "" {
			fmt.Fprintf(w, "  %-*s  %s\n", t.widest(), l.Subject, l.Failure)
		}
	}
	return nil
}

func (t table) heads() (heads []string) {
	for _, c := range t.columns {
		heads = append(heads, c.head+"\t")
		if c.quartiles {
			heads = append(heads, "quartiles\t")
		}
	}
	return heads
}

func (t table) cells(l line) (cells []string) {
	for _, c := range t.columns {
		s := l.Figures[c.head]
		cells = append(cells, fmt.Sprintf("%.*f\t", c.decimals, s.Median))
		if c.quartiles {
			cells = append(cells, fmt.Sprintf("%.*f–%.*f\t", c.decimals, s.Low, c.decimals, s.High))
		}
	}
	return cells
}

// widest is the length of the longest name, to which the others are padded:
// names are flush left, figures flush right.
func (t table) widest() (n int) {
	for _, l := range t.Lines {
		n = max(n, len(l.Subject))
	}
	return n
}

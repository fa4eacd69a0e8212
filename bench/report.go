package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"text/tabwriter"
	"time"
)

// report is all that was measured, and with what.
type report struct {
	Date      string            `json:"date"`
	Go        string            `json:"go"`
	Platform  string            `json:"platform"`
	CPUs      int               `json:"cpus"`
	Modules   map[string]string `json:"modules"`
	Keys      int               `json:"keys"`
	Turns     int               `json:"turns"`
	Benchtime string            `json:"benchtime"`
	Tables    []table           `json:"tables"`
}

type table struct {
	Row      string `json:"row"`
	Procs    int    `json:"procs"`
	Compares string `json:"compares"` // what the ratios are
	Lines    []line `json:"lines"`
}

type line struct {
	Subject string  `json:"subject"`
	Ns      spread  `json:"ns_per_op"`
	CPU     spread  `json:"cpu_ns_per_op"`
	Ratio   spread  `json:"ratio"` // of the costs in the same turn
	Allocs  float64 `json:"allocs_per_op"`
	Bytes   float64 `json:"bytes_per_op"`
}

// spread is the median of some figures with their quartiles.
type spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func newReport(p plan) *report {
	return &report{
		Date:      time.Now().Format(time.DateOnly),
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:      runtime.NumCPU(),
		Modules:   modules(),
		Keys:      p.keys,
		Turns:     p.count,
		Benchtime: p.benchtime.String(),
	}
}

// modules returns the versions of the modules compiled in.
func modules() map[string]string {
	ms := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			ms[m.Path] = m.Version
			if m.Replace != nil {
				ms[m.Path] = "=> " + m.Replace.Path
			}
		}
	}
	return ms
}

func (r *report) add(row row, procs int, turns []turn) {
	t := table{Row: row.name, Procs: procs, Compares: row.compares()}
	base := slices.IndexFunc(row.subjects, func(s subject) bool { return s.name == row.base })
	for i, s := range row.subjects {
		t.Lines = append(t.Lines, line{
			Subject: s.name,
			Ns:      over(turns, func(t turn) float64 { return t[i].ns }),
			CPU:     over(turns, func(t turn) float64 { return t[i].cpu }),
			Ratio:   over(turns, func(t turn) float64 { return row.ratio(t[i].cost(), t[base].cost()) }),
			Allocs:  over(turns, func(t turn) float64 { return t[i].allocs }).Median,
			Bytes:   over(turns, func(t turn) float64 { return t[i].bytes }).Median,
		})
	}
	r.Tables = append(r.Tables, t)
}

// over is the spread of a figure over the turns.
func over(turns []turn, figure func(turn) float64) spread {
	xs := make([]float64, len(turns))
	for i, t := range turns {
		xs[i] = figure(t)
	}
	slices.Sort(xs)
	return spread{Median: quantile(xs, 0.5), Low: quantile(xs, 0.25), High: quantile(xs, 0.75)}
}

// quantile interpolates between the two nearest of the sorted xs.
func quantile(xs []float64, q float64) float64 {
	whole, part := math.Modf(q * float64(len(xs)-1))
	i := int(whole)
	return xs[i] + part*(xs[min(i+1, len(xs)-1)]-xs[i])
}

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %s, %d CPUs; %d keys; medians and quartiles of %d turns of %s\n",
		r.Date, r.Go, r.Platform, r.CPUs, r.Keys, r.Turns, r.Benchtime)
	for _, t := range r.Tables {
		if err := t.print(w); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, path := range peers {
		if v, ok := r.Modules[path]; ok {
			fmt.Fprintf(w, "%s %s\n", path, v)
		}
	}
	return nil
}

func (t table) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s, %d procs\n", t.Row, t.Procs)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "\tns/op\tquartiles\tcpu ns\tquartiles\t%s\tquartiles\tallocs\tbytes\t\n", t.Compares)
	for _, l := range t.Lines {
		fmt.Fprintf(tab, "%-*s\t%.1f\t%.1f–%.1f\t%.1f\t%.1f–%.1f\t%.2f\t%.2f–%.2f\t%.1f\t%.0f\t\n",
			t.widest(), l.Subject, l.Ns.Median, l.Ns.Low, l.Ns.High, l.CPU.Median, l.CPU.Low, l.CPU.High,
			l.Ratio.Median, l.Ratio.Low, l.Ratio.High, l.Allocs, l.Bytes)
	}
	return tab.Flush()
}

// widest is the length of the longest name, to which the others are padded:
// names are flush left, figures flush right.
func (t table) widest() (n int) {
	for _, l := range t.Lines {
		n = max(n, len(l.Subject))
	}
	return n
}

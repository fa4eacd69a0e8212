package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"
)

// report is all that was measured, and with what.
type report struct {
	Date      string            `json:"date"`
	Go        string            `json:"go"`
	Platform  string            `json:"platform"`
	CPUs      int               `json:"cpus"`
	Modules   map[string]string `json:"modules"`
	Turns     int               `json:"turns"`
	Benchtime string            `json:"benchtime"`
	Tables    []table           `json:"tables"`
}

func newReport(p plan) *report {
	return &report{
		Date:      time.Now().Format(time.DateOnly),
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:      runtime.NumCPU(),
		Modules:   modules(),
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

func (r *report) write(w io.Writer, asJSON bool) error {
	if !asJSON {
		return r.print(w)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %s, %d CPUs; medians and quartiles of %d turns of %s\n",
		r.Date, r.Go, r.Platform, r.CPUs, r.Turns, r.Benchtime)
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

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

	out    io.Writer
	asJSON bool
}

func newReport(p plan, out io.Writer) *report {
	return &report{
		Date:      time.Now().Format(time.DateOnly),
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:      runtime.NumCPU(),
		Modules:   modules(),
		Turns:     p.count,
		Benchtime: p.benchtime.String(),
		out:       out,
		asJSON:    p.json,
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
	if v := serverVersion(); v != "" {
		ms[redisServer] = v
	}
	return ms
}

func (r *report) begin() error {
	if r.asJSON {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "%s, %s, %s, %d CPUs; medians and quartiles of %d turns of %s\n",
		r.Date, r.Go, r.Platform, r.CPUs, r.Turns, r.Benchtime)
	return err
}

func (r *report) add(t table) error {
	if r.asJSON {
		r.Tables = append(r.Tables, t)
		return nil
	}
	return t.print(r.out)
}

// end writes what is written last: all, or the versions of the peers.
func (r *report) end() error {
	if r.asJSON {
		e := json.NewEncoder(r.out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintln(r.out)
	for _, path := range peers {
		if v, ok := r.Modules[path]; ok {
			if _, err := fmt.Fprintf(r.out, "%s %s\n", path, v); err != nil {
				return err
			}
		}
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/earlybird-cache/earlybird/fuzz/siege"
)

// runAsText prints each row when its attack is over, and then what the columns mean and
// what came of it.
func (c *command) runAsText(w io.Writer) (held bool, err error) {
	var s score
	if err := writeHead(w); err != nil {
		return false, err
	}
	err = c.play(func(r siege.Row) error {
		if err := s.add(r); err != nil {
			return err
		}
		return writeRow(w, r)
	})
	if err != nil {
		return false, err
	}
	return s.held(), writeNotes(w, &s)
}

// columns are a row's cells with the widths of the table. The last one has no width.
const columns = "%-16s %9s %9s %9s %9s %8s %6s %6s %7s %7s %7s  %s\n"

func writeHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, columns+columns,
		"", "hostile", "origin", "", "per", "wrongful", "good", "hits", "heap", "p99", "refusal", "",
		"attack", "requests", "calls", "at most", "million", "refusals", "before", "during", "KiB", "ms", "/ hit", "verdict")
	return err
}

func writeRow(w io.Writer, r siege.Row) error {
	allowed := grouped(r.OriginAllowed)
	if r.Verdict == siege.Baseline {
		allowed = "-"
	}
	ratio := "-"
	if r.RejectVsHit > 0 {
		ratio = fmt.Sprintf("%.1f", r.RejectVsHit)
	}
	_, err := fmt.Fprintf(w, columns, r.Name, grouped(r.Requests), grouped(r.OriginCalls), allowed,
		grouped(int(r.OriginPerMillion+0.5)), grouped(r.WrongfulRefusals),
		percent(r.GoodHitBefore), percent(r.GoodHitDuring), grouped(int(r.HeapGrowth>>10)),
		fmt.Sprintf("%.1f", r.P99), ratio, r.Verdict)
	return err
}

func writeNotes(w io.Writer, s *score) error {
	_, err := fmt.Fprintf(w, `
origin calls        those that hostile requests led to, and the most that are in order: what
                    passes a guard of rate 0.1 %% by chance, ids that pass once each time their
                    absence is forgotten; all where there is no guard, or the ids exist
wrongful refusals   good reads that did not get their record; keys that exist and are refused after
good hits           share of good reads served from memory, before the attack and during it
heap                growth of what is live, from before the attack to after
p99                 of good reads during the attack; a call takes the origin 1 ms
refusal / hit       median times, measured in turn after the attack

negative-flood, collide and hammer are made with the guard off, and try what lies behind it.
"murmur, unkeyed" is the same attack on an ordinary Bloom filter, of rate 1e-9, in the guard's place.

%s
`, s.result())
	return err
}

// result says in a sentence what came of the attacks.
func (s *score) result() string {
	broken := s.broken()
	if len(broken) == 0 {
		return fmt.Sprintf("Result: %s held off.", plural(len(s.Attacks), "attack"))
	}
	var names []string
	for _, r := range broken {
		names = append(names, r.Name)
	}
	return fmt.Sprintf("Result: %s of %d broke through: %s.",
		plural(len(broken), "attack"), len(s.Attacks), strings.Join(names, ", "))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// grouped writes n with commas between groups of three digits.
func grouped(n int) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (r Report) writeHot(b *bytes.Buffer, verbose bool) {
	s := r.Setup
	fmt.Fprintf(b, "%g reads/s over all, %.0f%% of them of one key and the rest of %d others, for %g s a row;\n", s.Rate, 100*hotShare, bystanders, s.DurationS)
	fmt.Fprintf(b, "then for as long the key is changed every %v.\n\n", changeEvery)
	t := newTable(b)
	t.line("", "questions/s", "busiest", "commands/s", "hot reads", "a read", "hot in", "after", "changes", "old for", "", "", "")
	t.line("", "of masters", "share", "of busiest", "in process", "p99 ms", "caches", "ms", "of state", "p50 ms", "p99 ms", "max ms", "errors")
	for _, row := range r.Hot {
		t.line(row.Name, row.questions(), fmt.Sprintf("%.2f", row.Busiest), count(int(row.Masters[0].Commands)),
			fmt.Sprintf("%.1f%%", 100*row.InProcess), ms(row.P99), count(row.HotIn), row.foundAfter(), count(row.Flaps),
			ms(row.Stale.P50), ms(row.Stale.P99), ms(row.Stale.Max), count(row.Errors))
	}
	t.Flush()
	fmt.Fprintln(b)
	for _, row := range r.Hot {
		fmt.Fprintf(b, "%-18s %s\n", row.Name, row.about)
	}
	fmt.Fprint(b, `
questions   reads of the tier that each master answered, by its INFO commandstats
old for     so long after an Invalidate had returned elsewhere a cache gave out what was
            before; 0 for each cache and change where none did
after       so long after the first read the last cache had found the key hot
`)
	if worst := slices.MaxFunc(r.Hot, func(x, y HotRow) int { return cmp.Compare(x.LateP99, y.LateP99) }); worst.LateP99 > 10 {
		fmt.Fprintf(b, "\nThe machine was too busy for this: in %q reads began late by %s ms.\n", worst.Name, ms(worst.LateP99))
	}
	for _, row := range r.Hot {
		complain(b, row.Name, row.Errors, row.FirstError, row.TierErrors)
		for _, m := range row.Masters {
			if verbose {
				m.calls.write(b, fmt.Sprintf("%s, master at %s", row.Name, m.Addr))
			}
		}
	}
}

// questions are the cell of what the masters were asked.
func (row HotRow) questions() string {
	cells := make([]string, len(row.Masters))
	for i, m := range row.Masters {
		cells[i] = count(int(m.Questions))
	}
	return strings.Join(cells, " ")
}

func (row HotRow) foundAfter() string {
	if row.HotAfter == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *row.HotAfter)
}

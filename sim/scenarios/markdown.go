package scenarios

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

const preface = `# Prediction

What this project says a cache will do, beside what was played and, where somebody
published one, their measurement. Closed forms are those of package ` + "`xfetch`" + ` and are
derived where they stand. Each row can be shown by its command, with ` + "`go run ./`" + ` before
it; the figures here are those of

	go run ./sim scenarios -markdown > docs/prediction.md

which a test repeats at a smaller size and compares. (Those of the guard differ a
little each time: it draws its own secret.) ` + "`go run ./sim scenarios -check`" + ` judges every
row: it holds within 4 standard errors; counts and bounds must hold exactly; an error
often seen in print must be refuted.
`

// WriteMarkdown writes the document that sets theory, engines and publications side
// by side.
func WriteMarkdown(w io.Writer, played []Played) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, preface)
	for _, p := range played {
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n", p.Title, fold(p.About, 84))
		fmt.Fprintf(out, "| | expected | | played | z | published | command |\n|---|--:|---|--:|--:|---|---|\n")
		for _, r := range p.Rows {
			fmt.Fprintf(out, "| %s |\n", strings.Join(r.cells(), " | "))
		}
	}
	return out.Flush()
}

// cells are the columns of a row in the document.
func (r Row) cells() []string {
	got := number(r.Got)
	switch {
	case r.unseen():
		got = "too rare to be seen"
	case r.StdErr > 0:
		got += " ± " + r.errText()
	}
	return []string{r.Figure, number(r.Expected), string(r.Basis), got, r.zText(), r.Published, "`" + r.Command + "`"}
}

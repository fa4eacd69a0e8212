package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// End is how a load ends, unless the row is absent, which comes first.
type End string

const (
	OK       End = "ok"
	Fails    End = "fails"    // an error of the origin
	Canceled End = "canceled" // an error that wraps context.Canceled, from the origin's own doings
	Expired  End = "expired"  // likewise context.DeadlineExceeded
	Panics   End = "panics"
	Goexits  End = "goexits"
)

var ends = []End{OK, // and the bad ones
	Fails, Canceled, Expired, Panics, Goexits}

// Plan is the behaviour of one load.
type Plan struct {
	Key   string
	Take  time.Duration
	Gate  bool     // after Take, wait for a Release of the key
	Late  bool     // look at the row at the end rather than at the beginning
	Heed  bool     // return when the context ends; otherwise it is ignored
	Bare  bool     // an absence is the naked ErrNotFound, not one wrapped
	Half  bool     // of a batch, if it is the first key's: fail with a plain error and every second value
	Nest  []string // read these first, from the same cache, with Get or GetMany, and fail if that fails
	Brave bool     // do not fail because of that
	End   End
}

func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "load %s take=%v", p.Key, p.Take)
	for _, f := range p.flags() {
		if *f.on {
			b.WriteString(" " + f.name)
		}
	}
	if p.Nest != nil {
		b.WriteString(" nest=" + strings.Join(p.Nest, ","))
	}
	return b.String() + " end=" + string(p.End)
}

type planFlag struct {
	name string
	on   *bool
}

func (p *Plan) flags() []planFlag {
	return []planFlag{{"gate", &p.Gate}, {"late", &p.Late}, {"heed", &p.Heed}, {"bare", &p.Bare}, {"half", &p.Half}, {"brave", &p.Brave}}
}

// parsePlan reads what follows the word load.
func parsePlan(words []string) (Plan, error) {
	if len(words) == 0 {
		return Plan{}, fmt.Errorf("a load needs a key")
	}
	p := Plan{Key: words[0], End: OK}
	for _, word := range words[1:] {
		if err := p.parse(word); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *Plan) parse(word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "take":
		p.Take, err = time.ParseDuration(value)
		return err
	case "nest":
		p.Nest = strings.Split(value, ",")
		return nil
	case "end":
		p.End = End(value)
		if !slices.Contains(ends, p.End) {
			return fmt.Errorf("unknown end %q", value)
		}
		return nil
	}
	for _, f := range p.flags() {
		if f.name == word {
			*f.on = true
			return nil
		}
	}
	return fmt.Errorf("unknown word %q", word)
}

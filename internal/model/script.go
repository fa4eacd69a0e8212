package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Script is what is to happen in one run.
type Script struct {
	Profile Profile
	Seed    uint64 // of the generator, and of the cache's Options.Rand
	Plans   []Plan // per key in this order; over again when they run out
	Ops     []Op   // per client in this order
}

// String returns the script as text that [Parse] reads back.
func (s Script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profile %s\nseed %d\n", s.Profile.Name, s.Seed)
	for _, p := range s.Plans {
		fmt.Fprintln(&b, p)
	}
	for _, o := range s.Ops {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

// Parse reads a script, or what a test says that fails with a *[Broken]: from
// the line after the broken promise to the end of the history. Empty lines and
// those that begin with # are skipped. Its errors name the line.
func Parse(text string) (Script, error) {
	var s Script
	lines := strings.Split(text, "\n")
	first := 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "broken promise:") })
	for i, line := range lines[first:] {
		words := strings.Fields(line)
		if strings.Join(words, " ") == theEnd {
			break
		}
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := s.parse(words); err != nil {
			return s, fmt.Errorf("line %d: %w", first+i+1, err)
		}
	}
	if s.Profile.Name == "" {
		return s, fmt.Errorf("the script names no profile")
	}
	return s, nil
}

func (s *Script) parse(words []string) (err error) {
	switch words[0] {
	case "profile":
		s.Profile, err = ProfileNamed(strings.Join(words[1:], " "))
	case "seed":
		s.Seed, err = strconv.ParseUint(strings.Join(words[1:], " "), 10, 64)
	case "load":
		var p Plan
		p, err = parsePlan(words[1:])
		s.Plans = append(s.Plans, p)
	case "client":
		var o Op
		o, err = parseOp(words[1:])
		s.Ops = append(s.Ops, o)
	default:
		err = fmt.Errorf("unknown word %q", words[0])
	}
	return err
}

package keyshape

import "fmt"

// PatternError reports why a pattern could not be compiled.
type PatternError struct {
	Pattern string // the pattern as it was given
	Column  int    // where it went wrong: the byte's place in Pattern, from 1
	Reason  string // what is wrong there, in words
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("keyshape: pattern %q, column %d: %s", e.Pattern, e.Column, e.Reason)
}

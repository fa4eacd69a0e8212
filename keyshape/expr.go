package keyshape

import "regexp"

// maxExpr bounds the length of what a regular expression matches.
const maxExpr = 256

// anyByte is the alphabet of a class of which nothing is known.
var anyByte = func() *charset {
	var set charset
	for b := range set {
		set[b] = true
	}
	return &set
}()

// expr is the class of strings of min to max bytes that a regular expression
// matches from start to end.
type expr struct {
	re       *regexp.Regexp
	min, max int
}

// newExpr reads "n..m:expression".
func newExpr(arg field) (class, error) {
	length, source, _ := arg.cut(":")
	lo, hi, err := length.lengths(maxExpr)
	if err != nil {
		return nil, err
	}
	if source.text() == "" {
		return nil, source.fail("the length must be followed by a colon and an expression")
	}
	// By itself first: a stray parenthesis must not close the group.
	if _, err := regexp.Compile(source.text()); err != nil {
		return nil, source.fail("%v", err)
	}
	re, err := regexp.Compile(`\A(?:` + source.text() + `)\z`)
	if err != nil {
		return nil, source.fail("%v", err)
	}
	return expr{re, lo, hi}, nil
}

func (e expr) width() (int, int)  { return e.min, e.max }
func (e expr) first() *charset    { return anyByte }
func (e expr) alphabet() *charset { return anyByte }
func (expr) costly()              {}

func (e expr) accept(s string, _ int64) bool { return e.re.MatchString(s) }

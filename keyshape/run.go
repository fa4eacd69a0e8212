package keyshape

// maxRun bounds the length that a class may be given.
const maxRun = 1024

// run is the class of strings of min to max bytes of set in which every byte
// outside edge stands between two of edge. Where edge is the whole set, that is
// any string over the set; with a hyphen in set and not in edge, words joined
// by single hyphens.
type run struct {
	set, edge *charset
	min, max  int
}

// newRun makes the class of strings over set; its length must be given.
func newRun(set *charset) maker {
	return func(arg field) (class, error) {
		lo, hi, err := arg.lengths(maxRun)
		return run{set, set, lo, hi}, err
	}
}

// maxSlug is the length of {slug} unless the pattern gives another. Publishing
// systems cut slugs at 50 to 200 bytes.
const maxSlug = 128

var (
	slugBytes = chars("a-z0-9-")
	slugEdge  = chars("a-z0-9")
)

func newSlug(arg field) (class, error) {
	if arg.text() == "" {
		return run{slugBytes, slugEdge, 1, maxSlug}, nil
	}
	lo, hi, err := arg.lengths(maxRun)
	return run{slugBytes, slugEdge, lo, hi}, err
}

func (r run) width() (int, int)  { return r.min, r.max }
func (r run) first() *charset    { return r.edge }
func (r run) alphabet() *charset { return r.set }

func (r run) accept(s string, _ int64) bool {
	return r.edge[s[len(s)-1]] && r.fit(s) == len(s)
}

// fit is the length of the longest prefix of s that a string of the class may
// begin with, leaving aside its length.
func (r run) fit(s string) int {
	inside := false // whether the byte before is of edge
	for i := range len(s) {
		switch {
		case r.edge[s[i]]:
			inside = true
		case inside && r.set[s[i]]:
			inside = false
		default:
			return i
		}
	}
	return len(s)
}

package refresh

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Cost is how the times that loads take are distributed, as multiples of their
// mean. Its zero value is Fixed. It is a flag.Value.
type Cost struct {
	name string
	args []float64
	draw func(rng *rand.Rand) float64 // nil: always 1
}

// costLaws are the laws by name, with the letters of their arguments.
var costLaws = map[string]struct {
	args string
	make func(a []float64) (func(*rand.Rand) float64, error)
}{
	"fixed":       {"", func([]float64) (func(*rand.Rand) float64, error) { return nil, nil }},
	"exponential": {"", func([]float64) (func(*rand.Rand) float64, error) { return (*rand.Rand).ExpFloat64, nil }},
	"uniform":     {"", func([]float64) (func(*rand.Rand) float64, error) { return uniformCost, nil }},
	"lognormal":   {"SIGMA", lognormalCost},
	"twopoint":    {"SHARE,FACTOR", twoPointCost},
	"pareto":      {"ALPHA", paretoCost},
}

const costUsage = "fixed, exponential, uniform (from 0 to twice the mean), lognormal:SIGMA, " +
	"twopoint:SHARE,FACTOR (a share of loads takes FACTOR means), pareto:ALPHA"

// Fixed tells whether all loads take the same time.
func (c Cost) Fixed() bool { return c.draw == nil }

// Draw is the time of one load, in means.
func (c Cost) Draw(rng *rand.Rand) float64 {
	if c.draw == nil {
		return 1
	}
	return c.draw(rng)
}

// String is the form that Set reads.
func (c Cost) String() string {
	if c.name == "" {
		return "fixed"
	}
	s := c.name
	for i, a := range c.args {
		s += string(":,"[min(i, 1)]) + strconv.FormatFloat(a, 'g', -1, 64)
	}
	return s
}

// Set reads a law such as lognormal:0.5.
func (c *Cost) Set(s string) error {
	name, list, given := strings.Cut(s, ":")
	law, known := costLaws[name]
	if !known {
		return fmt.Errorf("must be one of %s", costUsage)
	}
	var args []float64
	if given {
		for text := range strings.SplitSeq(list, ",") {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%q is not a number", text)
			}
			args = append(args, x)
		}
	}
	if want := len(strings.FieldsFunc(law.args, func(r rune) bool { return r == ',' })); len(args) != want {
		return fmt.Errorf("%s takes %d numbers, as in %s", name, want, strings.TrimSuffix(name+":"+law.args, ":"))
	}
	draw, err := law.make(args)
	if err != nil {
		return err
	}
	*c = Cost{name, args, draw}
	return nil
}

// CostOf is the law that s names; it panics if there is none. For programs.
func CostOf(s string) (c Cost) {
	if err := c.Set(s); err != nil {
		panic(err)
	}
	return c
}

func uniformCost(rng *rand.Rand) float64 { return 2 * rng.Float64() }

func lognormalCost(a []float64) (func(*rand.Rand) float64, error) {
	sigma := a[0]
	if !(sigma > 0 && sigma <= 4) {
		return nil, errors.New("SIGMA must be from 0 to 4")
	}
	return func(rng *rand.Rand) float64 { return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2) }, nil
}

func twoPointCost(a []float64) (func(*rand.Rand) float64, error) {
	share, slow := a[0], a[1]
	if !(share > 0 && share < 1 && slow > 0 && share*slow < 1) {
		return nil, errors.New("SHARE must lie between 0 and 1, and SHARE times FACTOR too")
	}
	fast := (1 - share*slow) / (1 - share)
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < share {
			return slow
		}
		return fast
	}, nil
}

func paretoCost(a []float64) (func(*rand.Rand) float64, error) {
	alpha := a[0]
	if !(alpha > 1 && alpha <= 100) {
		return nil, errors.New("ALPHA must be from 1 to 100: at 1 or less loads have no mean")
	}
	least := (alpha - 1) / alpha
	return func(rng *rand.Rand) float64 { return least * math.Exp(rng.ExpFloat64()/alpha) }, nil
}

package plan

import (
	"fmt"
	"go/ast"
	"go/parser"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
)

// The options are Go, and all their fields exist.
func TestOptions_areGo(t *testing.T) {
	options := reflect.TypeFor[earlybird.Options[string]]()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		text := Make(anySetup(rng)).Options()
		expr, err := parser.ParseExpr(text)
		require.NoError(t, err, text)
		literal, ok := expr.(*ast.CompositeLit)
		require.True(t, ok, text)
		require.GreaterOrEqual(t, len(literal.Elts), 5)
		for _, element := range literal.Elts {
			name := element.(*ast.KeyValueExpr).Key.(*ast.Ident).Name
			_, ok := options.FieldByName(name)
			require.True(t, ok, "%s: %s", name, text)
		}
	}
}

// The plan of a command without flags, pasted.
func TestOptions_canBePasted(t *testing.T) {
	type V = string
	pasted := earlybird.Options[V]{
		TTL:         time.Minute,
		Jitter:      0.34,
		Beta:        1.41,
		MaxLoads:    3,
		MaxLoadRate: 20,
	}
	require.Equal(t, `earlybird.Options[V]{
	TTL:         time.Minute,
	Jitter:      0.34,
	Beta:        1.41,
	MaxLoads:    3,
	MaxLoadRate: 20,
}`, Make(Default).Options())
	c, err := earlybird.New(nil, pasted)
	require.ErrorContains(t, err, "load", "nothing else is wrong with them")
	require.Nil(t, c)
}

func TestGoDuration_readsBack(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "time.Hour", 90 * time.Second: "90 * time.Second", 1500 * time.Millisecond: "1500 * time.Millisecond",
		time.Microsecond: "time.Microsecond", 7: "7 * time.Nanosecond", 48 * time.Hour: "48 * time.Hour",
	} {
		require.Equal(t, want, goDuration(d))
	}
}

func ExamplePlan_Options() {
	s := Default
	s.Rate, s.Extra = 5, 0.2
	fmt.Println(Make(s).Options())
	// Output:
	// earlybird.Options[V]{
	// 	TTL:         time.Minute,
	// 	Jitter:      0.34,
	// 	Beta:        1,
	// 	Refresh:     xfetch.Deadline,
	// 	MaxLoads:    3,
	// 	MaxLoadRate: 20,
	// }
}

package scenarios

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSameRow compares two rows of the document, which may come from runs of
// different sizes.
func requireSameRow(t *testing.T, now, written string) {
	t.Helper()
	a, b := strings.Split(now, " | "), strings.Split(written, " | ")
	require.Len(t, b, len(a), written)
	const expected, basis, got, z = 1, 2, 3, 4
	for i := range a {
		switch sampled := a[basis] == string(Engine) || a[basis] == string(AtMost) || a[basis] == string(AtLeast); {
		case i == got, i == z, i == expected && sampled:
		default:
			require.Equal(t, a[i], b[i], "%s\nrun go run ./sim scenarios -markdown > docs/prediction.md", written)
		}
	}
	x, dx := figureOf(t, a[got])
	y, dy := figureOf(t, b[got])
	if dx > 0 || dy > 0 {
		require.LessOrEqual(t, math.Abs(x-y), 4.5*math.Hypot(dx, dy), "%s\n%s", now, written)
	}
}

// figureOf reads a figure and its error.
func figureOf(t *testing.T, cell string) (x, err float64) {
	t.Helper()
	if cell == "too rare to be seen" {
		return 0, 0
	}
	figure, plusMinus, _ := strings.Cut(cell, " ± ")
	_, scanned := fmt.Sscan(figure, &x)
	require.NoError(t, scanned, cell)
	if plusMinus != "" {
		_, scanned = fmt.Sscan(plusMinus, &err)
		require.NoError(t, scanned, cell)
	}
	return x, err
}

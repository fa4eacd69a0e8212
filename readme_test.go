package earlybird

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program in the README is the package's example, to the letter.
func TestReadme_showsTheTestedExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("example_test.go")
	require.NoError(t, err)

	_, body, ok := strings.Cut(string(examples), "func Example() {\n")
	require.True(t, ok)
	body, _, ok = strings.Cut(body, "\t// Output:")
	require.True(t, ok)
	require.True(t, strings.Contains(string(readme), body), "README.md must contain\n%s", body)
}

// So are the lines that add a shared tier.
func TestReadme_showsTheTierOfATestedExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("redisstore/example_test.go")
	require.NoError(t, err)

	for _, start := range []string{"tier, err := redisstore.New(", "defer tier.Close()", "cache, err := earlybird.New("} {
		_, line, ok := strings.Cut(string(example), "\t"+start)
		require.True(t, ok, start)
		line, _, _ = strings.Cut(line, "\n")
		require.Contains(t, string(readme), "\t"+start+line+"\n")
	}
}

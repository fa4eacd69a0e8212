package earlybird

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever imports the library compiles nothing that only tests, other stores
// or the simulator need.
func TestDependencies_areFew(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool: ", err)
	}
	list := func(args ...string) []string {
		out, err := exec.CommandContext(t.Context(), goTool, append([]string{"list"}, args...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}

	deps := list("-deps", ".")
	require.Contains(t, deps, "github.com/earlybird-cache/earlybird/xfetch", "the list must be one")
	for _, dep := range deps {
		for _, unwanted := range []string{"testing", "testify", "redis", "rueidis", "plot", "earlybird/sim", "earlybird/internal", "net/http"} {
			require.NotContains(t, strings.Split(dep, "/"), unwanted, dep)
			if strings.Contains(unwanted, "/") {
				require.NotContains(t, dep, unwanted)
			}
		}
	}

	modules := map[string]bool{}
	for _, m := range list("-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".") {
		modules[m] = true
	}
	for m := range modules {
		require.Contains(t, []string{
			"github.com/earlybird-cache/earlybird",
			"github.com/maypok86/otter/v2",
			"github.com/bits-and-blooms/bloom/v3",
			"github.com/bits-and-blooms/bitset",
			"github.com/dchest/siphash",
			"github.com/dgraph-io/ristretto/v2",
			"github.com/cespare/xxhash/v2",
			"github.com/dustin/go-humanize",
			"golang.org/x/sys",
			"golang.org/x/sync",
			"golang.org/x/time",
		}, m, "a new dependency of everybody is a decision, not an accident")
	}
}

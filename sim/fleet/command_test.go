package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
)

// command is Main with small sizes unless args say otherwise.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	small := []string{"-instances", "5", "-keys", "2", "-ttl", "200ms", "-delta", "20ms", "-rate", "500", "-duration", "400ms", "-readers", "25", "-near", "none"}
	code = Main(append(small, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestMain_badInputIsOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-instances 0":                  "-instances must be from 1 to 500, not 0",
		"-redis http://u:p@127.0.0.1:1": "-redis must be auto, or such as redis://user:password@host:port/db\n",
		"-instances 501":                "-instances",
		"-keys 0":                       "-keys",
		"-keys 99999999":                "-keys",
		"-readers 0":                    "-readers",
		"-readers -1":                   "-readers",
		"-ttl 0s":                       "-ttl",
		"-ttl 100h":                     "-ttl",
		"-ttl 20ms":                     "-delta 20ms is not shorter than -ttl 20ms",
		"-ttl 1s":                       "-duration 400ms is shorter than -ttl 1s",
		"-delta 0s":                     "-delta",
		"-delta 1m":                     "-delta",
		"-rate 0":                       "-rate",
		"-rate NaN":                     "-rate",
		"-rate +Inf":                    "-rate",
		"-rate 1e6":                     "-rate",
		"-rate 50000 -duration 10m":     "-rate times -duration: 30000000 reads",
		"-rate 30000 -delta 4s -ttl 9s -duration 10s": "-rate times -delta: 120000 reads",
		"-duration 1ms": "-duration",
		"-duration 11m": "-duration",
		"-near 1x":      "-near",
		"-near 0s":      "-near",
		"-near 1s,,2s":  "-near",
		"-near -1s":     "-near",
		"-near " + strings.Repeat("1s,", 16) + "1s": "-near",
		"-seed -1":                        "-seed",
		"-outage maim":                    `-outage must be kill or stop, not "maim"`,
		"-outage kill -cold":              "give one of them",
		"-hot -cold":                      "give one of them",
		"-outage kill -hot":               "give one of them",
		"-outage stop -redis redis://a:1": "-outage needs -redis auto",
		"-unknown":                        "-unknown",
		"fleet":                           `"fleet"`,
	} {
		code, stdout, stderr := command(strings.Fields(args)...)
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, want, args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %q", args, stderr)
	}
}

func TestMain_helpIsNotAnError(t *testing.T) {
	code, stdout, stderr := command("-h")
	require.Zero(t, code)
	require.Empty(t, stderr)
	for _, flag := range []string{"-instances", "-redis", "-keys", "-ttl", "-delta", "-rate", "-duration", "-near", "-cold", "-hot", "-readers", "-outage", "-json", "-seed", "-v"} {
		require.Contains(t, stdout, "\n  "+flag)
	}
}

func TestMain_noServerIsOneLine(t *testing.T) {
	code, stdout, stderr := command("-redis", "redis://user:secret@127.0.0.1:1")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "no answer from the server at 127.0.0.1:1")
	require.NotContains(t, stderr, "secret")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}

func TestMain_saysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("TMPDIR", t.TempDir())
	code, stdout, stderr := command()
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "apt-get install redis-server")
	require.Contains(t, stderr, "-redis URL")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestMain_lostOutputFails(t *testing.T) {
	redistest.Need(t)
	for _, format := range []string{"-json=false", "-json"} {
		var stderr bytes.Buffer
		require.Equal(t, 1, Main([]string{"-cold", "-instances", "2", "-readers", "2", "-delta", "1ms", format}, brokenPipe{}, &stderr))
		require.Contains(t, stderr.String(), "broken pipe")
	}
}

func TestMain_textNamesEveryRung(t *testing.T) {
	server := redistest.Start(t)
	code, stdout, stderr := command("-redis", "redis://"+server.Addr, "-near", "20ms,off", "-v")
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	for _, want := range []string{
		"no shared tier ", "TTL only ", "+ lease ", "XFetch, no lease ", "XFetch + lease ", "NearTTL 20ms ", "NearTTL off ",
		"per generation", "most", "p99.9 ms", "round trips", "Server commands, XFetch + lease:", " mget\n", " evalsha\n", server.Addr,
	} {
		require.Contains(t, stdout, want)
	}
	require.NotContains(t, stdout, "NaN")
	require.Empty(t, server.Do("KEYS", "*"), "nothing may be left on a server that goes on")
}

// Programs read these names.
func TestMain_jsonHasTheseFields(t *testing.T) {
	setup := []string{
		"server", "setup.delta_s", "setup.duration_s", "setup.instances", "setup.keys", "setup.near_s",
		"setup.rate", "setup.readers", "setup.seed", "setup.ttl_s",
	}
	latency := func(of string) []string {
		return []string{of + ".max_ms", of + ".p50_ms", of + ".p999_ms", of + ".p99_ms"}
	}
	under := func(name string, fields ...string) []string {
		for i := range fields {
			fields[i] = name + "." + fields[i]
		}
		return fields
	}
	redistest.Need(t)
	for _, c := range []struct {
		args   string
		fields [][]string
	}{
		{"-json", [][]string{setup, latency("rungs"), under("rungs", "name", "reads", "errors", "loads", "loads_per_generation",
			"most_at_once", "published", "waited", "late_p99_ms", "round_trips", "round_trips_per_read", "tier_errors", "server_commands.*")}},
		{"-json -cold", [][]string{setup, latency("cold"), latency("cold.wake_up"), under("cold", "name", "keys", "reads", "errors",
			"loads_per_key", "most_at_once", "woken", "round_trips_per_read", "server_commands.*")}},
		{"-json -hot", [][]string{setup, latency("hot"), latency("hot.stale"), under("hot", "name", "reads", "errors", "busiest_share",
			"in_process_share", "hot_reads", "late_p99_ms", "hot_in", "hot_after_ms", "state_changes", "changes", "tier_errors"),
			under("hot.masters", "addr", "questions_per_s", "commands_per_s")}},
		{"-json -outage kill", [][]string{setup, {"outage.all_again_ms", "outage.first_again_ms", "outage.kind", "outage.tier_errors"},
			latency("outage.parts"), under("outage.parts", "name", "reads", "errors", "waited", "loads", "loads_per_second", "busiest_second",
				"most_at_once", "most_at_once_in_one_cache", "added_p99_ms", "added_max_ms", "late_p99_ms")}},
	} {
		code, stdout, stderr := command(strings.Fields(c.args)...)
		require.Zero(t, code, stderr)
		var got any
		require.NoError(t, json.Unmarshal([]byte(stdout), &got), stdout)
		want := slices.Concat(c.fields...)
		slices.Sort(want)
		require.Equal(t, want, fieldsOf(got), c.args)
	}
}

// fieldsOf returns the paths of all that is not an object or a list of them.
func fieldsOf(of any) []string {
	all := map[string]bool{}
	var walk func(path string, of any)
	walk = func(path string, of any) {
		switch of := of.(type) {
		case map[string]any:
			for name, x := range of {
				switch {
				case path == "": // the top
					walk(name, x)
				case strings.HasSuffix(path, "server_commands"):
					walk(path+".*", x)
				default:
					walk(path+"."+name, x)
				}
			}
			return
		case []any:
			for _, x := range of {
				if _, ok := x.(map[string]any); ok {
					walk(path, x)
				} else {
					all[path] = true
				}
			}
			if len(of) > 0 {
				return
			}
		}
		if !strings.HasSuffix(path, ".first_error") { // only where there was one
			all[path] = true
		}
	}
	walk("", of)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

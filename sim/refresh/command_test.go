package refresh

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// command is Main with small sizes unless args say otherwise.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(append([]string{"-expiries", "500", "-events", "50000", "-draws", "1000", "-workers", "1"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestMain_badInputIsOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-rate NaN":                           "-rate",
		"-rate -1":                            "-rate",
		"-rate 0":                             "-rate",
		"-rate +Inf":                          "-rate",
		"-rate ten":                           "-rate",
		"-delta 0s":                           "-delta",
		"-delta -1s":                          "-delta",
		"-delta 2":                            "-delta",
		"-ttl 399ms":                          "-ttl 399ms is shorter than -delta 400ms",
		"-ttl -1m":                            "-ttl",
		"-ttl 10000h":                         "-ttl",
		"-jitter 1.1":                         "-jitter",
		"-jitter NaN":                         "-jitter",
		"-beta NaN":                           "-beta",
		"-beta -0.1":                          "-beta",
		"-beta 1e300":                         "-beta",
		"-beta 1e-9":                          "-beta",
		"-cost lognormal:-1":                  "SIGMA",
		"-cost pareto:0.9":                    "no mean",
		"-cost bell":                          "must be one of",
		"-rule paper":                         "-rule must be classic or deadline",
		"-estimator first":                    "-estimator must be last or ewma",
		"-stored -1s":                         "-stored",
		"-known -1":                           "-known",
		"-reach 2":                            "-reach",
		"-known NaN":                          "-known",
		"-instances 0":                        "-instances",
		"-instances -3":                       "-instances",
		"-instances 1.5":                      "-instances",
		"-instances 99999999999":              "-instances",
		"-coordination all":                   "-coordination must be none or singleflight or lease",
		"-roundtrip -1ms":                     "-roundtrip",
		"-lag 2m":                             "-lag",
		"-skew -1s":                           "-skew",
		"-step 1h":                            "-step",
		"-expiries 1":                         "-expiries",
		"-expiries 3000000000":                "-expiries",
		"-events -1":                          "-events",
		"-keys 0":                             "-keys",
		"-keys -5":                            "-keys",
		"-duration -1s":                       "-duration",
		"-duration 24h":                       "give one of them",
		"-keys 1000000000":                    "too many",
		"-draws 0":                            "-draws",
		"-seed -1":                            "-seed",
		"-workers 0":                          "-workers",
		"-rate 1e12 -delta 1h -ttl 2h":        "-rate",
		"-rate 1e7 -beta 0.01":                "loads per expiry",
		"-rate 1e9 -delta 1s -ttl 1s":         "loads per expiry",
		"-rate 1e9 -delta 1s -ttl 1s -beta 9": "loads per expiry",
		"-rate 1e8 -ttl 1ms -delta 1ms -jitter 1 -expiries 2000000000": "is the most",
		"-unknown": "-unknown",
		"refresh":  `"refresh"`,
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
	for _, flag := range []string{"-rate", "-delta", "-cost", "-ttl", "-beta", "-rule", "-instances", "-coordination", "-seed", "-json"} {
		require.Contains(t, stdout, "\n  "+flag)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestMain_lostOutputFails(t *testing.T) {
	for _, format := range []string{"-json=false", "-json"} {
		var stderr bytes.Buffer
		code := Main([]string{"-expiries", "2", "-events", "0", "-draws", "2", format}, brokenPipe{}, &stderr)
		require.Equal(t, 1, code)
		require.Contains(t, stderr.String(), "broken pipe")
	}
}

func TestMain_textIsAligned(t *testing.T) {
	for _, args := range []string{"-rate 100 -delta 1s -beta 0.5 -instances 1", "-rate 3 -events 0", "-rate 1e6 -rule deadline"} {
		code, stdout, stderr := command(strings.Fields(args)...)
		require.Zero(t, code)
		require.Empty(t, stderr)
		widths := map[int]bool{}
		for line := range strings.Lines(stdout) {
			if strings.HasPrefix(line, "  share") || strings.HasPrefix(line, "  loads") || strings.HasPrefix(line, "    started") {
				widths[len([]rune(line))] = true
			}
		}
		require.Len(t, widths, 1, stdout)
	}
}

func TestMain_jsonSaysTheSame(t *testing.T) {
	args := strings.Fields("-json -rate 10 -delta 1s -instances 4")
	code, stdout, _ := command(args...)
	require.Zero(t, code)
	decode := func(text string) (r reportJSON) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&r))
		r.Seconds, r.Event.Seconds = 0, 0
		return r
	}
	got := decode(stdout)
	require.Equal(t, 10.0, got.Setup.Rate)
	require.Equal(t, 1.0, got.Setup.DeltaS)
	require.InDelta(t, 2.7056, *got.Theory, 1e-4)
	require.Equal(t, 500, got.Expiries)
	require.InDelta(t, *got.Theory, got.Event.MeanLoads, 5*got.Event.StdErr)
	require.Less(t, *got.EnginesZ, 5.0)
	_, stdout, _ = command(append(args, "-workers", "3")...)
	require.Equal(t, got, decode(stdout))

	_, stdout, _ = command("-json", "-coordination", "singleflight", "-events", "0")
	for _, field := range []string{"mean_loads", "stderr", "theory", "p_late", "p_late_theory", "gap_s", "gap_theory_s",
		"loads_hist", "equivalent_reads", "seconds"} {
		require.Contains(t, stdout, "\n  \""+field+`": `)
	}
	require.Contains(t, stdout, `"event": null`)
	require.Contains(t, stdout, `"early_theory": null`)
}

func TestMain_notesSayWhenTheoryIsSilent(t *testing.T) {
	for args, want := range map[string]string{
		"-ttl 400ms":              "ttl is short",
		"-beta 0":                 "nothing is refreshed early",
		"-rate 1":                 "reads/s",
		"-beta 0.01 -delta 1s":    "no read rate would help",
		"-rate 1e6":               "-events 5.5e+08 lets it",
		"-rate 1e9":               "per instance",
		"-delta 3s -stored 500ms": "6 times what is remembered",
	} {
		code, stdout, stderr := command(strings.Fields(args)...)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "Note: ", args)
		require.Contains(t, stdout, want, args)
	}
	_, stdout, _ := command("-rate", "100")
	require.NotContains(t, stdout, "Note")
	_, stdout, _ = command("-ttl", "400ms", "-json")
	require.Contains(t, stdout, `"theory": null`)
}

// A day of a hundred thousand keys is a day of each, at their mean life.
func TestParse_keysAndDurationMakeExpiries(t *testing.T) {
	for args, want := range map[string]int{
		"-expiries 300":                        300,
		"-expiries 300 -keys 7":                2100,
		"-duration 24h -rate 10 -keys 100000":  144_000_000,
		"-duration 24h -rate 10":               1440,
		"-duration 24h -rate 10 -jitter 0.2":   1600,
		"-duration 1s":                         2,
		"-duration 2h -rate 0.001 -keys 12345": 83_000,
	} {
		s, _, err := parse(strings.Fields(args), brokenPipe{})
		require.NoError(t, err)
		require.InEpsilon(t, want, s.Expiries, 0.02, args)
	}
}

func TestWatch_saysHowLongBeforeItStarts(t *testing.T) {
	var out bytes.Buffer
	watch := NewWatch(&out)
	s := Default
	slow := blocks{expiries: 1_000_000, size: 1000}
	slow.make = s.thinnedBlocks(&clocks{}).make
	slow.expiries = 1 << 30
	require.NoError(t, watch.announce(s, slow))
	require.Contains(t, out.String(), "this will take about")
	out.Reset()
	require.NoError(t, watch.announce(s, blocks{expiries: 2, size: 1, make: slow.make}))
	require.Empty(t, out.String())
}

func TestSetup_commandPlaysTheSame(t *testing.T) {
	s := hot(100, 1.5)
	s.Cost, s.Coordination, s.RoundTrip, s.TTL = CostOf("twopoint:0.1,9.1"), Lease, 1500*time.Millisecond, 20*time.Second
	s.Skew, s.Rule, s.Reach, s.Inline = 100*time.Second, Deadline, 0.5, true
	s.Skew = time.Hour
	s.TTL = 2 * time.Hour
	line, _ := strings.CutPrefix(s.Command(), "sim refresh ")
	got, _, err := parse(strings.Fields(line), brokenPipe{})
	require.NoError(t, err, line)
	require.Equal(t, s.Command(), got.Command())
	require.Equal(t, s.TTL, got.TTL)
	require.Equal(t, s.RoundTrip, got.RoundTrip)
	require.Equal(t, "sim refresh", Default.Command())
	s = Default
	s.Delta, s.TTL = 10*time.Second, 2*time.Minute
	require.Equal(t, "sim refresh -delta=10s -ttl=2m", s.Command())
}

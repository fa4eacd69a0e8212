package main

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	p, err := parse([]string{"-procs", "1,4", "-count", "3", "-benchtime", "300ms", "-rows", "reject|miss", "-json"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 4}, p.procs)
	require.Equal(t, 3, p.count)
	require.Equal(t, 300*time.Millisecond, p.benchtime)
	require.True(t, p.json)
	require.Equal(t, []string{"reject", "miss"}, []string{p.rows[0].name, p.rows[1].name})

	p, err = parse(nil)
	require.NoError(t, err)
	require.Len(t, p.rows, len(rows))
	require.Equal(t, 10, p.count)
	require.Equal(t, []int{1, 2}, p.procs)
}

func TestParse_refusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{
		{"-procs", "0"}, {"-procs", "1,,2"}, {"-procs", "two"}, {"-count", "0"}, {"-benchtime", "-1s"},
		{"-benchtime", "0s"}, {"-rows", "("}, {"-rows", "nosuchrow"}, {"-nosuchflag"}, {"stray"},
	} {
		_, err := parse(args)
		require.Error(t, err, args)
		require.NotErrorIs(t, err, flag.ErrHelp)
	}
}

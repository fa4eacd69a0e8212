package main

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	p, err := parse([]string{
		"-procs", "1,4", "-count", "3", "-benchtime", "300ms", "-rows", "reject|miss", "-json",
		"-keys", "1000,2000", "-zipf", "0.9,uniform", "-value", "16,200", "-entries", "5000", "-requests", "700",
	}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []int{1, 4}, p.procs)
	require.Equal(t, 3, p.count)
	require.Equal(t, 300*time.Millisecond, p.benchtime)
	require.True(t, p.json)
	require.Equal(t, []string{"reject", "miss"}, []string{p.rows[0].name, p.rows[1].name})
	require.Equal(t, 5000, p.entries)
	require.Equal(t, 700, p.requests)

	var labels []string
	for _, v := range p.combinations() {
		labels = append(labels, v.label)
	}
	require.Len(t, labels, 8)
	require.Equal(t, "1000 keys, Zipf 0.9, values of 16 bytes", labels[0])
	require.Equal(t, "2000 keys, uniform, values of 200 bytes", labels[7])
	require.Len(t, p.variantsOf(rowNamed(t, "hit")), 8)
	require.Len(t, p.variantsOf(rowNamed(t, "miss")), 1)

	p, err = parse(nil, io.Discard)
	require.NoError(t, err)
	require.Len(t, p.rows, len(rows))
	require.Equal(t, 10, p.count)
	require.Equal(t, []int{1, 2}, p.procs)
	require.Len(t, p.combinations(), 1)
}

func TestParse_refusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{
		{"-procs", "0"}, {"-procs", "1,,2"}, {"-procs", "two"}, {"-count", "0"}, {"-benchtime", "-1s"},
		{"-benchtime", "0s"}, {"-benchtime", "2h"}, {"-rows", "("}, {"-rows", "nosuchrow"}, {"-nosuchflag"}, {"stray"},
		{"-keys", "1"}, {"-keys", "1e9"}, {"-zipf", "NaN"}, {"-zipf", "-1"}, {"-zipf", "flat"}, {"-value", "8"},
		{"-keys", "100000000", "-value", "1048576"}, {"-entries", "0"}, {"-requests", "-1"},
		{"-trace", "no such file"}, {"-procs", strings.Repeat("1,", 70) + "1"},
	} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
		require.NotErrorIs(t, err, flag.ErrHelp)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestParse_helpListsTheFlags(t *testing.T) {
	var help strings.Builder
	_, err := parse([]string{"-h"}, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{"-rows", "-trace", "-keys", names()} {
		require.Contains(t, help.String(), name)
	}
}

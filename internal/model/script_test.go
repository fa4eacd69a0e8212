package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse_readsBackWhatStringWrites(t *testing.T) {
	for _, p := range Profiles() {
		for seed := range uint64(5) {
			s := Generate(p, seed)
			back, err := Parse(s.String())
			require.NoError(t, err, "%s, seed %d", p.Name, seed)
			require.Equal(t, s, back, "%s, seed %d", p.Name, seed)
		}
	}
}

func TestParse_readsTheErrorOfAFailedRun(t *testing.T) {
	s := Generate(usual("plain"), 1)
	h := &History{Reads: []*Read{{ID: 1, Verb: Get, Key: "k0", Span: Span{Start: Stamp{Seq: 1}}}}}
	failed := &Broken{Promise: Truth, Detail: "it was not", Script: s, History: h}

	said := "--- FAIL: TestModel\n    model_test.go:1: " + failed.Error() + "FAIL\nexit status 1\n"
	back, err := Parse(said)
	require.NoError(t, err)
	require.Equal(t, s, back)
}

func TestParse_namesTheLineItCannotRead(t *testing.T) {
	for _, bad := range []string{
		"client",
		"client 0 wait=soon get k0",
		"client 0 wait=1s fetch k0",
		"client x wait=1s get k0",
		"client 0 wait=1s get k0 ctx=never",
		"load k0 take=1s end=maybe",
		"load k0 slowly",
		"load",
		"profile unheard-of",
		"seed one",
		"so it goes",
	} {
		_, err := Parse("profile plain\n\n" + bad + "\n")
		require.ErrorContains(t, err, "line 3", bad)
	}
	_, err := Parse("# nothing\n")
	require.ErrorContains(t, err, "no profile")
}

func TestGenerate_dependsOnItsSeedAlone(t *testing.T) {
	p := usual("plain")
	require.Equal(t, Generate(p, 7), Generate(p, 7))
	require.NotEqual(t, Generate(p, 7), Generate(p, 8))
}

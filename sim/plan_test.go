package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSim_plans(t *testing.T) {
	code, stdout, stderr := sim(t, "", "plan", "-rate", "50")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "earlybird.Options[V]{")

	code, stdout, stderr = sim(t, "", "plan", "-rate", "none")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "sim plan: ")

	code, stdout, _ = sim(t, "", "-h")
	require.Zero(t, code)
	require.Contains(t, stdout, "sim plan")
}

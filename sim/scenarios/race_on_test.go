//go:build race

package scenarios

// The race detector makes the engines ten times slower.
const raceSlowdown = 10

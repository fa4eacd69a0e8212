//go:build !race

package scenarios

const raceSlowdown = 1

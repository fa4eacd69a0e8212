//go:build !race

package earlybird_test

const underRace = false

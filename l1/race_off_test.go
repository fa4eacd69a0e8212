//go:build !race

package l1

const underRace = false

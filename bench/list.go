package main

import (
	"fmt"
	"strconv"
	"strings"
)

// mostElements bounds what a list flag may hold: each makes a table.
const mostElements = 64

// listOf returns what sets list from a flag's elements, separated by commas.
func listOf[T any](list *[]T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		elements := strings.SplitN(s, ",", mostElements+1)
		if len(elements) > mostElements {
			return fmt.Errorf("has more than %d elements", mostElements)
		}
		*list = nil
		for _, e := range elements {
			x, err := parse(e)
			if err != nil {
				return err
			}
			*list = append(*list, x)
		}
		return nil
	}
}

// number returns a parser of numbers within bounds.
func number(least, most int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%q is not a number from %d to %d", s, least, most)
		}
		return n, nil
	}
}

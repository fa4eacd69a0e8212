// Package operations lets a fuzzer write scripts for the cache's model test: bytes become
// operations of clients and behaviours of loads, which package model plays on a real cache
// in virtual time and judges.
//
// The bytes do not spell operations. They pick them out of those that the model's own
// generator makes for a profile, so that whatever the model learns to do is done here
// too, in orders and at moments of the fuzzer's choosing.
package operations

import (
	"time"

	"github.com/earlybird-cache/earlybird/internal/model"
)

const (
	longest = 150 // records of a script: more are slow and say little
	clients = 6
)

// Decode returns the script that data stands for. The first byte is the profile. Then comes
// a record of four bytes for each operation and for each load's behaviour: which of the two
// it is and whose operation, how long to wait before it, and two bytes for what it is. Every
// data stands for a script; what is missing at its end is zeros, and what is too much is
// ignored.
func Decode(data []byte) model.Script {
	in := input(data)
	a := pick(alphabets(), in.next())
	s := model.Script{Profile: a.profile, Seed: 1, Ops: []model.Op{a.founding}}
	for range longest {
		if len(in) == 0 {
			break
		}
		kind, wait := in.next(), in.next()
		choice := in.next() + in.next()<<8
		if kind%4 == 0 {
			s.Plans = append(s.Plans, pick(a.plans, choice))
			continue
		}
		o := pick(a.ops, choice)
		o.Client, o.Wait = kind/4%clients, pick(waits, wait)
		s.Ops = append(s.Ops, o)
	}
	return s
}

// waits are what clients wait before they act. Much is to happen at one instant, or at the
// edge of a life, of a load timeout or of another's load.
var waits = []time.Duration{
	0, 0, 0, 1, time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 450 * time.Millisecond,
	500 * time.Millisecond, 900 * time.Millisecond, time.Second - 1, time.Second,
}

// input is the bytes that are still to be read.
type input []byte

// next returns the next byte, 0 after the last.
func (in *input) next() int {
	if len(*in) == 0 {
		return 0
	}
	b := (*in)[0]
	*in = (*in)[1:]
	return int(b)
}

func pick[T any](from []T, i int) T { return from[i%len(from)] }

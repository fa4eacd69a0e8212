package storetest_test

import (
	"testing"
	"time"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

func opener(opts storetest.Options[*storetest.Item]) func(t *testing.T) func() store.Store[*storetest.Item] {
	opts.Clone = storetest.CloneItem
	return func(t *testing.T) func() store.Store[*storetest.Item] {
		m := storetest.NewMemory(opts)
		return func() store.Store[*storetest.Item] { return m.Client() }
	}
}

func TestMemory_keepsTheContract(t *testing.T) {
	patient := storetest.Options[*storetest.Item]{Budget: 10 * time.Second} // for a busy machine
	storetest.Suite{Open: opener(patient)}.Run(t)
}

func TestMemory_keepsTheContractInVirtualTime(t *testing.T) {
	slow := storetest.Options[*storetest.Item]{Latency: 300 * time.Microsecond, Jitter: time.Millisecond}
	storetest.Suite{Open: opener(slow), Virtual: true}.Run(t)
}

func TestMemory_keepsTheContractWithSharedLeases(t *testing.T) {
	shared := storetest.Options[*storetest.Item]{SharedLeases: true}
	storetest.Suite{Open: opener(shared), Virtual: true, SharedLeases: true}.Run(t)
}

package operations

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/model"
)

// play runs a script in a bubble of its own. A bubble that is left with goroutines in it
// panics, and then the script must still be told.
func play(t *testing.T, s model.Script) (saw model.Coverage) {
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("broken promise: %s\n# %v\n%s", model.Closed, p, s)
		}
	}()
	var err error
	synctest.Test(t, func(*testing.T) { saw, err = model.Run(s) })
	if err != nil {
		t.Fatalf("%v", err)
	}
	return saw
}

// random is data for a script of n records of the i-th profile.
func random(rng *rand.Rand, i, n int) []byte {
	data := make([]byte, 1+4*n)
	for j := range data {
		data[j] = byte(rng.Uint32())
	}
	data[0] = byte(i)
	return data
}

// FuzzOperations looks for a script on which the cache breaks a promise. The error's text
// can be given to the model test with -model.replay.
func FuzzOperations(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 0))
	f.Add([]byte(nil))
	for i := range alphabets() {
		f.Add(random(rng, i, 60))
	}
	f.Fuzz(func(t *testing.T, data []byte) { play(t, Decode(data)) })
}

func TestDecode_reachesAllThatTheModelDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	verbs, plans := make(map[model.Verb]bool), 0
	for i := range alphabets() {
		for range 20 {
			s := Decode(random(rng, i, longest))
			plans += len(s.Plans)
			for _, o := range s.Ops {
				verbs[o.Verb] = true
			}
		}
	}
	for _, p := range model.Profiles() {
		for _, o := range model.Generate(p, 1).Ops {
			require.True(t, verbs[o.Verb], o.Verb)
		}
	}
	require.Positive(t, plans)
}

// Random data brings the cache into most of the situations that the model knows, so it is
// worth the fuzzer's while.
func TestDecode_findsSituations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	saw := make(model.Coverage)
	for i := range alphabets() {
		for range 2 {
			saw.Add(play(t, Decode(random(rng, i, longest))))
		}
	}
	require.Less(t, len(saw.Missing()), len(model.Situations)/3, "%v", saw.Missing())
}

func TestDecode_takesAnyData(t *testing.T) {
	require.Len(t, Decode(nil).Ops, 1, "the rows are created")
	require.Len(t, Decode([]byte{0, 1}).Ops, 2, "zeros make up for what is missing")
	long := Decode(make([]byte, 10_000))
	require.Equal(t, longest+1, len(long.Ops)+len(long.Plans))
	require.Equal(t, Decode([]byte{3, 7, 1, 2, 3}), Decode([]byte{3, 7, 1, 2, 3}))
}

// FuzzScript holds the text of scripts to what a replay needs: what can be parsed is
// written so that it parses as the same.
func FuzzScript(f *testing.F) {
	rng := rand.New(rand.NewPCG(4, 0))
	for i := range alphabets() {
		f.Add(Decode(random(rng, i, 10)).String()) // short ones are sooner varied
	}
	f.Add("profile plain\nseed 1\nload k0 take=1s nest=k1 end=ok\nclient 0 wait=0s creating k0 k1 take=5ms fails\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := model.Parse(text)
		if err != nil {
			return
		}
		again, err := model.Parse(s.String())
		if err != nil || fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", s) {
			t.Fatalf("%v\n%#v\nbecomes\n%#v", err, s, again)
		}
	})
}

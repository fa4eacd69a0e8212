package watches_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/watches"
)

// heard is what a list has told.
type heard struct {
	keys []string
	lost int
}

func listen(bound int) (*watches.List, *heard) {
	l, h := watches.New(bound), &heard{}
	l.Notify(func(key string) { h.keys = append(h.keys, key) }, func() { h.lost++ })
	return l, h
}

// watch begins and ends a watch of key, in group 0.
func watch(l *watches.List, key string) bool {
	return l.End(l.Begin(key, 0), true, time.Minute)
}

func TestList_aWatchIsUsedUp(t *testing.T) {
	l, h := listen(10)
	require.True(t, watch(l, "k"))
	l.Changed("k")
	l.Changed("k")
	l.Changed("other")
	require.Equal(t, []string{"k"}, h.keys)
	require.True(t, watch(l, "k"))
	l.Changed("k")
	require.Equal(t, []string{"k", "k"}, h.keys)
}

func TestList_toldBeforeTheAnswer(t *testing.T) {
	for name, tell := range map[string]func(*watches.List){
		"changed":      func(l *watches.List) { l.Changed("k") },
		"group":        func(l *watches.List) { l.ChangedGroup(7) },
		"lost":         (*watches.List).Lost,
		"forgotten":    func(l *watches.List) { l.Forget("k") },
		"closed":       (*watches.List).Close,
		"and reopened": func(l *watches.List) { l.Changed("k"); watch(l, "k") },
	} {
		l, _ := listen(10)
		w := l.Begin("k", 7)
		tell(l)
		require.False(t, l.End(w, true, time.Minute), name)
	}
}

// Two who watch a key at once share the watch, and one's failure is not the
// other's.
func TestList_watchesAreShared(t *testing.T) {
	l, h := listen(1)
	one, two := l.Begin("k", 0), l.Begin("k", 0)
	require.True(t, l.End(one, true, time.Minute))
	require.False(t, l.End(two, false, 0))
	l.Changed("k")
	require.Equal(t, []string{"k"}, h.keys)

	one, two = l.Begin("k", 0), l.Begin("k", 0)
	require.False(t, l.End(one, false, 0))
	require.True(t, l.End(two, true, time.Minute))
	l.Changed("k")
	require.Equal(t, []string{"k", "k"}, h.keys)

	require.False(t, l.End(l.Begin("k", 0), false, 0))
	n, _, _ := l.Counts()
	require.Zero(t, n)
}

func TestList_groupsAndLosses(t *testing.T) {
	l, h := listen(100)
	for i := range 9 {
		require.True(t, l.End(l.Begin(fmt.Sprint(i), i%3), true, time.Minute))
	}
	l.ChangedGroup(1)
	require.ElementsMatch(t, []string{"1", "4", "7"}, h.keys)
	l.ChangedGroup(1)
	require.Len(t, h.keys, 3)
	l.Lost()
	require.Equal(t, 1, h.lost)
	l.ChangedGroup(0)
	l.Changed("2")
	require.Len(t, h.keys, 3)
	n, told, losses := l.Counts()
	require.Zero(t, n)
	require.EqualValues(t, 3, told)
	require.EqualValues(t, 1, losses)
}

func TestList_isBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := listen(3)
		for i := range 3 {
			require.True(t, watch(l, fmt.Sprint(i)))
		}
		require.False(t, watch(l, "one too many"))
		require.True(t, watch(l, "2"), "there is room for what is there")
		l.Forget("2")
		require.True(t, watch(l, "3"))
		require.False(t, watch(l, "4"))
		time.Sleep(time.Minute + 1)
		for i := range 3 {
			require.True(t, watch(l, fmt.Sprint("late", i)), "what is over makes room")
		}
		require.False(t, watch(l, "one too many"))
	})
}

func TestList_withoutCallbacks(t *testing.T) {
	l := watches.New(10)
	require.False(t, watch(l, "k"))
	l.Changed("k")
	l.Lost()
}

// When Close has returned, no callback runs or begins.
func TestList_closeWaitsForCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over atomic.Bool
		l := watches.New(10)
		l.Notify(func(string) { time.Sleep(time.Second); over.Store(true) }, func() { t.Error("lost") })
		require.True(t, watch(l, "k"))
		require.True(t, watch(l, "l"))
		go l.Changed("k")
		synctest.Wait()
		l.Close()
		require.True(t, over.Load())
		l.Changed("l")
		l.Lost()
		require.False(t, watch(l, "k"))
	})
}

package redisstore

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// opened begins to look for the lane's server behind the callers.
func (t *tier) opened(l *lane, err error) {
	t.tally.Opened.Add(1)
	t.log(slog.LevelWarn, "a server does not answer and is left alone", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.probing || t.over {
		return
	}
	t.probing = true
	t.behind.Go(t.probe)
}

// probe asks the servers of open lanes, later each time, until none is open.
func (t *tier) probe() {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, longestPause) {
		if !sleep(t.ctx, jittered(pause)) || t.probed() {
			return
		}
		if t.probeOpen() {
			pause = 50 * time.Millisecond
			t.isBack()
		}
	}
}

// longestPause is between two questions to a server that does not answer: nobody
// reads from it for about as long after it is back.
const longestPause = 500 * time.Millisecond

// isBack has done at once what a server that was gone is owed.
func (t *tier) isBack() {
	t.overdue.Kick()
	t.left.Kick()
}

// probed ends the probing if no lane is open.
func (t *tier) probed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.lanes {
		if t.lanes[i].state.Load() == open {
			return false
		}
	}
	t.probing = false
	return true
}

// probeOpen asks for each open lane at the same time and reports whether one was
// answered.
func (t *tier) probeOpen() (answered bool) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range t.lanes {
		l := &t.lanes[i]
		if l.state.Load() != open {
			continue
		}
		all.Go(func() {
			if t.answers(l) {
				mu.Lock()
				answered = true
				mu.Unlock()
				t.log(slog.LevelInfo, "a server answers again", nil)
				l.resume(t.now())
			}
		})
	}
	all.Wait()
	return answered
}

// answers reports whether the server that failed last answers. It may take as
// long as a new connection does, which no reader could wait for.
func (t *tier) answers(l *lane) bool {
	ctx, cancel := context.WithTimeout(t.ctx, t.ConnectTimeout)
	defer cancel()
	c := t.link.client.Load()
	slot := uint16(l.slot.Load())
	answer := make(chan bool, 1)
	go func() { // ends when the library gives up, at the latest when it is closed
		command := c.B().Exists().Key(t.namespace.epochOf(slot)).Build()
		answer <- c.Do(ctx, command).NonRedisError() == nil
	}()
	select {
	case ok := <-answer:
		return ok
	case <-ctx.Done():
		return false
	}
}

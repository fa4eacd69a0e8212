// Package watches keeps the list of the keys that a store watches for its user,
// see [github.com/earlybird-cache/earlybird/store.Watcher].
package watches

import (
	"sync"
	"time"
)

// List is the keys that are watched. Make one with New. It is safe for
// concurrent use; callbacks are called outside of its lock.
type List struct {
	bound int

	mu      sync.Mutex
	changed func(key string) // nil before Notify
	lost    func()
	keys    map[string]*Watch
	groups  map[int]map[*Watch]struct{}
	closed  bool
	told    uint64
	losses  uint64
	calls   sync.WaitGroup // of callbacks
}

// Watch is one key on the list, shared by all who watch it now.
type Watch struct {
	key    string
	group  int
	asking int       // who have begun and not ended
	held   bool      // somebody has ended well
	until  time.Time // if held: when the last copy is of no use
	over   bool      // not on the list any more
}

// New returns an empty list of at most bound keys.
func New(bound int) *List {
	return &List{bound: bound, keys: make(map[string]*Watch), groups: make(map[int]map[*Watch]struct{})}
}

// Notify registers the callbacks.
func (l *List) Notify(changed func(key string), lost func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed, l.lost = changed, lost
}

// Begin puts key on the list, before the server is asked for it: its word may
// come before its reply does. Changes can be told of all keys of a group at once.
// Begin returns nil if the key cannot be watched; whatever it returns is given
// to End.
func (l *List) Begin(key string, group int) *Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil || l.closed {
		return nil
	}
	w := l.keys[key]
	if w == nil {
		if !l.roomLocked() {
			return nil
		}
		w = &Watch{key: key, group: group}
		l.keys[key] = w
		if l.groups[group] == nil {
			l.groups[group] = make(map[*Watch]struct{})
		}
		l.groups[group][w] = struct{}{}
	}
	w.asking++
	return w
}

// End says what came of the question. If ok, a copy that is good for life was
// got from a server that will tell; End reports whether it has not told yet.
func (l *List) End(w *Watch, ok bool, life time.Duration) (watched bool) {
	if w == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.asking--
	switch {
	case w.over:
		return false
	case ok:
		w.held = true
		if until := time.Now().Add(life); until.After(w.until) {
			w.until = until
		}
		return true
	case w.asking == 0 && !w.held:
		l.removeLocked(w)
	}
	return false
}

// Changed tells that key has changed, if it is watched.
func (l *List) Changed(key string) {
	l.mu.Lock()
	w := l.keys[key]
	if w == nil {
		l.mu.Unlock()
		return
	}
	l.tellLocked([]*Watch{w})
}

// ChangedGroup tells that all keys of a group have.
func (l *List) ChangedGroup(group int) {
	l.mu.Lock()
	ws := make([]*Watch, 0, len(l.groups[group]))
	for w := range l.groups[group] {
		ws = append(ws, w)
	}
	l.tellLocked(ws)
}

// tellLocked takes ws off the list, unlocks, and calls changed for each.
func (l *List) tellLocked(ws []*Watch) {
	for _, w := range ws {
		l.removeLocked(w)
	}
	l.told += uint64(len(ws))
	if !l.callsLocked() {
		return
	}
	defer l.calls.Done()
	for _, w := range ws {
		l.changed(w.key)
	}
}

// Lost takes all keys off the list and tells that.
func (l *List) Lost() {
	l.mu.Lock()
	for _, w := range l.keys {
		w.over = true
	}
	clear(l.keys)
	clear(l.groups)
	l.losses++
	if !l.callsLocked() {
		return
	}
	defer l.calls.Done()
	l.lost()
}

// callsLocked unlocks, and reports whether callbacks may be called.
func (l *List) callsLocked() bool {
	defer l.mu.Unlock()
	if l.closed || l.changed == nil {
		return false
	}
	l.calls.Add(1)
	return true
}

// Forget takes key off the list.
func (l *List) Forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.keys[key]; w != nil {
		l.removeLocked(w)
	}
}

// Close empties the list for good. When it returns no callback runs.
func (l *List) Close() {
	l.mu.Lock()
	l.closed = true
	for _, w := range l.keys {
		w.over = true
	}
	clear(l.keys)
	clear(l.groups)
	l.mu.Unlock()
	l.calls.Wait()
}

// Counts returns how many keys are on the list, how often a change was told, and
// how often that all may have changed.
func (l *List) Counts() (keys int, told, losses uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.keys), l.told, l.losses
}

// looks is how many keys are looked at for one whose watch has ended by itself.
const looks = 8

// roomLocked reports whether there is room for one more key. When the list is
// full it looks at a few, wherever they are, and takes off those that are over;
// what is over does not fill the list for long.
func (l *List) roomLocked() bool {
	if len(l.keys) < l.bound {
		return true
	}
	now, n := time.Now(), 0
	for _, w := range l.keys { // begins anywhere
		if w.asking == 0 && now.After(w.until) {
			l.removeLocked(w)
		}
		if n++; n == looks {
			break
		}
	}
	return len(l.keys) < l.bound
}

func (l *List) removeLocked(w *Watch) {
	w.over = true
	delete(l.keys, w.key)
	delete(l.groups[w.group], w)
	if len(l.groups[w.group]) == 0 {
		delete(l.groups, w.group)
	}
}

package redisstore

import (
	"context"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/store"
)

// splitOf reads {generation, n ...}: what a change has made void of key, and of
// what numbers there may be copies.
func splitOf(key string, m rueidis.RedisMessage, err error) (s burial.Split, _ error) {
	if err != nil {
		return s, err
	}
	parts, err := m.ToArray()
	if err != nil || len(parts) == 0 || len(parts) > store.MostCopies {
		return s, errNonsense
	}
	s.Key = key
	if s.Generation, err = generationOf(parts[0]); err != nil {
		return s, err
	}
	for _, p := range parts[1:] {
		n, err := p.ToInt64()
		if err != nil || n < 2 || n > store.MostCopies {
			return s, errNonsense
		}
		s.Of = append(s.Of, int(n))
	}
	return s, nil
}

// splitsOf reads {{name, {generation, n ...}} ...}, the names those of value keys.
// What is not ours is passed over.
func (t *tier) splitsOf(m rueidis.RedisMessage, err error) (splits []burial.Split, _ error) {
	if err != nil {
		return nil, err
	}
	all, err := m.ToArray()
	if err != nil {
		return nil, errNonsense
	}
	for _, one := range all {
		parts, err := one.ToArray()
		if err != nil || len(parts) != 2 {
			return nil, errNonsense
		}
		name, _, _ := text(parts[0])
		key, ok := t.namespace.userKeyOf(name)
		s, err := splitOf(key, parts[1], nil)
		if err != nil {
			return nil, err
		}
		if ok && len(s.Of) > 0 {
			splits = append(splits, s)
		}
	}
	return splits, nil
}

// bury leaves tombstones in all copies of splits, and returns the keys of which some could not be reached, and why for one.
func (t *tier) bury(ctx context.Context, splits []burial.Split) (failed []string, err error) {
	var work []job
	var whose []int
	for i, s := range splits {
		args := []string{strconv.FormatUint(uint64(s.Generation), 10), strconv.FormatInt(milliseconds(t.Tombstone), 10)}
		for _, n := range s.Of {
			for c := 1; c < n; c++ {
				work = append(work, job{keys: t.namespace.copyOf(s.Key, c, n), args: args})
				whose = append(whose, i)
			}
		}
	}
	bad := make([]bool, len(splits))
	for from := 0; from < len(work); from += batch {
		to := min(from+batch, len(work))
		replies, errs := t.runApart(ctx, buryScript, work[from:to], t.WriteTimeout)
		for i := range replies {
			if _, why := yes(replies[i], errs[i]); why != nil {
				bad[whose[from+i]], err = true, why
			}
		}
	}
	for i, s := range splits {
		if bad[i] {
			failed = append(failed, s.Key)
		}
	}
	return failed, err
}

// buryAgain is for the debts.
func (t *tier) buryAgain(ctx context.Context, splits []burial.Split) (failed []string) {
	failed, _ = t.bury(ctx, splits)
	return failed
}

// owed are the keys of which copies could not be told of a change, and those of
// them for which there was no room to try again.
type owed struct{ keys, lost []string }

func (o owed) tell(e *store.PendingError) {
	e.Keys = append(e.Keys, without(o.keys, o.lost)...)
	e.Lost = append(e.Lost, o.lost...)
}

// buryOrOwe is bury of what was just changed; what it can not do is tried again.
func (t *tier) buryOrOwe(ctx context.Context, splits []burial.Split) (o owed, err error) {
	if len(splits) == 0 {
		return o, nil
	}
	if o.keys, err = t.bury(ctx, splits); err == nil {
		return o, nil
	}
	var left []burial.Split
	for _, s := range splits {
		for _, key := range o.keys {
			if key == s.Key {
				left = append(left, s)
			}
		}
	}
	o.lost = t.debts.Add(left)
	return o, err
}

// tellCopies leaves tombstones in the copies of a key that was set.
func (t *tier) tellCopies(ctx context.Context, set burial.Split) error {
	if len(set.Of) == 0 {
		return nil
	}
	o, err := t.buryOrOwe(context.WithoutCancel(ctx), []burial.Split{set})
	if err == nil {
		return nil
	}
	e := &store.PendingError{Err: err}
	o.tell(e)
	return e
}

package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Acquire is that of [store.Store].
func (s *Store[V]) Acquire(ctx context.Context, key string, have store.Generation, life time.Duration) (store.Claim[V], error) {
	claim, err := s.acquire(ctx, key, have, life)
	s.tier.tally.Call(tally.Acquire, err)
	if err != nil {
		return store.Claim[V]{}, err
	}
	s.tier.tally.Claimed(claim.Outcome)
	return claim, nil
}

func (s *Store[V]) acquire(ctx context.Context, key string, have store.Generation, life time.Duration) (store.Claim[V], error) {
	if s.tier.overdue.Has(key) {
		if err := s.tier.forgetNow(ctx, key); err != nil {
			return store.Claim[V]{}, err
		}
	}
	claim, unreadable, err := s.ask(ctx, key, have, life)
	if unreadable > 0 { // then it is as if it were not there
		claim, _, err = s.ask(ctx, key, unreadable, life)
	}
	return claim, err
}

// ask runs the script once. If that finds a record which cannot be read, its
// generation is returned.
func (s *Store[V]) ask(ctx context.Context, key string, have store.Generation, life time.Duration) (_ store.Claim[V], unreadable store.Generation, err error) {
	k := s.tier.namespace.keysOf(key)
	token := rand.Text()
	m, err := s.tier.run(ctx, acquireScript, k, s.tier.Timeout,
		token,
		strconv.FormatInt(milliseconds(min(life, longest)), 10),
		strconv.FormatUint(min(uint64(have), mostGeneration-1), 10),
		digit(s.tier.SharedLeases))
	if err != nil {
		if !errors.Is(err, tally.ErrSkipped) && err != store.ErrClosed { // it may have been granted all the same
			s.tier.giveBack(key, token)
		}
		return store.Claim[V]{}, 0, err
	}
	parts, err := m.ToArray()
	if err != nil || len(parts) != 3 {
		return store.Claim[V]{}, 0, errNonsense
	}
	switch what, _, _ := text(parts[0]); what {
	case "found":
		return s.foundClaim(key, parts)
	case "busy":
		return busyClaim[V](parts)
	case "granted":
		return grantedClaim[V](key, parts)
	}
	return store.Claim[V]{}, 0, errNonsense
}

func (s *Store[V]) foundClaim(key string, parts []rueidis.RedisMessage) (store.Claim[V], store.Generation, error) {
	pttl, err := parts[1].ToInt64()
	if err != nil {
		return store.Claim[V]{}, 0, errNonsense
	}
	raw, _, err := text(parts[2])
	if err != nil {
		return store.Claim[V]{}, 0, err
	}
	h, _, err := parseHead(raw)
	if err != nil {
		return store.Claim[V]{}, 0, errNonsense // the script has verified it
	}
	r := s.open(key, raw, pttl, h.epoch)
	if r.Kind == store.Missing {
		return store.Claim[V]{}, h.generation, errNonsense
	}
	return store.Claim[V]{Outcome: store.Found, Record: r}, 0, nil
}

func busyClaim[V any](parts []rueidis.RedisMessage) (store.Claim[V], store.Generation, error) {
	left, err := parts[1].ToInt64()
	kind, _, _ := text(parts[2])
	if err != nil || left < 0 || left > milliseconds(longest) {
		return store.Claim[V]{}, 0, errNonsense
	}
	return store.Claim[V]{
		Outcome: store.Busy,
		Left:    max(time.Duration(left)*time.Millisecond, 1),
		Cooling: kind == "C",
	}, 0, nil
}

func grantedClaim[V any](key string, parts []rueidis.RedisMessage) (store.Claim[V], store.Generation, error) {
	generation, err := generationOf(parts[1])
	token, ok, _ := text(parts[2])
	if err != nil || !ok {
		return store.Claim[V]{}, 0, errNonsense
	}
	return store.Claim[V]{
		Outcome: store.Granted,
		Lease:   store.Lease{Key: key, Generation: generation, Token: token},
	}, 0, nil
}

// generationOf reads a generation that a script has chosen.
func generationOf(m rueidis.RedisMessage) (store.Generation, error) {
	s, _, _ := text(m)
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > mostGeneration {
		return 0, errNonsense
	}
	return store.Generation(n), nil
}

// Publish is that of [store.Store].
func (s *Store[V]) Publish(ctx context.Context, lease store.Lease, r store.Record[V]) error {
	body, keep, err := s.encode(lease.Key, r)
	if err != nil {
		return err
	}
	m, err := s.tier.run(ctx, publishScript, s.tier.namespace.keysOf(lease.Key), s.tier.WriteTimeout,
		lease.Token, stringOf(body), strconv.FormatInt(keep, 10))
	stored, err := yes(m, err)
	s.tier.tally.Call(tally.Publish, err)
	if err == nil && !stored {
		s.tier.tally.Lost.Add(1)
		return store.ErrLost
	}
	return err
}

// Set is that of [store.Store].
func (s *Store[V]) Set(ctx context.Context, key string, r store.Record[V]) (store.Generation, error) {
	body, keep, err := s.encode(key, r)
	if err != nil {
		return 0, err
	}
	mark := s.tier.overdue.Mark()
	m, err := s.tier.run(ctx, setScript, s.tier.namespace.changeKeysOf(key), s.tier.WriteTimeout,
		stringOf(body), strconv.FormatInt(keep, 10))
	split, err := splitOf(key, m, err)
	s.tier.tally.Call(tally.Set, err)
	if err != nil {
		return 0, err
	}
	s.tier.overdue.Confirm([]string{key}, mark)
	return split.Generation, s.tier.tellCopies(ctx, split)
}

// Fail is that of [store.Store].
func (s *Store[V]) Fail(ctx context.Context, lease store.Lease, coolDown time.Duration) error {
	err := s.tier.giveUp(ctx, lease.Key, lease.Token, coolDown)
	s.tier.tally.Call(tally.Fail, err)
	if errors.Is(err, store.ErrUnavailable) {
		s.tier.giveBack(lease.Key, lease.Token)
	}
	return err
}

// yes reads the reply of a script that answers 0 or 1.
func yes(m rueidis.RedisMessage, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := m.ToInt64()
	if err != nil || n < 0 || n > 1 {
		return false, errNonsense
	}
	return n == 1, nil
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

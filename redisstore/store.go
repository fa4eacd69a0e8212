package redisstore

import (
	"fmt"

	"github.com/earlybird-cache/earlybird/store"
)

// Store is one process's end of a tier on Redis. It is a [store.Store]; make one
// with New.
type Store[V any] struct {
	tier  *tier
	codec Codec[V]
}

var _ store.Store[int] = (*Store[int])(nil)

// New returns a Store for the tier that opts describe. The error, if any, is an
// *OptionError or a *LossError.
//
// New waits for the first connection, for at most ConnectTimeout. A server that
// is not there then is connected to behind the callers when it comes, and until
// then the tier is unavailable; [Store.Stats] tells why.
func New[V any](opts Options[V]) (*Store[V], error) {
	opts.fill()
	if err := opts.check(); err != nil {
		return nil, err
	}
	place, err := opts.placeOf()
	if err != nil {
		return nil, err
	}
	if opts.Codec == nil {
		if opts.Codec, err = defaultCodec[V](); err != nil {
			return nil, err
		}
	}
	s := &Store[V]{codec: opts.Codec, tier: newTier(opts.untyped(), place)}
	sleepOr(s.tier.link.first, opts.ConnectTimeout)
	return s, nil
}

// untyped returns o without what depends on V.
func (o *Options[V]) untyped() Options[struct{}] {
	return Options[struct{}]{
		Credentials: o.Credentials, ClientName: o.ClientName, Namespace: o.Namespace,
		MaxBytes: o.MaxBytes, CompressAbove: o.CompressAbove,
		Timeout: o.Timeout, WriteTimeout: o.WriteTimeout, ConnectTimeout: o.ConnectTimeout,
		Tombstone: o.Tombstone, SharedLeases: o.SharedLeases,
		MaxPending: o.MaxPending, MaxWatched: o.MaxWatched, MaxFacts: o.MaxFacts, MaxBlob: o.MaxBlob, MaxInFlight: o.MaxInFlight, FlushDelay: o.FlushDelay,
		Dial: o.Dial, Logger: o.Logger,
	}
}

// Stats is that of [store.Store].
func (s *Store[V]) Stats() store.Stats { return s.tier.stats() }

// Close is that of [store.Store].
func (s *Store[V]) Close() error {
	s.tier.close()
	return nil
}

// encode returns r as the body of a frame under key, and for how many
// milliseconds to keep it.
func (s *Store[V]) encode(key string, r store.Record[V]) (body []byte, keep int64, err error) {
	f := frame{
		key: key, codec: s.codec.ID(),
		life: min(r.Life, longest), grace: min(r.Grace, longest), delta: r.Delta, cost: r.Cost,
	}
	switch {
	case r.Life <= 0 || r.Grace < 0:
		err = fmt.Errorf("a life of %v and a grace of %v", r.Life, r.Grace)
	case r.Kind == store.Absent:
		f.flags = flagAbsent
	case r.Kind == store.Value:
		err = s.encodeValue(&f, r.Value)
	default:
		err = fmt.Errorf("a %v record", r.Kind)
	}
	if err != nil {
		s.tier.tally.RefusedValues.Add(1)
		return nil, 0, &store.ValueError{Key: key, Err: err}
	}
	return f.appendBody(make([]byte, 0, len(key)+len(f.payload)+64)), f.keep(), nil
}

func (s *Store[V]) encodeValue(f *frame, v V) (err error) {
	if f.payload, err = s.append(v); err != nil {
		return err
	}
	size, most, from := len(f.payload), s.tier.MaxBytes, s.tier.CompressAbove
	if size > most {
		return fmt.Errorf("%d bytes are more than the %d allowed", size, most)
	}
	if from >= 0 && size >= from {
		if packed, ok := pack(f.payload); ok {
			f.payload, f.flags = packed, f.flags|flagPacked
		}
	}
	return nil
}

// decode returns the value of a frame.
func (s *Store[V]) decode(f frame) (v V, err error) {
	if f.codec != s.codec.ID() {
		return v, errForeign
	}
	data := f.payload
	if f.flags&flagPacked != 0 {
		if data, err = unpack(data, s.tier.MaxBytes); err != nil {
			return v, err
		}
	}
	if len(data) > s.tier.MaxBytes {
		return v, errDamaged
	}
	return s.read(data)
}

// append and read are the codec's, whose panics are errors: it may be anybody's,
// and what it reads is written by others.
func (s *Store[V]) append(v V) (data []byte, err error) {
	defer caught(&err)
	return s.codec.Append(nil, v)
}

func (s *Store[V]) read(data []byte) (v V, err error) {
	defer caught(&err)
	return s.codec.Decode(data)
}

func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("redisstore: the codec panicked: %v", p)
	}
}

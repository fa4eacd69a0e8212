package main

import (
	"context"
	"slices"
	"strings"

	"github.com/earlybird-cache/earlybird"
)

// rejected is how many keys a row of rejections goes round.
const rejected = 1 << 13

func openLength(w *workload) (*trial, error) {
	return refusing(w, earlybird.ErrMalformedKey, malformed, func(shop) ([]string, error) {
		return []string{strings.Repeat("product:", 256)}, nil
	})
}

// openShape spoils the last byte, so that all others are looked at.
func openShape(w *workload) (*trial, error) {
	return refusing(w, earlybird.ErrMalformedKey, malformed, func(shop) ([]string, error) {
		asked := strangers()
		for i, key := range asked {
			asked[i] = key[:keyLen-1] + "x"
		}
		return asked, nil
	})
}

// openGuard asks for those strangers that the guard does not take for
// acquaintances.
func openGuard(w *workload) (*trial, error) {
	refused := func(s earlybird.Stats) uint64 { return s.Refused }
	return refusing(w, earlybird.ErrNotFound, refused, func(s shop) ([]string, error) {
		return slices.DeleteFunc(strangers(), s.guard.MayContain), nil
	})
}

func openNegative(w *workload) (*trial, error) {
	negative := func(s earlybird.Stats) uint64 { return s.NegativeHits }
	return refusing(w, earlybird.ErrNotFound, negative, func(s shop) ([]string, error) {
		asked := strangers()
		return asked, s.forget(asked)
	})
}

// refusing opens a trial of reads that a shop, full of its products, refuses.
func refusing(
	w *workload, want error, class func(earlybird.Stats) uint64, ask func(shop) ([]string, error),
) (*trial, error) {
	s, err := newShop(w.products, w.origin())
	if err != nil {
		return nil, err
	}
	asked, err := s.stocked(w.products, ask)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	ctx := context.Background()
	return &trial{
		keys: sequence(asked),
		do: func(key string) (string, bool) {
			v, err := s.Get(ctx, key)
			return v, err == want
		},
		count: func() int64 { return int64(class(s.Stats())) },
		each:  1,
		close: func() { _ = s.Close() },
	}, nil
}

// stocked has the shop load its products, and then returns what it is asked for.
func (s shop) stocked(products int, ask func(shop) ([]string, error)) ([]string, error) {
	for i := range products {
		if _, err := s.Get(context.Background(), keyOf(i)); err != nil {
			return nil, err
		}
	}
	return ask(s)
}

func malformed(s earlybird.Stats) uint64 { return s.Malformed }

func strangers() []string {
	keys := make([]string, rejected)
	for i := range keys {
		keys[i] = strangerOf(i)
	}
	return keys
}

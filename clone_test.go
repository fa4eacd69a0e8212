package earlybird

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClone_readersCannotTouchOneAnother(t *testing.T) {
	opts := plain[[]byte](time.Minute)
	opts.Clone = bytes.Clone
	mine := []byte("origin")
	c := newTidy(t, func(context.Context, string) ([]byte, error) { return mine, nil }, opts)
	spoil := func() {
		v := mustGet(t, c, "k")
		require.Equal(t, "origin", string(v))
		copy(v, "XXXXXX")
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(spoil)
	}
	wg.Wait()
	copy(mine, "YYYYYY")
	spoil()
	many, err := c.GetMany(t.Context(), []string{"k"})
	require.NoError(t, err)
	copy(many["k"], "ZZZZZZ")
	r, _ := c.Peek("k")
	require.Equal(t, "origin", string(r.Value))
	copy(r.Value, "XXXXXX")

	given := []byte("set by")
	require.NoError(t, c.Set(t.Context(), "k", given))
	copy(given, "XXXXXX")
	require.Equal(t, "set by", string(mustGet(t, c, "k")))
}

package earlybird

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A LoadMany that reads other keys and returns what that failed with fails. It
// says nothing of its own keys, least of all that there are none.
func TestNested_batchThatLacksAnotherKeyIsNotAbsent(t *testing.T) {
	for name, wrap := range map[string]func(error) error{
		"as it is": func(err error) error { return err },
		"wrapped":  func(err error) error { return fmt.Errorf("parts: %w", err) },
	} {
		t.Run(name, func(t *testing.T) {
			var c *Cache[string]
			calls := 0
			opts := plain[string](time.Hour)
			opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
				if keys[0] == "part" {
					return nil, nil
				}
				calls++
				_, err := c.GetMany(ctx, []string{"part", "parcel"})
				return nil, wrap(err)
			}
			c = newTidy(t, func(context.Context, string) (string, error) { return "", ErrNotFound }, opts)

			for range 2 {
				_, err := c.GetMany(t.Context(), []string{"a", "b"})
				var failed *ManyError
				require.ErrorAs(t, err, &failed)
				require.Len(t, failed.Errors, 2)
				for _, err := range failed.Errors {
					require.NotErrorIs(t, err, ErrNotFound)
					require.ErrorContains(t, err, "dependency not found")
				}
			}
			require.Equal(t, 2, calls, "an error is not remembered")
		})
	}
}

package redisstore

import (
	"encoding"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type inner struct {
	A int32
	B *string
}

type rich struct {
	inner
	Name   string `json:"name,omitempty"`
	Bytes  []byte
	Nil    []int
	Empty  []int
	Map    map[string]inner
	Ptr    *rich
	At     time.Time
	Took   time.Duration
	Float  float64
	Array  [3]uint8
	Nested [][]string
	Any    struct{}
	ByID   map[int64]*inner
}

func roundTrip[V any](t *testing.T, c Codec[V], v V) V {
	t.Helper()
	b, err := c.Append([]byte("before"), v)
	require.NoError(t, err)
	require.Equal(t, "before", string(b[:6]))
	got, err := c.Decode(b[6:])
	require.NoError(t, err)
	return got
}

func mustCodec[V any](t *testing.T) Codec[V] {
	t.Helper()
	c, err := defaultCodec[V]()
	require.NoError(t, err)
	return c
}

func TestCBOR_nothingIsLost(t *testing.T) {
	s := "not UTF-8: \xff"
	in := &rich{
		inner: inner{A: -5, B: &s}, Name: s, Bytes: []byte{0, 255}, Empty: []int{}, Map: map[string]inner{s: {A: 1}, "": {}},
		Ptr: &rich{Float: math.Inf(1)}, At: time.Date(2026, 12, 1, 1, 2, 3, 456789, time.FixedZone("", 3600)), Took: math.MinInt64,
		Float: math.SmallestNonzeroFloat64, Array: [3]uint8{1, 2, 3}, Nested: [][]string{nil, {}, {"x"}}, ByID: map[int64]*inner{-1: nil, 2: {}},
	}
	got := roundTrip(t, mustCodec[*rich](t), in)
	require.True(t, in.At.Equal(got.At))
	require.True(t, in.Ptr.At.Equal(got.Ptr.At))
	got.At, got.Ptr.At = in.At, in.Ptr.At
	require.Equal(t, in, got)
}

// One rule for nil: it is a value, whatever the codec.
func TestCodecs_nilIsAValue(t *testing.T) {
	require.Nil(t, roundTrip(t, mustCodec[*rich](t), nil))
	require.Nil(t, roundTrip(t, mustCodec[map[string]int](t), nil))
	require.Nil(t, roundTrip(t, mustCodec[[]byte](t), nil))
	require.Equal(t, []byte{}, roundTrip(t, mustCodec[[]byte](t), []byte{}))
	require.Nil(t, roundTrip(t, JSON[*rich](), nil))
	require.Nil(t, roundTrip[any](t, JSON[any](), (*rich)(nil)), "a typed nil in an interface comes back as nil")
	require.Equal(t, "", roundTrip(t, mustCodec[string](t), ""))
	require.Equal(t, []string{}, roundTrip(t, mustCodec[[]string](t), []string{}))
	require.Nil(t, roundTrip(t, mustCodec[[]string](t), nil))
}

type (
	secretive struct {
		Pass string `json:"-"`
	}
	private  struct{ hidden int }
	shadowed struct {
		inner
		A string
	}
	omitting struct {
		L []int `json:",omitempty"`
	}
	linked   struct{ Next *linked }
	recovers struct{ hidden string }
)

func (r recovers) MarshalBinary() ([]byte, error)  { return []byte(r.hidden), nil }
func (r *recovers) UnmarshalBinary(b []byte) error { r.hidden = string(b); return nil }

var _ encoding.BinaryMarshaler = recovers{}

func lossIn[V any](t *testing.T, where string) {
	t.Helper()
	_, err := defaultCodec[V]()
	var loss *LossError
	require.ErrorAs(t, err, &loss)
	require.Contains(t, loss.Path+": "+loss.Reason, where)
	require.Contains(t, err.Error(), loss.Type.String())
}

func TestCBOR_refusesTypesItWouldLoseSomethingOf(t *testing.T) {
	lossIn[secretive](t, "Pass: tagged")
	lossIn[*private](t, "hidden: not exported")
	lossIn[map[string][]private](t, "[].[].hidden")
	lossIn[struct{ P *struct{ Q secretive } }](t, "P.Q.Pass")
	lossIn[shadowed](t, "A: hidden by")
	lossIn[omitting](t, "L: omitempty")
	lossIn[any](t, "an interface")
	lossIn[struct{ E error }](t, "E: an interface")
	lossIn[func()](t, "a func")
	lossIn[struct{ C chan int }](t, "C: a chan")
	lossIn[**int](t, "a pointer to a pointer")
	lossIn[map[*int]int](t, "key")

	for _, err := range []error{errOf[rich](), errOf[linked](), errOf[time.Time](), errOf[recovers](), errOf[[]*linked]()} {
		require.NoError(t, err)
	}
	require.Equal(t, recovers{"kept"}, roundTrip(t, mustCodec[recovers](t), recovers{"kept"}))
}

func errOf[V any]() error { _, err := defaultCodec[V](); return err }

// A value that contains itself would be followed for ever, until the stack takes
// the process with it.
func TestCBOR_refusesCycles(t *testing.T) {
	loop := &linked{}
	loop.Next = &linked{Next: loop}
	c := mustCodec[*linked](t)
	_, err := c.Append(nil, loop)
	require.ErrorIs(t, err, errDeep)

	chain := (*linked)(nil)
	for range 50 {
		chain = &linked{chain}
	}
	require.Equal(t, chain, roundTrip(t, c, chain))
}

func TestDecode_survivesWhatItIsGiven(t *testing.T) {
	c := mustCodec[*rich](t)
	for _, data := range []string{
		"", "\xff", "\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", "\xbb\x7f\xff\xff\xff\xff\xff\xff\xff", "\x5b\x7f\xff\xff\xff\xff\xff\xff\xff",
		strings.Repeat("\x81", 100000), "\x9f", "{\"json\":1}", "\xa1dNamea",
	} {
		_, err := c.Decode([]byte(data))
		require.Error(t, err, "%.20q", data)
	}
	_, err := JSON[rich]().Decode([]byte("{"))
	require.Error(t, err)
	_, err = bytesCodec{}.Decode([]byte{2})
	require.ErrorIs(t, err, errDamaged)
}

func FuzzCBOR(f *testing.F) {
	c, err := defaultCodec[*rich]()
	if err != nil {
		f.Fatal(err)
	}
	sample, _ := c.Append(nil, &rich{Name: "x", Map: map[string]inner{"a": {}}, Ptr: &rich{}})
	f.Add(sample)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := c.Decode(data)
		if err != nil {
			return
		}
		if b, err := c.Append(nil, v); err == nil {
			_, err = c.Decode(b)
			require.NoError(t, err)
		} else {
			require.False(t, errors.Is(err, errDeep), "it was decoded")
		}
	})
}

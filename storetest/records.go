package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var records = []promise{
	{"EmptyTierKnowsNothing", func(x *tier) {
		require.Zero(x, x.get(x.a, "k"))
	}, anyLease},
	{"RecordTravelsUnchanged", recordTravelsUnchanged, anyLease},
	{"AbsenceIsARecord", absenceIsARecord, anyLease},
	{"NilIsAValue", nilIsAValue, anyLease},
	{"ValuesAreCopies", valuesAreCopies, anyLease},
	{"LifeRunsOut", lifeRunsOut, anyLease},
	{"GraceFollowsLife", graceFollowsLife, anyLease},
	{"TinyLifeIsNeitherNothingNorForEver", tinyLife, anyLease},
	{"HugeLifeIsKept", hugeLife, anyLease},
	{"MeaninglessRecordsAreRefused", meaninglessRecords, anyLease},
	{"AnyStringIsAKey", anyStringIsAKey, anyLease},
	{"GetManyAnswersInOrder", getManyAnswersInOrder, anyLease},
	{"LargeValuesTravel", largeValues, anyLease},
}

func recordTravelsUnchanged(x *tier) {
	in := store.Record[*Item]{
		Kind:  store.Value,
		Value: &Item{Text: "text \x00\xff", Number: -1 << 62, Tags: []string{"", "b"}},
		Life:  long + 7, Grace: 10*time.Second + 3,
		Delta: 123456789, Cost: 1,
	}
	before := time.Now()
	l := x.load(x.a, "k", in)
	for _, s := range []store.Store[*Item]{x.a, x.b} {
		out := x.get(s, "k")
		require.Equal(x, l.Generation, out.Generation)
		require.LessOrEqual(x, out.Left, in.Life)
		require.GreaterOrEqual(x, out.Left, in.Life-time.Since(before)-2*time.Millisecond)
		out.Left, out.Generation = 0, 0
		require.Equal(x, in, out)
	}
}

func absenceIsARecord(x *tier) {
	l := x.load(x.a, "k", store.Record[*Item]{Kind: store.Absent, Life: long, Cost: 5})
	out := x.get(x.b, "k")
	require.Equal(x, store.Absent, out.Kind)
	require.Equal(x, l.Generation, out.Generation)
	require.Nil(x, out.Value)
	require.Positive(x, out.Left)
}

func nilIsAValue(x *tier) {
	x.load(x.a, "k", store.Record[*Item]{Kind: store.Value, Life: long})
	out := x.get(x.b, "k")
	require.Equal(x, store.Value, out.Kind)
	require.Nil(x, out.Value)
}

func valuesAreCopies(x *tier) {
	in := valueOf("original")
	in.Value.Tags = []string{"original"}
	x.load(x.a, "k", in)
	in.Value.Text, in.Value.Tags[0] = "changed", "changed"
	one := x.get(x.a, "k")
	one.Value.Tags[0] = "changed"
	require.Equal(x, "original", x.get(x.a, "k").Value.Tags[0])
	require.Equal(x, "original", x.get(x.b, "k").Value.Text)

	in = valueOf("original")
	_, err := x.a.Set(x.Context(), "s", in)
	require.NoError(x, err)
	in.Value.Text = "changed"
	require.Equal(x, "original", x.get(x.b, "s").Value.Text)
}

func lifeRunsOut(x *tier) {
	r := valueOf("v")
	r.Life = short
	x.load(x.a, "k", r)
	x.eventually(func() bool { return x.get(x.b, "k").Kind == store.Missing }, "the record must go")
	x.grant(x.b, "k", 0, long)
}

func graceFollowsLife(x *tier) {
	r := valueOf("v")
	r.Life, r.Grace = short, long
	x.load(x.a, "k", r)
	x.eventually(func() bool {
		out := x.get(x.b, "k")
		require.Equal(x, "v", out.Value.Text)
		require.Equal(x, r.Grace, out.Grace)
		return out.Left <= 0
	}, "life must end")
}

func tinyLife(x *tier) {
	r := valueOf("v")
	r.Life = 1
	x.load(x.a, "k", r)
	x.eventually(func() bool { return x.get(x.a, "k").Kind == store.Missing }, "a life of 1ns must end")
	r.Life, r.Grace = 1, 1
	_, err := x.a.Set(x.Context(), "k", r)
	require.NoError(x, err)
	x.eventually(func() bool { return x.get(x.a, "k").Kind == store.Missing }, "a grace of 1ns must end")
}

func hugeLife(x *tier) {
	r := valueOf("v")
	r.Life, r.Grace = 1<<63-1, 1<<63-1
	x.load(x.a, "k", r)
	require.Greater(x, x.get(x.b, "k").Left, 24*365*time.Hour)
}

func meaninglessRecords(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	for _, r := range []store.Record[*Item]{
		{},
		{Kind: store.Value},
		{Kind: store.Missing, Life: long},
		{Kind: store.Value, Life: -1},
		{Kind: store.Value, Life: long, Grace: -1},
		{Kind: 77, Life: long},
	} {
		var e *store.ValueError
		require.ErrorAs(x, x.a.Publish(x.Context(), l, r), &e)
		require.Equal(x, "k", e.Key)
		_, err := x.a.Set(x.Context(), "k", r)
		require.ErrorAs(x, err, &e)
	}
	require.NoError(x, x.a.Publish(x.Context(), l, valueOf("v")), "the lease is not used up")
}

func anyStringIsAKey(x *tier) {
	keys := []string{
		"", " ", "\x00", "a", "{a}", "{}", "}", "{", "}{", "{}a", "a{}", "{a}b", "b{a}", "a}b", "{{a}}", "a\r\nb",
		"$5\r\nhello", "k#1", "k#0", "v:a", ":", "*", "%", "\xff\xfe", "日本", strings.Repeat("x", 1024), strings.Repeat("}", 1024),
	}
	for i, key := range keys {
		x.load(x.a, key, valueOf(fmt.Sprint("value ", i)))
	}
	for i, r := range x.b.GetMany(x.Context(), keys) {
		require.NoError(x, r.Err)
		require.Equal(x, fmt.Sprint("value ", i), r.Value.Text, "%q", keys[i])
		require.Equal(x, r.Value, x.get(x.a, keys[i]).Value, "%q", keys[i])
	}
	for i, key := range keys {
		require.NoError(x, x.a.Invalidate(x.Context(), key))
		require.Equal(x, store.Missing, x.get(x.b, key).Kind, "%q", key)
		if i+1 < len(keys) {
			require.Equal(x, store.Value, x.get(x.b, keys[i+1]).Kind, "%q is not %q", key, keys[i+1])
		}
	}
}

func getManyAnswersInOrder(x *tier) {
	require.Empty(x, x.a.GetMany(x.Context(), nil))
	x.load(x.a, "one", valueOf("1"))
	x.load(x.a, "none", store.Record[*Item]{Kind: store.Absent, Life: long})
	out := x.b.GetMany(x.Context(), []string{"zero", "one", "none", "one"})
	require.Len(x, out, 4)
	for i, want := range []store.Kind{store.Missing, store.Value, store.Absent, store.Value} {
		require.NoError(x, out[i].Err)
		require.Equal(x, want, out[i].Kind, i)
	}
	require.Equal(x, "1", out[3].Value.Text)
	require.NotSame(x, out[1].Value, out[3].Value, "each reply is a copy of its own")

	keys := make([]string, 300)
	for i := range keys {
		keys[i] = fmt.Sprint("many:", i)
		if i%3 == 0 {
			x.load(x.a, keys[i], valueOf(keys[i]))
		}
	}
	for i, r := range x.b.GetMany(x.Context(), keys) {
		require.NoError(x, r.Err)
		require.Equal(x, i%3 == 0, r.Kind == store.Value, i)
		if i%3 == 0 {
			require.Equal(x, keys[i], r.Value.Text)
		}
	}
}

func largeValues(x *tier) {
	for _, size := range []int{1 << 10, 1 << 16, 1 << 20} {
		for name, text := range map[string]string{"flat": strings.Repeat("a", size), "rough": rough(size)} {
			key := fmt.Sprint(name, size)
			x.load(x.a, key, valueOf(text))
			out := x.get(x.b, key)
			require.Equal(x, store.Value, out.Kind, key)
			require.True(x, text == out.Value.Text, key)
		}
	}
}

// rough returns text that does not compress.
func rough(size int) string {
	b, seed := make([]byte, size), uint64(1)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return string(b)
}

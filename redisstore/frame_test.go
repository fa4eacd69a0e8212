package redisstore

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// headOf writes a head as the scripts do.
func headOf(kind byte, generation, epoch uint64) string {
	b := append([]byte(magic), version, kind)
	for _, n := range []uint64{generation, epoch, mostGeneration - generation, mostGeneration - epoch} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return string(b)
}

func sampleFrame() frame {
	return frame{
		flags: flagPacked, codec: 77,
		life: time.Minute, grace: time.Second + 1, delta: 12345, cost: math.MaxInt64,
		key: "user:{42}", payload: []byte("payload \x00\xff"),
	}
}

func TestFrame_comesBackAsItWent(t *testing.T) {
	f := sampleFrame()
	got, err := parseBody(f.appendBody([]byte("before"))[6:], f.key)
	require.NoError(t, err)
	require.Equal(t, f, got)

	empty := frame{flags: flagAbsent, life: 1}
	got, err = parseBody(empty.appendBody(nil), "")
	require.NoError(t, err)
	require.Equal(t, empty.life, got.life)
	require.Empty(t, got.payload)

	h, body, err := parseHead(headOf(kindFrame, 7, 1<<53) + "body")
	require.NoError(t, err)
	require.Equal(t, head{kind: kindFrame, generation: 7, epoch: 1 << 53}, h)
	require.Equal(t, "body", body)
}

// Every damage to one byte, every bit of it, and every prefix is noticed.
func TestFrame_noDamageGoesUnnoticed(t *testing.T) {
	f := sampleFrame()
	whole := headOf(kindFrame, 1234567890, 987654321) + string(f.appendBody(nil))
	intact := func(raw string) bool {
		h, body, err := parseHead(raw)
		if err != nil || h.kind != kindFrame || h.epoch != 987654321 {
			return false
		}
		_, err = parseBody([]byte(body), f.key)
		return err == nil
	}
	require.True(t, intact(whole))
	for n := range len(whole) {
		require.False(t, intact(whole[:n]), "prefix of %d", n)
		for bit := range 8 {
			b := []byte(whole)
			b[n] ^= 1 << bit
			require.False(t, intact(string(b)), "byte %d bit %d", n, bit)
		}
	}
	require.False(t, intact(whole+"x"), "something behind it")
	require.False(t, intact(whole+whole), "twice")
}

func TestFrame_isOfItsKeyAlone(t *testing.T) {
	f := sampleFrame()
	for _, key := range []string{"", "user:{42", "user:{42}x", "User:{42}"} {
		_, err := parseBody(f.appendBody(nil), key)
		require.ErrorIs(t, err, errForeign, key)
	}
}

func TestParseHead_refusesWhatScriptsNeverWrite(t *testing.T) {
	for what, raw := range map[string]string{
		"tombstone with a body":    headOf(kindTombstone, 1, 1) + "x",
		"unknown kind":             headOf('X', 1, 1),
		"generation out of bounds": headOf(kindFrame, mostGeneration+1, 1),
		"epoch out of bounds":      headOf(kindFrame, 1, math.MaxUint64),
		"nothing":                  "",
		"text":                     strings.Repeat("value", 100),
	} {
		_, _, err := parseHead(raw)
		require.ErrorIs(t, err, errDamaged, what)
	}
	other := []byte(headOf(kindFrame, 1, 1))
	other[2]++
	_, _, err := parseHead(string(other))
	require.ErrorIs(t, err, errForeign)
}

func TestParseBody_refusesUnknownFlagsAndLives(t *testing.T) {
	for _, f := range []frame{{flags: 4, life: 1}, {flags: 0xff, life: 1}, {life: 0}, {life: -1}} {
		_, err := parseBody(f.appendBody(nil), "")
		require.Error(t, err, "%+v", f)
	}
}

func TestMilliseconds_roundUpAndNeverToNothing(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 1999999: 2, time.Second: 1000, 0: 1, -1: 1,
		longest: longest.Milliseconds(),
	} {
		require.Equal(t, want, milliseconds(d), d)
	}
	require.Equal(t, 2*longest.Milliseconds(), frame{life: longest, grace: longest}.keep())
}

func TestLeft_neverAboveLife(t *testing.T) {
	f := frame{life: 10*time.Millisecond + 1, grace: 5 * time.Millisecond}
	require.EqualValues(t, 16, f.keep())
	require.Equal(t, f.life, f.left(16))
	require.Equal(t, f.life-4*time.Millisecond, f.left(12))
	require.Equal(t, f.life-16*time.Millisecond, f.left(0), "all but gone")
	require.Zero(t, f.left(-2), "gone when the life was asked for")
	require.Equal(t, f.life, f.left(1<<40), "the life of an older, longer value")
}

// FuzzParse gives the parser whatever it likes: it says no, or what it accepts
// is what writing it again would give.
func FuzzParse(f *testing.F) {
	sample := sampleFrame()
	f.Add([]byte(headOf(kindFrame, 5, 6)+string(sample.appendBody(nil))), sample.key, uint16(0))
	f.Add([]byte(headOf(kindTombstone, 5, 6)), "", uint16(3))
	f.Add([]byte(headOf(kindFrame, 5, 6)+string(frame{life: 1, flags: flagAbsent}.appendBody(nil))), "k", uint16(9))
	f.Fuzz(func(t *testing.T, raw []byte, key string, at uint16) {
		if len(raw) > headSize+sumSize && at%2 == 0 { // mend the checksum, or fuzzing sees nothing else
			body := raw[headSize:]
			binary.BigEndian.PutUint64(body[len(body)-sumSize:], xxhash.Sum64(body[:len(body)-sumSize]))
		}
		h, body, err := parseHead(string(raw))
		if err != nil {
			return
		}
		require.LessOrEqual(t, h.generation, store.Generation(mostGeneration))
		got, err := parseBody([]byte(body), key)
		if err != nil {
			return
		}
		require.Equal(t, key, got.key)
		require.Positive(t, got.life)
		again := got.appendBody(nil)
		require.LessOrEqual(t, len(again), len(body), "uvarints may have been longer than they need be")
		back, err := parseBody(again, key)
		require.NoError(t, err)
		require.Equal(t, got, back)
	})
}

func TestPack_isBoundedBeforeItUnpacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := bytes.Repeat([]byte("abcd"), 1000)
	packed, ok := pack(flat)
	require.True(t, ok)
	require.Less(t, len(packed), 200)
	got, err := unpack(packed, len(flat))
	require.NoError(t, err)
	require.Equal(t, flat, got)
	_, err = unpack(packed, len(flat)-1)
	require.ErrorIs(t, err, errPacked)

	rough := make([]byte, 4000)
	for i := range rough {
		rough[i] = byte(rng.Uint32())
	}
	_, ok = pack(rough)
	require.False(t, ok, "not worth it")

	bomb := binary.AppendUvarint(nil, 1<<31)
	require.Zero(t, testing.AllocsPerRun(10, func() { _, err = unpack(bomb, 1<<20) }))
	require.Error(t, err)
	for n := range packed {
		_, err = unpack(packed[:n], len(flat))
		require.Error(t, err, n)
	}
}

func FuzzUnpack(f *testing.F) {
	packed, _ := pack(bytes.Repeat([]byte("abcd"), 100))
	f.Add(packed)
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 16
		if got, err := unpack(data, most); err == nil {
			require.LessOrEqual(t, len(got), most)
		}
	})
}

package trace

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead_keysInOrder(t *testing.T) {
	for name, text := range map[string]string{
		"plain":            "a\nb\na\nc\n",
		"no end at last":   "a\nb\na\nc",
		"carriage returns": "a\r\nb\r\na\r\nc\r\n",
		"gzip":             zip("a\nb\na\nc\n"),
		"two gzip members": zip("a\nb\n") + zip("a\nc\n"),
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := Read(strings.NewReader(text), DefaultLimits)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b", "c"}, tr.Keys())
			require.Equal(t, []int{0, 1, 0, 2}, numbers(tr))
		})
	}
}

func TestRead_keysAreAnyText(t *testing.T) {
	keys := []string{"0", "product:1", "with space", "grüße", "\xff\xfe", strings.Repeat("k", 1024)}
	tr, err := Read(strings.NewReader(strings.Join(keys, "\n")), DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, keys, tr.Keys())
}

func TestRead_damageIsNamed(t *testing.T) {
	good := zip(strings.Repeat("product:1\nproduct:2\n", 1000))
	flipped := []byte(good)
	flipped[len(flipped)-6] ^= 0xff // in the checksum

	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"", "holds no request"},
		"nothing, gzip'd":      {zip(""), "holds no request"},
		"empty first line":     {"\na\n", "line 1 is empty"},
		"empty line":           {"a\n\nb\n", "line 2 is empty"},
		"empty line, CRLF":     {"a\r\n\r\nb\r\n", "line 2 is empty"},
		"empty last line":      {"a\n\n", "line 2 is empty"},
		"NUL":                  {"a\nb\x00c\n", "line 2: control character 0x00"},
		"tab":                  {"a\t1\n", "line 1: control character 0x09"},
		"lone CR":              {"a\rb\n", "line 1: control character 0x0d"},
		"delete":               {"a\x7f\n", "line 1: control character 0x7f"},
		"long line":            {"a\n" + strings.Repeat("k", 1025) + "\n", "line 2 is longer than 1024 bytes"},
		"line without end":     {strings.Repeat("k", 1<<20), "line 1 is longer than 1024 bytes"},
		"zeros without end":    {strings.Repeat("\x00", 1<<20), "line 1 is longer than 1024 bytes"},
		"gzip, header only":    {good[:10], "end too early"},
		"gzip, half a header":  {good[:5], "end too early"},
		"gzip, magic only":     {good[:2], "end too early"},
		"gzip, cut in half":    {good[:len(good)/2], "end too early"},
		"gzip, no checksum":    {good[:len(good)-8], "end too early"},
		"gzip, last byte gone": {good[:len(good)-1], "end too early"},
		"gzip, flipped sum":    {string(flipped), "damaged"},
		"gzip, bad method":     {"\x1f\x8b\x09" + good[3:], "damaged"},
		"gzip, bad block":      {good[:10] + "\xff\xff\xff\xff" + good[14:], "damaged"},
		"gzip, text after":     {good + "product:3\n", "damaged"},
		"gzip twice":           {zip(good), "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := Read(strings.NewReader(c.text), DefaultLimits)
			require.ErrorContains(t, err, c.want)
			require.Nil(t, tr)
		})
	}
}

func TestRead_limits(t *testing.T) {
	limits := Limits{Requests: 3, KeyLen: 4, KeyBytes: 6}
	for text, want := range map[string]string{
		"a\na\na\n":      "",
		"aaaa\naa\n":     "",
		"a\na\na\na\n":   "more than 3 requests",
		"aaaa\nbbb\n":    "more than 6 bytes of distinct keys",
		"aaaaa\n":        "line 1 is longer than 4 bytes",
		"a\n\n":          "line 2 is empty",
		"aaaa\naaaa\nb":  "",
		"aaaa\r\nbb\r\n": "",
	} {
		_, err := Read(strings.NewReader(text), limits)
		if want == "" {
			require.NoError(t, err, "%q", text)
		} else {
			require.EqualError(t, err, want, "%q", text)
		}
	}
}

func TestOpen_namesTheTrace(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	stdin := strings.NewReader

	tr, err := Open(file("good", "a\nb\n"), stdin("unread"))
	require.NoError(t, err)
	require.Equal(t, 2, tr.Len())

	tr, err = Open("-", stdin("a\nb\nc\n"))
	require.NoError(t, err)
	require.Equal(t, 3, tr.Len())

	_, err = Open("-", stdin(""))
	require.EqualError(t, err, "trace standard input: holds no request")
	_, err = Open(dir, stdin(""))
	require.ErrorContains(t, err, "is a directory")
	_, err = Open(filepath.Join(dir, "missing"), stdin(""))
	require.ErrorContains(t, err, "missing")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(file("empty", ""), stdin(""))
	require.ErrorContains(t, err, "empty\": holds no request")
}

// FuzzRead holds Read to its word on any bytes: what it accepts can be written out
// and read again as the same trace, within its limits; what it refuses yields
// nothing.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "a\nb\na\n", "a\r\n", "\n", "a\x00\n", zip("a\nb\n"), zip("a\nb\n")[:15], "\x1f\x8b"} {
		f.Add([]byte(seed))
	}
	limits := Limits{Requests: 100, KeyLen: 20, KeyBytes: 200}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := Read(bytes.NewReader(text), limits)
		if err != nil {
			require.Nil(t, tr)
			return
		}
		require.NotZero(t, tr.Len())
		require.LessOrEqual(t, tr.Len(), limits.Requests)

		var again strings.Builder
		bytesOfKeys := 0
		for _, key := range tr.Keys() {
			require.NotEmpty(t, key)
			require.LessOrEqual(t, len(key), limits.KeyLen)
			bytesOfKeys += len(key)
		}
		require.LessOrEqual(t, bytesOfKeys, limits.KeyBytes)
		for i := range tr.Len() {
			again.WriteString(tr.Keys()[tr.At(i)] + "\n")
		}
		second, err := Read(strings.NewReader(again.String()), limits)
		require.NoError(t, err)
		require.Equal(t, tr, second)
	})
}

func zip(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err) // a bytes.Buffer refuses nothing
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func numbers(tr *Trace) []int {
	var out []int
	for i := range tr.Len() {
		out = append(out, tr.At(i))
	}
	return out
}

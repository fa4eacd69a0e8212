package redisstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scanAll gives the scanner s in pieces of n bytes and returns the types of the
// messages that ended.
func scanAll(s string, n int) (ended string, err error) {
	x := scanner{limit: 1 << 20, ends: func(kind byte) error { ended += string(kind); return nil }}
	for p := []byte(s); len(p) > 0; {
		k := min(n, len(p))
		if err := x.scan(p[:k]); err != nil {
			return ended, err
		}
		p = p[k:]
	}
	return ended, nil
}

func TestScanner_followsReplies(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n":                                             "+",
		"-ERR no\r\n:12\r\n":                                  "-:",
		":-2\r\n$-1\r\n*-1\r\n_\r\n":                          ":$*_",
		"$0\r\n\r\n$2\r\n\r\n\r\n":                            "$$",
		"*2\r\n$1\r\na\r\n*1\r\n:1\r\n#t\r\n":                 "*#",
		"%1\r\n+k\r\n,1.5\r\n~0\r\n*0\r\n":                    "%~*",
		"(123\r\n=7\r\ntxt:abc\r\n!3\r\nERR\r\n":              "(=!",
		">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n+OK\r\n": ">+",
		">2\r\n$10\r\ninvalidate\r\n_\r\n":                    ">",
		"$5\r\n+OK\r\n\r\n:1\r\n":                             "$:",
		"*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n":                      "*",
		"$3\r\nab":                                            "",
	} {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			got, err := scanAll(in, n)
			require.NoError(t, err, "%q in pieces of %d", in, n)
			require.Equal(t, want, got, "%q in pieces of %d", in, n)
		}
	}
}

func TestScanner_knowsErrorsByTheirFirstWord(t *testing.T) {
	for in, want := range map[string]bool{
		"-MOVED 1 a:1\r\n": true, "-MOVED \r\n": true, ":1\r\n-MOVED 1 a:1\r\n": true,
		"-MOVED\r\n": false, "-MOVEDX 1\r\n": false, "-ERR MOVED 1\r\n": false, "-MOV\r\n": false,
		"-MOVED 1 a:1\r\n-ASK 1 a:1\r\n": false, "-\r\n": false,
	} {
		for _, n := range []int{1, 3, 1000} {
			var x scanner
			var last bool
			x = scanner{limit: 1 << 20, ends: func(kind byte) error { last = kind == '-' && x.wordIs("MOVED"); return nil }}
			for p := []byte(in); len(p) > 0; {
				k := min(n, len(p))
				require.NoError(t, x.scan(p[:k]))
				p = p[k:]
			}
			require.Equal(t, want, last, "%q in pieces of %d", in, n)
		}
	}
}

func TestScanner_refusesWhatALibraryMightNotSurvive(t *testing.T) {
	for _, in := range []string{
		"HTTP/1.1 400 Bad Request\r\n", "\r\n", "?\r\n", "|1\r\n", ";4\r\n", ".\r\n",
		"$1099511627776\r\n", "$-2\r\n", "$-5\r\n", "*-2\r\n", "%-1\r\n", ">-1\r\n",
		"*1073741824\r\n", "%99999999\r\n", "$99999999999999999999999\r\n", "*?\r\n", "$?\r\n",
		"$1\n", "$1\rx\n", "$\r\n", "$x\r\n", ":\r\n", ":1x\r\n", "$ 1\r\n", "$+1\r\n",
		"$3\r\nabcde", "$3\r\nabc\n\n", "$3\r\nabc\rx",
		"+OK\n", "+O\rK\r\n", "_x\r\n", "#x\r\n", "#tt\r\n", "#\r\n",
		">1\r\n$10\r\ninvalidate\r\n", ">2\r\n$9\r\nsubscribe\r\n", ">2\r\n:1\r\n:1\r\n", ">2\r\n*1\r\n:1\r\n", ">2\r\n+invalidate\r\n",
		"*1\r\n>2\r\n", ">3\r\n$0\r\n\r\n",
		strings.Repeat("*1\r\n", 100),
		"+" + strings.Repeat("x", 1<<17) + "\r\n",
		"*20\r\n" + strings.Repeat("$100000\r\n"+strings.Repeat("x", 100000)+"\r\n", 20), // in total
	} {
		for _, n := range []int{1, 3, 1 << 20} {
			_, err := scanAll(in, n)
			require.ErrorIs(t, err, errProtocol, "%.40q in pieces of %d", in, n)
		}
	}
}

func TestGuarded_countsRepliesAgainstRequests(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	closed := 0
	var refused error
	g := guard(ours, 1<<20, func() bool { return false }, func(err error) { refused = err }, func() { closed++ })
	go io.Copy(io.Discard, theirs)
	request := "*2\r\n$3\r\nGET\r\n$5\r\n*1\r\n$\r\n"
	_, err := io.WriteString(g, request+request[:9])
	require.NoError(t, err)
	_, err = io.WriteString(g, request[9:])
	require.NoError(t, err)

	answers := func(s string) (string, error) {
		go io.WriteString(theirs, s)
		b := make([]byte, 100)
		n, err := g.Read(b)
		return string(b[:n]), err
	}
	got, err := answers("+one\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n")
	require.NoError(t, err)
	require.Contains(t, got, "+one")
	_, err = answers("+two\r\n")
	require.NoError(t, err)
	require.NoError(t, refused)
	got, err = answers("+three\r\n")
	require.ErrorIs(t, err, errProtocol)
	require.Empty(t, got)
	require.ErrorIs(t, refused, errProtocol)
	require.Equal(t, 1, closed)
	g.Close()
	require.Equal(t, 1, closed)
}

// FuzzScanner compares the scanner in one piece with itself in many, and with a
// reader that trusts what it reads: whatever the scanner lets through, that
// reader survives within the bounds.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n:1\r\n+OK\r\n"), 1)
	f.Add([]byte(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"), 5)
	f.Add([]byte("%1\r\n+k\r\n_\r\n=5\r\ntxt:x\r\n#t\r\n"), 2)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		n = max(1, n%64)
		one, err1 := scanAll(string(in), len(in)+1)
		many, err2 := scanAll(string(in), n)
		require.Equal(t, one, many)
		require.Equal(t, err1 == nil, err2 == nil)

		r, read := bufio.NewReader(bytes.NewReader(in)), ""
		for len(read) < len(one) {
			kind, err := naive(r, 0)
			require.NoError(t, err, "message %d of %q", len(read), in)
			read += string(kind)
		}
		require.Equal(t, one, read)
	})
}

// naive reads a message as a library does, trusting its lengths.
func naive(r *bufio.Reader, depth int) (byte, error) {
	line, err := r.ReadString('\n')
	if err != nil || len(line) < 3 {
		return 0, errors.Join(err, errors.New("short"))
	}
	kind, rest, n := line[0], strings.TrimSuffix(line[1:], "\r\n"), 0
	switch kind {
	case '$', '!', '=', '*', '~', '>', '%', ':':
		if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
			return 0, err
		}
	}
	switch kind {
	case '$', '!', '=':
		if n > 1<<20 || n < -1 || depth > 16 {
			return 0, errors.New("the scanner should have refused it")
		}
		if n >= 0 {
			_, err = r.Discard(n + 2)
		}
	case '%':
		n *= 2
		fallthrough
	case '*', '~', '>':
		if n > 1<<15 || n < -1 || depth > 16 {
			return 0, errors.New("the scanner should have refused it")
		}
		for range max(n, 0) {
			if _, err := naive(r, depth+1); err != nil {
				return 0, err
			}
		}
	}
	return kind, err
}

package redistest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fake is a server that shakes hands like Redis and then answers as it is told.
type Fake struct {
	Addr string

	mu     sync.Mutex
	answer func(command []string) string
	conns  map[net.Conn]struct{}
	all    sync.WaitGroup
}

// NewFake returns a fake that gives answer's word, in RESP, to each command
// after the handshake.
func NewFake(t testing.TB, answer func(command []string) string) *Fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &Fake{Addr: l.Addr().String(), answer: answer, conns: make(map[net.Conn]struct{})}
	f.all.Go(func() { f.serve(l) })
	t.Cleanup(func() {
		l.Close()
		f.mu.Lock()
		for c := range f.conns {
			c.Close()
		}
		f.mu.Unlock()
		f.all.Wait()
	})
	return f
}

// Answer changes the fake's answers.
func (f *Fake) Answer(answer func(command []string) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *Fake) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.conns[c] = struct{}{}
		f.mu.Unlock()
		f.all.Go(func() { f.talk(c) })
	}
}

func (f *Fake) talk(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		command, err := readCommand(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(c, f.reply(command)); err != nil {
			return
		}
	}
}

func (f *Fake) reply(command []string) string {
	switch strings.ToUpper(command[0]) {
	case "HELLO":
		return "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n"
	case "CLIENT":
		return "+OK\r\n"
	case "CLUSTER":
		return "-ERR This instance has cluster support disabled\r\n"
	case "PING":
		return "+PONG\r\n"
	}
	f.mu.Lock()
	answer := f.answer
	f.mu.Unlock()
	return answer(command)
}

// readCommand reads an array of strings.
func readCommand(r *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	command := make([]string, n)
	for i := range command {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		command[i] = string(b[:size])
	}
	return command, nil
}

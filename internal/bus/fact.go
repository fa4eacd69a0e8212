package bus

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/earlybird-cache/earlybird/store"
)

// A message is one fact: a version, the lengths and texts of its Kind and its
// keys, and the xxHash64 of that.
const (
	version = 1
	sumSize = 8

	// mostData bounds a message, but one with a single key may be larger by it.
	mostData = 8 << 10
)

// messagesOf cuts f into messages.
func messagesOf(f store.Fact) ([]string, error) {
	for i, part := range append([]string{f.Kind}, f.Keys...) {
		if len(part) > store.MaxFactPart {
			return nil, &store.ValueError{Key: part, Err: fmt.Errorf("part %d of a fact has %d bytes, more than %d", i, len(part), store.MaxFactPart)}
		}
	}
	head := appendText([]byte{version}, f.Kind)
	data, n := head[:len(head):len(head)], 0
	var messages []string
	for _, key := range f.Keys {
		if n > 0 && len(data)+len(key) > mostData {
			messages, data, n = append(messages, sealed(data)), head[:len(head):len(head)], 0
		}
		data, n = appendText(data, key), n+1
	}
	if n > 0 || len(messages) == 0 {
		messages = append(messages, sealed(data))
	}
	return messages, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func sealed(data []byte) string {
	return string(binary.BigEndian.AppendUint64(data, xxhash.Sum64(data)))
}

var errUnreadable = errors.New("unreadable message")

// factOf undoes sealed. It allocates no more than in proportion to data.
func factOf(data string) (f store.Fact, err error) {
	at := len(data) - sumSize
	if at < 1 || data[0] != version || xxhash.Sum64String(data[:at]) != binary.BigEndian.Uint64([]byte(data[at:])) {
		return f, errUnreadable
	}
	rest := []byte(data[1:at])
	for first := true; first || len(rest) > 0; first = false {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return store.Fact{}, errUnreadable
		}
		text := string(rest[size : size+int(n)])
		rest = rest[size+int(n):]
		if first {
			f.Kind = text
		} else {
			f.Keys = append(f.Keys, text)
		}
	}
	return f, nil
}

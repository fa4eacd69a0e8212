package redisstore

import (
	"encoding/json"
	"fmt"
)

// Codec turns values into bytes and back. It must be safe for concurrent use.
// A panic of its is an error like others.
// What it writes is read by other processes, of other versions of the program
// too: a value that does not decode is a miss and is loaded again, but one that
// decodes to something else is served.
type Codec[V any] interface {
	// ID tells codecs apart in what is stored: a value is only decoded by the
	// codec it was encoded with. Those below 64 belong to this package.
	ID() byte

	// Append appends the encoded value to b. It must not keep v.
	Append(b []byte, v V) ([]byte, error)

	// Decode returns the value in data, which it may keep. data comes from
	// outside: Decode must not allocate more than in proportion to its length,
	// whatever it says. If it panics, that counts as an error.
	Decode(data []byte) (V, error)
}

const (
	idCBOR   = 1
	idJSON   = 2
	idString = 3
	idBytes  = 4
)

// defaultCodec is CBOR, but for strings and bytes those themselves.
func defaultCodec[V any]() (Codec[V], error) {
	for _, c := range []any{stringCodec{}, bytesCodec{}} {
		if c, ok := c.(Codec[V]); ok {
			return c, nil
		}
	}
	return CBOR[V]()
}

type stringCodec struct{}

func (stringCodec) ID() byte                                  { return idString }
func (stringCodec) Append(b []byte, v string) ([]byte, error) { return append(b, v...), nil }
func (stringCodec) Decode(data []byte) (string, error)        { return stringOf(data), nil }

// bytesCodec puts a byte in front that tells nil from empty.
type bytesCodec struct{}

func (bytesCodec) ID() byte { return idBytes }

func (bytesCodec) Append(b []byte, v []byte) ([]byte, error) {
	if v == nil {
		return append(b, 0), nil
	}
	return append(append(b, 1), v...), nil
}

func (bytesCodec) Decode(data []byte) ([]byte, error) {
	switch {
	case len(data) == 1 && data[0] == 0:
		return nil, nil
	case len(data) == 0 || data[0] != 1:
		return nil, errDamaged
	}
	return data[1:len(data):len(data)], nil
}

// JSON is a Codec that stores values as encoding/json sees them, for those who
// want to read them with redis-cli, or whose values are any. What JSON can not
// tell apart does not come back as it went: an any that holds an int comes back
// as a float64, a struct as a map.
func JSON[V any]() Codec[V] { return jsonCodec[V]{} }

type jsonCodec[V any] struct{}

func (jsonCodec[V]) ID() byte { return idJSON }

func (jsonCodec[V]) Append(b []byte, v V) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(b, data...), nil
}

func (jsonCodec[V]) Decode(data []byte) (v V, err error) {
	if err = json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("redisstore: %w", err)
	}
	return v, nil
}

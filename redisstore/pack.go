package redisstore

import (
	"errors"

	"github.com/klauspost/compress/s2"
)

// pack returns data compressed, or false if that would not save an eighth. S2
// has no state between blocks, starts no goroutine, and packs and unpacks about
// as fast as a network delivers; what zstd saves beyond that costs every reader
// several times the time.
func pack(data []byte) ([]byte, bool) {
	packed := s2.Encode(nil, data)
	return packed, len(packed) < len(data)-len(data)/8
}

var errPacked = errors.New("damaged compression")

// unpack undoes pack for data of at most most bytes, and allocates nothing
// before it knows that.
func unpack(packed []byte, most int) ([]byte, error) {
	if length, err := s2.DecodedLen(packed); err != nil || length > most {
		return nil, errPacked
	}
	data, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, errPacked
	}
	return data, nil
}

package redisstore

import (
	"bytes"
	"fmt"
	"math"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// CBOR is the default Codec: RFC 8949 by github.com/fxamacker/cbor/v2, which is
// compact, quick, keeps nil apart from empty, times to the nanosecond and
// strings that are not UTF-8, and is made for data that cannot be trusted.
//
// Fields are named by their cbor tags, or else their json tags. It fails with a
// *LossError for a type of which something would not come back, such as an
// unexported field, one tagged "-", or an interface: a value that is complete
// where it was loaded and incomplete where it was read would be a trap.
func CBOR[V any]() (Codec[V], error) {
	if err := lossOf(reflect.TypeFor[V]()); err != nil {
		return nil, err
	}
	return cborCodec[V]{recursive: isRecursive(reflect.TypeFor[V](), nil)}, nil
}

// mostLevels bounds how deep values may be nested. What is nested deeper, or
// contains itself, is refused: it would be followed until the stack ends, which
// ends the process.
const mostLevels = 256

var errDeep = fmt.Errorf("nested more than %d levels deep, or contains itself", mostLevels)

type cborCodec[V any] struct {
	recursive bool // V may contain another V
}

func (cborCodec[V]) ID() byte { return idCBOR }

func (c cborCodec[V]) Append(b []byte, v V) ([]byte, error) {
	if c.recursive && isDeep(reflect.ValueOf(&v).Elem(), mostLevels) {
		return nil, errDeep
	}
	w := bytes.NewBuffer(b)
	if err := cborEncoding.NewEncoder(w).Encode(v); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}

func (cborCodec[V]) Decode(data []byte) (v V, err error) {
	if err = cborDecoding.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("redisstore: %w", err)
	}
	return v, nil
}

var cborEncoding = func() cbor.EncMode {
	mode, err := cbor.EncOptions{
		Time:          cbor.TimeRFC3339Nano,
		NilContainers: cbor.NilContainerAsNull,
	}.EncMode()
	if err != nil {
		panic("redisstore: " + err.Error())
	}
	return mode
}()

// cborDecoding trusts nothing but the length of its data: that bounds the
// elements too, since each takes a byte at least.
var cborDecoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		UTF8:             cbor.UTF8DecodeInvalid,
		MaxNestedLevels:  mostLevels,
		MaxArrayElements: math.MaxInt32,
		MaxMapPairs:      math.MaxInt32,
	}.DecMode()
	if err != nil {
		panic("redisstore: " + err.Error())
	}
	return mode
}()

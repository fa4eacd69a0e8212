package redisstore

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// LossError is the error of CBOR for a type of which it would lose something.
type LossError struct {
	Type   reflect.Type
	Path   string // where in it, such as "Profile.secret"
	Reason string
}

func (e *LossError) Error() string {
	return fmt.Sprintf("redisstore: %v does not survive encoding: %s: %s (give Options.Codec, or use JSON)", e.Type, e.Path, e.Reason)
}

// lossOf returns what a value of type t would lose, or nil.
func lossOf(t reflect.Type) error {
	l := losses{seen: make(map[reflect.Type]bool)}
	if path, reason := l.find(t, nil); reason != "" {
		return &LossError{Type: t, Path: strings.Join(path, "."), Reason: reason}
	}
	return nil
}

// losses looks through types, each once.
type losses struct {
	seen map[reflect.Type]bool
}

var (
	whole = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[big.Int]()}

	marshalers = [][2]reflect.Type{
		{reflect.TypeFor[cbor.Marshaler](), reflect.TypeFor[cbor.Unmarshaler]()},
		{reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler]()},
	}
)

func (l losses) find(t reflect.Type, path []string) ([]string, string) {
	if l.seen[t] || slices.Contains(whole, t) || marshalsItself(t) {
		return nil, ""
	}
	l.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Pointer {
			return path, "a pointer to a pointer, of which nil and a pointer to nil are the same"
		}
		return l.find(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		return l.find(t.Elem(), append(path, "[]"))
	case reflect.Map:
		if t.Key().Kind() == reflect.Pointer {
			return append(path, "key"), "a pointer, which is not the same pointer afterwards"
		}
		if at, reason := l.find(t.Key(), append(path, "key")); reason != "" {
			return at, reason
		}
		return l.find(t.Elem(), append(path, "[]"))
	case reflect.Struct:
		return l.fields(t, path)
	case reflect.Interface:
		return path, "an interface, whose type is not stored"
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return path, "a " + t.Kind().String()
	}
	return nil, ""
}

func (l losses) fields(t reflect.Type, path []string) ([]string, string) {
	if name := hidden(t, make(map[string]bool)); name != "" {
		return append(slices.Clone(path), name), "hidden by another field of that name"
	}
	for i := range t.NumField() {
		f := t.Field(i)
		here := append(slices.Clone(path), f.Name)
		name, options := tagOf(f)
		switch {
		case f.Type.Size() == 0 && f.Type.Kind() == reflect.Struct: // has nothing to lose
			continue
		case !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct):
			return here, "not exported"
		case name == "-" && options == "":
			return here, `tagged "-"`
		case strings.Contains(options, "omitempty") && emptyIsNotZero(f.Type):
			return here, "omitempty, after which empty and nil are the same"
		}
		if at, reason := l.find(f.Type, here); reason != "" {
			return at, reason
		}
	}
	return nil, ""
}

// hidden returns the name of a field that t has twice, counting those of structs
// that are embedded: only one of them is stored.
func hidden(t reflect.Type, names map[string]bool) string {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _ := tagOf(f)
		if f.Anonymous && name == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct && embedded != t && !marshalsItself(embedded) {
				if twice := hidden(embedded, names); twice != "" {
					return twice
				}
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		if names[strings.ToLower(name)] { // as decoders compare
			return f.Name
		}
		names[strings.ToLower(name)] = true
	}
	return ""
}

// tagOf returns the name and the options of a field's tag.
func tagOf(f reflect.StructField) (name, options string) {
	tag, ok := f.Tag.Lookup("cbor")
	if !ok {
		tag = f.Tag.Get("json")
	}
	name, options, _ = strings.Cut(tag, ",")
	return name, options
}

func emptyIsNotZero(t reflect.Type) bool {
	return t.Kind() == reflect.Slice || t.Kind() == reflect.Map
}

func marshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, m := range marshalers {
		if t.Implements(m[0]) && p.Implements(m[1]) {
			return true
		}
	}
	return false
}

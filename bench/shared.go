package main

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird/redisstore"
)

var (
	sharedRow      = sharedRowOf("shared", items)
	sharedBytesRow = sharedRowOf("shared-bytes", blobs)
)

func sharedRowOf[V any](name string, v values[V]) row {
	return row{
		name: name, base: "earlybird", variants: plan.shared,
		// The wall clock counts: all want the same processors, the server's too.
		columns: append(speed(faster("earlybird", wall)), of("server cpu ns", serverPerOp, 1)),
		subjects: []subject{
			timed("earlybird", shared(v, openStore[V])),
			timed("rueidis", shared(v, openBare[V](likeStore))),
			timed("rueidis-default", shared(v, openBare[V](byDefault))),
			timed("go-redis/cache", shared(v, openRedisCache[V])),
		},
	}
}

const (
	serverPerOp   = "server-cpu-ns/op"
	sharedKeys    = 10_000
	sharedValue   = 200 // bytes
	sharedReaders = 64  // for each processor: they wait for the network
)

func wall(s sample) float64 { return s[perOp] }

// shared is the workload of the shared tier.
func (p plan) shared() []variant {
	p.keys, p.values = []int{min(sharedKeys, p.keys[0])}, []int{sharedValue}
	return p.combinations()[:1]
}

// values are what a tier holds.
type values[V any] struct {
	of     func(key string) V
	digits func(V) string // of the key that a value belongs to
	encode func(V) ([]byte, error)
	decode func([]byte) (V, error)
}

// item is a struct such as services keep, of sharedValue bytes in CBOR.
type item struct {
	Digits  string
	Name    string
	Price   int64
	Stock   int32
	Weight  float64
	Active  bool
	Tags    []string
	Details string
}

var items = func() values[item] {
	codec, err := redisstore.CBOR[item]()
	if err != nil {
		panic(err)
	}
	return values[item]{
		of: func(key string) item {
			return item{
				Digits: key[valueAt:], Name: "Espresso machine, stainless steel", Price: 24_900, Stock: 17,
				Weight: 4.25, Active: true, Tags: []string{"kitchen", "coffee", "sale"},
				Details: "15 bar, 1.2 l, drip tray, cups kept warm on top",
			}
		},
		digits: func(i item) string { return i.Digits },
		encode: func(i item) ([]byte, error) { return codec.Append(nil, i) },
		decode: codec.Decode,
	}
}()

// blobs are bytes that nobody has to decode.
var blobs = values[[]byte]{
	of:     func(key string) []byte { return []byte(digitsOf(sharedValue)(key)) },
	digits: func(b []byte) string { return string(b[:keyLen-valueAt]) },
	encode: func(b []byte) ([]byte, error) { return b, nil },
	decode: func(b []byte) ([]byte, error) { return b, nil },
}

// shared opens a trial of hits of a tier on a server of its own, which holds a
// value for every product.
func shared[V any](v values[V], open func(*server, values[V]) (sharedTier[V], error)) opener {
	return func(w *workload) (*trial, error) {
		s, err := startServer()
		if err != nil {
			return nil, err
		}
		tier, err := open(s, v)
		if err != nil {
			s.stop()
			return nil, err
		}
		t := &trial{
			keys: w.popular(), crowd: sharedReaders,
			do: func(key string) (string, bool) {
				got, err := tier.get(key)
				if err != nil {
					return "", false
				}
				digits := v.digits(got)
				return digits, digits == key[valueAt:]
			},
			counts: map[string]func() int64{serverPerOp: s.cpu},
			close:  func() { tier.close(); s.stop() },
		}
		if err := t.stock(w.products, func(key string) error { return tier.set(key, v.of(key)) }); err != nil {
			t.end()
			return nil, err
		}
		return t, nil
	}
}

// stock sets each product and reads it once, many at a time.
func (t *trial) stock(products int, set func(key string) error) error {
	var all errgroup.Group
	all.SetLimit(sharedReaders)
	for i := range products {
		all.Go(func() error {
			key := keyOf(i)
			if err := set(key); err != nil {
				return err
			}
			if !t.holds(key) {
				return fmt.Errorf("no value for %q", key)
			}
			return nil
		})
	}
	return all.Wait()
}

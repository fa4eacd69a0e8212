package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// Options are what a Store is made of. One of URL and Addrs is required.
//
// One law holds for every number: 0 is the documented default, negative is off.
// An option that must not be off says so, and New returns an *OptionError.
type Options[V any] struct {
	// URL is where the server is: redis://user:password@host:port/db, with
	// rediss for TLS, valkey and valkeys likewise, or unix://path. Further nodes
	// of a Cluster follow as ?addr=host:port&addr=host:port. What the other
	// options say counts more.
	URL string

	// Addrs are nodes, host:port. One of a Cluster is enough to find the others;
	// several are tried until one answers.
	Addrs []string

	// Username and Password authenticate, as a user of the ACL if Username is
	// set. Credentials is asked for them at each new connection instead.
	Username, Password string
	Credentials        func() (username, password string, err error)

	// TLS switches to TLS. nil is what URL says.
	TLS *tls.Config

	// DB is the number of the database; a Cluster has only 0.
	DB int

	// ClientName is what the server lists the connections as. Default
	// "earlybird".
	ClientName string

	// Namespace is what the keys of this tier begin with: at most 64 letters,
	// digits and any of _-.: with another namespace for another version of V,
	// programs old and new do not read each other's values. Default "eb".
	Namespace string

	// Codec turns values into bytes. Default CBOR; strings and []byte are
	// stored as they are.
	Codec Codec[V]

	// MaxBytes bounds an encoded value; larger ones are refused with a
	// *store.ValueError, and are not read either. Default 4 MiB, at most 256
	// MiB; cannot be off.
	MaxBytes int

	// CompressAbove is the size of an encoded value from which it is compressed,
	// if that saves an eighth. Default 1 KiB.
	CompressAbove int

	// Timeout is the budget of Get, GetMany, Acquire and the steps of Wait.
	// Default 50ms. WriteTimeout is that of the others. Default 250ms, or
	// Timeout if that is more. ConnectTimeout is that of a connection, TLS and
	// handshake included. Default 250ms. None can be off.
	Timeout, WriteTimeout, ConnectTimeout time.Duration

	// Tombstone is how long the generation of an invalidated key is remembered.
	// It should be longer than any lease. Default 1m; cannot be off.
	Tombstone time.Duration

	// SharedLeases switches off that one load at a time is allowed for a key:
	// see package store. For loads that cost less than waiting for others'.
	SharedLeases bool

	// MaxPending bounds the keys whose invalidation is being tried again.
	// Default 65,536; cannot be off.
	MaxPending int

	// MaxWatched bounds the keys that are watched at once, see store.Watcher.
	// Default 10,000.
	MaxWatched int

	// MaxFacts is about how many facts of the bus the server remembers, for those
	// who were cut off and those who start warm, see store.Bus. A fact takes some
	// 100 bytes and what is in it, at most 12 KiB. Default 16,384; cannot be off.
	MaxFacts int

	// MaxBlob bounds a blob, see store.Blobs, in bytes; larger ones are refused,
	// and are not read either. Default 256 MiB; cannot be off.
	MaxBlob int64

	// MaxInFlight bounds the calls that wait for the server at once; more fail
	// at once with store.ErrUnavailable. Default, and at most, 512: beyond that
	// the client library would block without regard to any deadline.
	MaxInFlight int

	// FlushDelay lets each connection wait a little to send more calls in one
	// packet: 20µs costs that much latency and saves most of the system calls
	// of a busy client. Default off.
	FlushDelay time.Duration

	// Dial replaces net.Dialer's DialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Logger is told when the server stops answering and when it is back.
	Logger *slog.Logger
}

// OptionError is the error of New for an option it cannot work with.
type OptionError struct {
	Field  string // of Options
	Value  any    // what it was; never a password
	Reason string // what it must be
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("redisstore: option %s = %v: %s", e.Field, e.Value, e.Reason)
}

const (
	mostBytes    = 256 << 20
	mostInFlight = 512
)

// fill gives defaults to what is 0.
func (o *Options[V]) fill() {
	orDefault(&o.ClientName, "earlybird")
	orDefault(&o.Namespace, "eb")
	orDefault(&o.MaxBytes, 4<<20)
	orDefault(&o.CompressAbove, 1<<10)
	orDefault(&o.Timeout, 50*time.Millisecond)
	orDefault(&o.WriteTimeout, max(250*time.Millisecond, o.Timeout))
	orDefault(&o.ConnectTimeout, 250*time.Millisecond)
	orDefault(&o.Tombstone, time.Minute)
	orDefault(&o.MaxPending, 1<<16)
	orDefault(&o.MaxWatched, 10_000)
	orDefault(&o.MaxFacts, 1<<14)
	orDefault(&o.MaxBlob, 256<<20)
	orDefault(&o.MaxInFlight, mostInFlight)
}

func orDefault[T comparable](v *T, def T) {
	if *v == *new(T) {
		*v = def
	}
}

// check returns what is wrong with o.
func (o *Options[V]) check() error {
	switch {
	case !isNamespace(o.Namespace):
		return &OptionError{"Namespace", o.Namespace, "must be 1 to 64 letters, digits and any of _-.:"}
	case o.MaxBytes < 0 || o.MaxBytes > mostBytes:
		return &OptionError{"MaxBytes", o.MaxBytes, fmt.Sprintf("must lie between 1 and %d", mostBytes)}
	case o.Timeout < 0 || o.WriteTimeout < 0 || o.ConnectTimeout < 0:
		return &OptionError{"Timeout, WriteTimeout, ConnectTimeout", [...]time.Duration{o.Timeout, o.WriteTimeout, o.ConnectTimeout}, "cannot be off: a read must have a bound"}
	case o.Tombstone < 0 || o.Tombstone > longest:
		return &OptionError{"Tombstone", o.Tombstone, "must lie between 1ns and 50 years"}
	case o.MaxPending < 0:
		return &OptionError{"MaxPending", o.MaxPending, "cannot be off: memory must have a bound"}
	case o.MaxFacts < 0:
		return &OptionError{"MaxFacts", o.MaxFacts, "cannot be off: memory must have a bound"}
	case o.MaxBlob < 0 || o.MaxBlob > mostMemory:
		return &OptionError{"MaxBlob", o.MaxBlob, fmt.Sprintf("must lie between 1 and %d", int64(mostMemory))}
	case o.MaxInFlight < 0 || o.MaxInFlight > mostInFlight:
		return &OptionError{"MaxInFlight", o.MaxInFlight, fmt.Sprintf("must lie between 1 and %d", mostInFlight)}
	case o.DB < 0:
		return &OptionError{"DB", o.DB, "must not be negative"}
	case strings.ContainsAny(o.ClientName, " \r\n\t"):
		return &OptionError{"ClientName", o.ClientName, "must have no spaces"}
	}
	return nil
}

func isNamespace(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("_-.:", c) < 0 {
			return false
		}
	}
	return true
}

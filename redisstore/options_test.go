package redisstore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
)

func TestNew_refusesMeaninglessOptions(t *testing.T) {
	for field, change := range map[string]func(*redisstore.Options[string]){
		"Addrs":         func(o *redisstore.Options[string]) { o.Addrs = nil },
		"Addrs ":        func(o *redisstore.Options[string]) { o.Addrs = []string{"no port"} },
		"URL":           func(o *redisstore.Options[string]) { o.URL = "http://user:s3cret@host" },
		"URL ":          func(o *redisstore.Options[string]) { o.URL = "redis://user:s3cret@host:port:port" },
		"Namespace":     func(o *redisstore.Options[string]) { o.Namespace = "a{b}" },
		"Namespace ":    func(o *redisstore.Options[string]) { o.Namespace = strings.Repeat("x", 65) },
		"MaxBytes":      func(o *redisstore.Options[string]) { o.MaxBytes = -1 },
		"MaxBytes ":     func(o *redisstore.Options[string]) { o.MaxBytes = 1 << 30 },
		"Timeout":       func(o *redisstore.Options[string]) { o.Timeout = -1 },
		"WriteTimeout":  func(o *redisstore.Options[string]) { o.WriteTimeout = -1 },
		"Tombstone":     func(o *redisstore.Options[string]) { o.Tombstone = -1 },
		"MaxFacts":      func(o *redisstore.Options[string]) { o.MaxFacts = -1 },
		"MaxBlob":       func(o *redisstore.Options[string]) { o.MaxBlob = -1 },
		"MaxPending":    func(o *redisstore.Options[string]) { o.MaxPending = -1 },
		"MaxInFlight":   func(o *redisstore.Options[string]) { o.MaxInFlight = -1 },
		"MaxInFlight  ": func(o *redisstore.Options[string]) { o.MaxInFlight = 1 << 20 },
		"DB":            func(o *redisstore.Options[string]) { o.DB = -1 },
		"ClientName":    func(o *redisstore.Options[string]) { o.ClientName = "two words" },
	} {
		opts := redisstore.Options[string]{Addrs: []string{"127.0.0.1:1"}}
		change(&opts)
		_, err := redisstore.New(opts)
		var e *redisstore.OptionError
		require.ErrorAs(t, err, &e, field)
		require.Contains(t, e.Field, strings.TrimSpace(field))
		require.Contains(t, err.Error(), strings.TrimSpace(field))
		require.NotContains(t, err.Error(), "s3cret")
	}
}

func TestNew_speaksTLSAsAUserOfTheACL(t *testing.T) {
	dir := t.TempDir()
	roots := certify(t, dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	require.NoError(t, l.Close())
	server := redistest.Start(t, "--tls-port", port, "--tls-auth-clients", "no",
		"--tls-cert-file", filepath.Join(dir, "cert.pem"), "--tls-key-file", filepath.Join(dir, "key.pem"),
		"--tls-ca-cert-file", filepath.Join(dir, "cert.pem"))
	// All that a user of this package needs:
	server.Do("ACL", "SETUSER", "cache", "on", ">p@ss/word", "resetkeys", "~shop:*", "+get", "+getrange", "+mget", "+pttl", "+exists",
		"+set", "+del", "+pexpire", "+time", "+eval", "+evalsha", "+ping", "+hello", "+select", "+client", "+cluster")

	opts := patient[string]()
	opts.URL = "rediss://cache:p%40ss%2Fword@127.0.0.1:" + port + "/2"
	opts.Namespace = "shop"
	opts.TLS = &tls.Config{RootCAs: roots}
	s := open(t, opts)
	set(t, s, "key", "v")
	require.NoError(t, finds(t, s, "key", "v"))
	claim, err := s.Acquire(t.Context(), "other", 0, long)
	require.NoError(t, err)
	require.NoError(t, s.Fail(t.Context(), claim.Lease, long))
	require.NoError(t, s.Wait(t.Context(), "other", 0))
	require.NoError(t, s.InvalidateAll(t.Context()))
	require.NoError(t, s.Invalidate(t.Context(), "key"))
	require.Contains(t, server.Do("CLIENT", "LIST"), "name=earlybird")

	opts.TLS = nil // the system's roots do not know the certificate
	opts.ConnectTimeout, opts.Timeout = time.Second, 100*time.Millisecond
	bad := open(t, opts)
	_, err = bad.Get(t.Context(), "key")
	require.Error(t, err)
	eventually(t, func() error { return says(bad, "certificate") })
}

// certify writes a certificate for 127.0.0.1 and its key to dir.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	roots := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots.AddCert(parsed)
	return roots
}

func TestNew_speaksOverASocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	redistest.Start(t, "--unixsocket", path)
	opts := patient[string]()
	opts.URL = "unix://" + path
	s := open(t, opts)
	set(t, s, "key", "v")
	require.NoError(t, finds(t, s, "key", "v"))
}

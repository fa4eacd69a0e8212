package redisstore

import (
	"crypto/tls"
	"net"

	"github.com/redis/rueidis"
)

// place is where the servers are and how they are spoken to.
type place struct {
	network            string
	addrs              []string
	username, password string
	tls                *tls.Config
	db                 int
}

// placeOf reads URL and what goes before it.
func (o *Options[V]) placeOf() (place, error) {
	p := place{network: "tcp", addrs: o.Addrs}
	if o.URL != "" {
		u, err := parseURL(o.URL)
		if err != nil {
			return place{}, err
		}
		if len(o.Addrs) > 0 {
			u.addrs = o.Addrs
		}
		p = u
	}
	if o.Username != "" || o.Password != "" {
		p.username, p.password = o.Username, o.Password
	}
	if o.TLS != nil {
		p.tls = o.TLS
	}
	if o.DB != 0 {
		p.db = o.DB
	}
	return p, p.check()
}

func parseURL(url string) (place, error) {
	u, err := rueidis.ParseURL(url)
	if err != nil { // which may quote the password
		return place{}, &OptionError{"URL", "…", "must be such as redis://user:password@host:port/db"}
	}
	p := place{network: "tcp", addrs: u.InitAddress, username: u.Username, password: u.Password, tls: u.TLSConfig, db: u.SelectDB}
	if u.DialCtxFn != nil {
		p.network = "unix"
	}
	return p, nil
}

func (p place) check() error {
	if len(p.addrs) == 0 {
		return &OptionError{"Addrs", p.addrs, "one of URL and Addrs is required"}
	}
	if p.network == "unix" {
		return nil
	}
	for _, addr := range p.addrs {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return &OptionError{"Addrs", addr, "must be host:port"}
		}
	}
	return nil
}

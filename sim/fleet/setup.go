package fleet

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird"
)

// Setup is a fleet and what it is put through. Its zero value is not valid; Default
// is.
type Setup struct {
	Redis     string // URL of a server, or Auto
	Instances int    // caches
	Keys      int    // that are read, the first the most
	TTL       time.Duration
	Delta     time.Duration // what a load takes
	Rate      float64       // reads per second, over all instances
	Duration  time.Duration // of a rung, or of each part of an outage
	Near      lives         // NearTTL of further rungs
	Readers   int           // of a cold key, at once
	Seed      uint64

	budget  time.Duration // redisstore's Timeout; 0 is its default
	crowded bool          // most reads are of one key
}

// Auto is the Redis of a Setup that starts a server of its own.
const Auto = "auto"

// Default is the setup of a command without flags.
var Default = Setup{
	Redis: Auto, Instances: 50, Keys: 4,
	TTL: time.Second, Delta: 50 * time.Millisecond, Rate: 4000, Duration: 5 * time.Second,
	Near: lives{100 * time.Millisecond, 10 * time.Millisecond, earlybird.Off}, Readers: 200, Seed: 1,
}

const (
	maxInstances = 500
	maxKeys      = 10_000
	maxTTL       = time.Hour
	maxDelta     = 5 * time.Second // a load must be well within LoadTimeout
	maxRate      = 50_000
	maxDuration  = 10 * time.Minute
	maxReads     = 5_000_000 // of a rung: they are all remembered
	maxWaiting   = 100_000   // reads that wait at once if all do
	maxNear      = 16
	maxReaders   = 10_000
)

func (s *Setup) flags(f *flag.FlagSet) {
	f.StringVar(&s.Redis, "redis", s.Redis, "`URL` of a server to use, such as redis://host:6379, or auto: start one, and end it afterwards")
	f.IntVar(&s.Instances, "instances", s.Instances, "`number` of caches, each with a connection of its own")
	f.IntVar(&s.Keys, "keys", s.Keys, "`number` of keys; the n-th is read 1/n as often as the first")
	f.DurationVar(&s.TTL, "ttl", s.TTL, "how long a value may live, a `duration`")
	f.DurationVar(&s.Delta, "delta", s.Delta, "how long a load takes, a `duration`")
	f.Float64Var(&s.Rate, "rate", s.Rate, "`reads` a second over all instances, at random times fixed beforehand")
	f.DurationVar(&s.Duration, "duration", s.Duration, "how long each rung is watched, and each part of an outage, a `duration`")
	f.Var(&s.Near, "near", "`values` of NearTTL, durations or off, each for a further rung, or none")
	f.IntVar(&s.Readers, "readers", s.Readers, "with -cold: `number` of readers that come at once")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "`seed` of the reads; the same seed gives the same reads, not the same figures")
}

// Validate says in one sentence what is wrong with a setup.
func (s Setup) Validate() error {
	for _, check := range []func() error{s.validateRedis, s.validateSizes, s.validateTimes, s.validateReads} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s Setup) validateRedis() error {
	if s.Redis == Auto {
		return nil
	}
	if _, err := rueidis.ParseURL(s.Redis); err != nil { // which may quote the password
		return errors.New("-redis must be auto, or such as redis://user:password@host:port/db")
	}
	return nil
}

func (s Setup) validateSizes() error {
	for _, n := range []struct {
		flag        string
		value, most int
	}{
		{"-instances", s.Instances, maxInstances},
		{"-keys", s.Keys, maxKeys},
		{"-readers", s.Readers, maxReaders},
	} {
		if n.value < 1 || n.value > n.most {
			return fmt.Errorf("%s must be from 1 to %d, not %d", n.flag, n.most, n.value)
		}
	}
	return nil
}

func (s Setup) validateTimes() error {
	for _, d := range []struct {
		flag        string
		value       time.Duration
		least, most time.Duration
	}{
		{"-ttl", s.TTL, 10 * time.Millisecond, maxTTL},
		{"-delta", s.Delta, time.Millisecond, maxDelta},
		{"-duration", s.Duration, 100 * time.Millisecond, maxDuration},
	} {
		if d.value < d.least || d.value > d.most {
			return fmt.Errorf("%s must be from %v to %v, not %v", d.flag, d.least, d.most, d.value)
		}
	}
	switch {
	case s.Delta >= s.TTL:
		return fmt.Errorf("-delta %v is not shorter than -ttl %v: values would expire faster than they load", s.Delta, s.TTL)
	case s.Duration < s.TTL:
		return fmt.Errorf("-duration %v is shorter than -ttl %v: no generation would pass", s.Duration, s.TTL)
	}
	return nil
}

func (s Setup) validateReads() error {
	switch {
	case !(s.Rate >= 1 && s.Rate <= maxRate):
		return fmt.Errorf("-rate must be from 1 to %d reads per second, not %v", maxRate, s.Rate)
	case s.Rate*s.Duration.Seconds() > maxReads:
		return fmt.Errorf("-rate times -duration: %.0f reads are too many, the most is %d", s.Rate*s.Duration.Seconds(), maxReads)
	case s.Rate*s.Delta.Seconds() > maxWaiting:
		return fmt.Errorf("-rate times -delta: %.0f reads would wait at once, the most is %d", s.Rate*s.Delta.Seconds(), maxWaiting)
	}
	return nil
}

// lives are values of NearTTL, as a flag.
type lives []time.Duration

func (l *lives) String() string {
	if l == nil || len(*l) == 0 {
		return "none"
	}
	words := make([]string, len(*l))
	for i, d := range *l {
		words[i] = nearText(d)
	}
	return strings.Join(words, ",")
}

func nearText(d time.Duration) string {
	if d < 0 {
		return "off"
	}
	return d.String()
}

// Set reads durations, and off, with commas between them.
func (l *lives) Set(text string) error {
	*l = nil
	if text == "none" {
		return nil
	}
	words := strings.Split(text, ",")
	if len(words) > maxNear {
		return fmt.Errorf("%d are too many, the most is %d", len(words), maxNear)
	}
	for _, word := range words {
		if word == "off" {
			*l = append(*l, earlybird.Off)
			continue
		}
		d, err := time.ParseDuration(strings.TrimSpace(word))
		switch {
		case err != nil:
			return err
		case d < time.Millisecond || d > maxTTL:
			return fmt.Errorf("%v must be from %v to %v", d, time.Millisecond, maxTTL)
		}
		*l = append(*l, d)
	}
	return nil
}

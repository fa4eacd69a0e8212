package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verb is what an operation does.
type Verb string

const (
	Get    Verb = "get"
	Lookup Verb = "lookup"
	Peek   Verb = "peek"
	Crowd  Verb = "crowd" // N concurrent Lookups of each key
	Many   Verb = "getmany"
	Warm   Verb = "warm"
	Audit  Verb = "audit" // Peek at all rows at once, and at Stats

	Set           Verb = "set" // change the row, then Set what it now is
	Invalidate    Verb = "invalidate"
	InvalidateAll Verb = "invalidateall"
	Created       Verb = "created"
	Creating      Verb = "creating" // around the creation of the rows

	Change  Verb = "change" // a new version of the row at the origin, which may be its first
	Delete  Verb = "delete" // the row at the origin
	Release Verb = "release"
	Close   Verb = "close"

	// What befalls the tier of several caches.
	Cut        Verb = "cut" // cache N off from it
	Heal       Verb = "heal"
	Evict      Verb = "evict" // all that it knows of a key
	EvictLease Verb = "evictlease"
	Lose       Verb = "lose"     // everything
	Save       Verb = "save"     // what a later failover goes back to
	FailOver   Verb = "failover" // to what was saved
)

var verbs = []Verb{
	Get, Lookup, Peek, Crowd, Many, Warm, Audit,
	Set, Invalidate, InvalidateAll, Created, Creating,
	Change, Delete, Release, Close,
	Cut, Heal, Evict, EvictLease, Lose, Save, FailOver,
}

// Op is one operation of one client.
type Op struct {
	Client int
	Wait   time.Duration // before it, since the client's previous operation ended
	Verb   Verb
	Keys   []string
	Ctx    Ctx           // of reads
	N      int           // readers of each key, of Crowd; the cache, of Cut
	Take   time.Duration // of the commit, of Creating
	Fails  bool          // the commit, of Creating: no row is created
}

func (o Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client %d wait=%v %s", o.Client, o.Wait, o.Verb)
	for _, k := range o.Keys {
		b.WriteString(" " + k)
	}
	if o.Ctx.Kind != Background {
		b.WriteString(" ctx=" + o.Ctx.String())
	}
	if o.N != 0 {
		fmt.Fprintf(&b, " n=%d", o.N)
	}
	if o.Take != 0 {
		fmt.Fprintf(&b, " take=%v", o.Take)
	}
	if o.Fails {
		b.WriteString(" fails")
	}
	return b.String()
}

// parseOp reads what follows the word client.
func parseOp(words []string) (Op, error) {
	if len(words) < 3 {
		return Op{}, fmt.Errorf("an operation needs a client, a wait and a verb")
	}
	var o Op
	var err error
	if o.Client, err = strconv.Atoi(words[0]); err != nil {
		return o, err
	}
	for _, word := range words[1:] {
		if err := o.parse(word); err != nil {
			return o, err
		}
	}
	if o.Verb == "" {
		return o, fmt.Errorf("no verb")
	}
	return o, nil
}

func (o *Op) parse(word string) (err error) {
	name, value, assigned := strings.Cut(word, "=")
	switch {
	case assigned && name == "wait":
		o.Wait, err = time.ParseDuration(value)
	case assigned && name == "ctx":
		o.Ctx, err = parseCtx(value)
	case assigned && name == "n":
		o.N, err = strconv.Atoi(value)
	case assigned && name == "take":
		o.Take, err = time.ParseDuration(value)
	case o.Verb == "":
		o.Verb = Verb(word)
		if !slices.Contains(verbs, o.Verb) {
			err = fmt.Errorf("unknown verb %q", word)
		}
	case o.Verb == Creating && word == "fails":
		o.Fails = true
	default:
		o.Keys = append(o.Keys, word)
	}
	return err
}

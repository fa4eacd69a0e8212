// Package archive is the API that the attacks of package hostile are made on: an
// archive of things that are read by key.
//
// Its keys are of three kinds, which differ in how far a key's shape tells that it is
// nonsense:
//
//	product:{uint}              nearly everything that is not a key
//	page:{slug}-{uint}          much, but the slug's end has to be searched for
//	Join(locale, tenant, name)  nothing of the name: it is what customers call their files
//
// A document has one name in all locales, so the locale is no part of what a guard has
// to know; the tenant is.
package archive

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/earlybird-cache/earlybird/keyshape"
)

// An Archive is a set of things that exist, and some that did. It never changes and
// may be shared.
type Archive struct {
	keys    []string
	deleted []string
	exists  map[string]struct{}
}

// Deletions is how many things an archive had that are no more.
const Deletions = 50

var (
	locales = []string{"en", "de", "fr"}
	tenants = []string{"acme", "acme1", "globex", "initech", "umbrella", "hooli", "stark", "wayne"}
	words   = []string{"red", "blue", "suede", "shoe", "boot", "lace", "heel", "sole", "sandal", "summer"}
)

// New returns an archive of so many things: for every document, which is there in each
// locale, two pages and five products.
func New(things int, seed uint64) *Archive {
	documents := things / 8
	a := &Archive{exists: make(map[string]struct{})}
	rng := rand.New(rand.NewPCG(seed, 0xa4c))
	id := uint64(0)
	next := func() uint64 { // ids have gaps
		id += 1 + rng.Uint64N(9)
		return id
	}
	for range things - 3*documents {
		a.keys = append(a.keys, Product(next()))
	}
	for range 2 * documents {
		slug := words[rng.IntN(len(words))] + "-" + words[rng.IntN(len(words))]
		a.keys = append(a.keys, Page(slug, next()))
	}
	for i := range documents {
		tenant, name := tenants[rng.IntN(len(tenants))], fileName(i, rng)
		for _, locale := range locales {
			a.keys = append(a.keys, Document(locale, tenant, name))
		}
	}
	for i := range Deletions {
		a.deleted = append(a.deleted, Document(locales[0], tenants[0], fileName(documents+i, rng)))
	}
	for _, key := range a.keys {
		a.exists[key] = struct{}{}
	}
	rng.Shuffle(len(a.keys), func(i, j int) { a.keys[i], a.keys[j] = a.keys[j], a.keys[i] })
	return a
}

func fileName(i int, rng *rand.Rand) string {
	return fmt.Sprintf("invoices/2024/%06d-%016x.pdf", i, rng.Uint64())
}

// Product returns the key of the product with that id.
func Product(id uint64) string { return fmt.Sprintf("product:%d", id) }

// Page returns the key of the page with that title and id.
func Page(slug string, id uint64) string { return fmt.Sprintf("page:%s-%d", slug, id) }

// Document returns the key of a tenant's document.
func Document(locale, tenant, name string) string { return keyshape.Join(locale, tenant, name) }

// Shapes returns the shapes of keys.
func Shapes() *keyshape.Set {
	return keyshape.Union(
		keyshape.MustCompile("product:{uint}", "page:{slug}-{uint}"),
		keyshape.Joined(
			keyshape.MustCompile("{"+strings.Join(locales, "|")+"}"),
			keyshape.MustCompile("{slug:3..20}"),
			nil,
		),
	)
}

// ID returns the part of a key that says what it is the key of: all of it, but for a
// document the locale. It is a substring.
func ID(key string) string {
	locale, ok := keyshape.Part(key, 0)
	if !ok {
		return key
	}
	length, _, _ := strings.Cut(key, ":")
	return key[len(length)+len(":")+len(locale)+len(","):]
}

// Keys returns every key that exists, the most wanted first. The slice is the
// archive's own: read it only.
func (a *Archive) Keys() []string { return a.keys }

// Deleted returns keys of things that are no more. The slice is the archive's own.
func (a *Archive) Deleted() []string { return a.deleted }

// Exists reports whether key is the key of something.
func (a *Archive) Exists(key string) bool {
	_, exists := a.exists[key]
	return exists
}

// IDs lists the ID of everything that exists or did, those of documents once.
func (a *Archive) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, keys := range [][]string{a.keys, a.deleted} {
			for _, key := range keys {
				if id := ID(key); !isTranslation(key, id) && !yield(id) {
					return
				}
			}
		}
	}
}

// isTranslation reports whether key, of that ID, is of a document in another locale
// than the first.
func isTranslation(key, id string) bool {
	return key != id && key != keyshape.Join(locales[0])+id
}

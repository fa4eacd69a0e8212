package memstore_test

import (
	"fmt"

	"github.com/earlybird-cache/earlybird/memstore"
)

// A map that counts visits, and at some time forgets the visitors who come
// least.
func ExampleMap_Update() {
	visits, err := memstore.New[int](1000)
	if err != nil {
		panic(err)
	}
	for _, visitor := range []string{"ann", "bob", "ann"} {
		visits.Update(visitor, func(n int, _ bool) (int, memstore.Op) {
			return n + 1, memstore.Put
		})
	}
	fmt.Println(visits.Get("ann"))
	fmt.Println(visits.Get("eve"))
	fmt.Println(visits.Len())
	// Output:
	// 2 true
	// 0 false
	// 2
}

// Looking and storing are one step: a value whose version is older than what is
// there is not stored, whoever else is at the key.
func ExampleOp() {
	type row struct{ version, price int }
	rows, err := memstore.New[row](1000)
	if err != nil {
		panic(err)
	}
	for _, r := range []row{{1, 90}, {3, 70}, {2, 80}} {
		rows.Update("kettle", func(old row, ok bool) (row, memstore.Op) {
			if ok && r.version <= old.version {
				return old, memstore.Keep
			}
			return r, memstore.Put
		})
	}
	fmt.Println(rows.Get("kettle"))
	rows.Update("kettle", func(old row, ok bool) (row, memstore.Op) { return old, memstore.Drop })
	fmt.Println(rows.Get("kettle"))
	// Output:
	// {3 70} true
	// {0 0} false
}

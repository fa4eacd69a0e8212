package main

import "strings"

// row is subjects worth comparing. Ratios refer to the one named base.
type row struct {
	name, base string
	columns    []column
	subjects   []subject

	// once says that the row is not measured for each number of processors, only
	// for the greatest.
	once bool

	// variants are what it is measured with, a table each; nil: the plain workload.
	variants func(plan) []variant
}

// variant is a workload that is made when its turn comes.
type variant struct {
	label    string
	workload func() *workload
}

// rows are all there are, in the order of their tables.
var rows = []row{hitRow, rejectRow, missRow, manyRow, setRow, setNewRow, invalidateRow, memoryRow, gcRow, ratioRow, loopRow, stormRow, sharedRow, sharedBytesRow}

var hitRow = row{
	name: "hit", base: "earlybird", columns: speed(faster("earlybird", cost)), variants: plan.combinations,
	subjects: []subject{
		timed("earlybird", hits(newEarlybird)),
		timed("earlybird-all", hits(newShopCache)),
		timed("otter", hits(newOtter)),
		timed("otter-coarse", hits(newOtterCoarse)),
		timed("theine", hits(newTheine)),
		timed("sturdyc", hits(newSturdyc)),
		timed("ristretto", hits(newRistretto)),
		timed("hot-lru", hits(newHotLRU)),
		timed("hot-wtinylfu", hits(newHotTiny)),
		timed("map", hits(newMap)),
	},
}

var rejectRow = row{
	name: "reject", base: "hit", columns: speed(times("hit", cost)),
	subjects: []subject{
		timed("hit", hits(newShopCache)),
		timed("length", openLength),
		timed("shape", openShape),
		timed("guard", openGuard),
		timed("negative", openNegative),
	},
}

var missRow = row{
	name: "miss", base: "floor", columns: speed(times("floor", cost)),
	subjects: []subject{
		timed("earlybird", misses(newEarlybird)),
		timed("otter", misses(newOtter)),
		timed("theine", misses(newTheine)),
		timed("sturdyc", misses(newSturdyc)),
		timed("hot-lru", misses(newHotLRU)),
		timed("hot-wtinylfu", misses(newHotTiny)),
		timed("floor", openFloor),
	},
}

var manyRow = row{
	name: "many", base: "hit", columns: batchSpeed(times("hit", cost)),
	subjects: []subject{
		timed("hit", oneHit(newEarlybird)),
		timed("earlybird-100", manyHits(newEarlybird)),
		timed("otter-100", manyHits(newOtter)),
		timed("sturdyc-100", manyHits(newSturdyc)),
		timed("earlybird-50", manyMisses(newEarlybird, batchLen/2)),
		timed("otter-50", manyMisses(newOtter, batchLen/2)),
		timed("sturdyc-50", manyMisses(newSturdyc, batchLen/2)),
		timed("earlybird-0", manyMisses(newEarlybird, batchLen)),
		timed("otter-0", manyMisses(newOtter, batchLen)),
		timed("sturdyc-0", manyMisses(newSturdyc, batchLen)),
	},
}

func names() string {
	var ns []string
	for _, r := range rows {
		ns = append(ns, r.name)
	}
	return strings.Join(ns, ", ")
}

// peers are the modules whose versions belong under every table.
var peers = []string{
	"github.com/earlybird-cache/earlybird",
	"github.com/maypok86/otter/v2",
	"github.com/Yiling-J/theine-go",
	"github.com/viccon/sturdyc",
	"github.com/dgraph-io/ristretto/v2",
	"github.com/samber/hot",
	"github.com/hashicorp/golang-lru/v2",
	"github.com/redis/rueidis",
	"github.com/redis/go-redis/v9",
	"github.com/go-redis/cache/v9",
	redisServer,
}

package main

// row is subjects worth comparing. Ratios refer to the one named base.
type row struct {
	name     string
	base     string
	inverse  bool // the ratio is base ÷ subject, not subject ÷ base
	subjects []subject
}

var rows = []row{
	{name: "hit", base: "earlybird", inverse: true, subjects: []subject{
		{"earlybird", openPlain},
		{"earlybird-all", openAll},
		{"otter", openOtter},
		{"otter-coarse", openOtterCoarse},
		{"theine", openTheine},
		{"sturdyc", openSturdyc},
		{"ristretto", openRistretto},
		{"map", openMap},
	}},
	{name: "reject", base: "hit", subjects: []subject{
		{"hit", openAll},
		{"length", openLength},
		{"shape", openShape},
		{"guard", openGuard},
		{"negative", openNegative},
	}},
	{name: "miss", base: "floor", subjects: []subject{
		{"earlybird", openMiss},
		{"floor", openFloor},
	}},
}

// compares says what the ratios of r are.
func (r row) compares() string {
	if r.inverse {
		return r.base + " ÷ it"
	}
	return "it ÷ " + r.base
}

// ratio compares the figure of a subject with the base's.
func (r row) ratio(it, base float64) float64 {
	if r.inverse {
		return base / it
	}
	return it / base
}

// peers are the modules whose versions belong under every table.
var peers = []string{
	"github.com/earlybird-cache/earlybird",
	"github.com/maypok86/otter/v2",
	"github.com/Yiling-J/theine-go",
	"github.com/viccon/sturdyc",
	"github.com/dgraph-io/ristretto/v2",
}

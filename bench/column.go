package main

// column is a figure that a table shows.
type column struct {
	head      string
	decimals  int
	quartiles bool
	of        func(it, base sample) float64 // base is the base's sample in the same turn
}

// of is the column of one of the sample's own figures.
func of(head, figure string, decimals int) column {
	return column{head: head, decimals: decimals, of: func(it, _ sample) float64 { return it[figure] }}
}

func (c column) withQuartiles() column {
	c.quartiles = true
	return c
}

// each is the column of a figure of an operation, divided among its keys.
func each(head, figure string, decimals int) column {
	return column{head: head, decimals: decimals, of: func(it, _ sample) float64 {
		return it[figure] / it[keysPerOp]
	}}
}

// times is how often the base's figure goes into the subject's.
func times(base string, figure func(sample) float64) column {
	return column{head: "it ÷ " + base, decimals: 2, quartiles: true, of: func(it, base sample) float64 {
		return figure(it) / figure(base)
	}}
}

// faster is the other way round: above 1 the subject is better than the base.
func faster(base string, figure func(sample) float64) column {
	return column{head: base + " ÷ it", decimals: 2, quartiles: true, of: func(it, base sample) float64 {
		return figure(base) / figure(it)
	}}
}

// cost is what ratios of speed compare: processor time if it is known. When
// others want the processors too, the wall clock tells more of them than of the
// subject.
func cost(s sample) float64 {
	if cpu := s[cpuPerOp]; cpu > 0 {
		return cpu
	}
	return s[perOp]
}

// speed is the columns of a row of single operations, with how they compare.
func speed(compared column) []column {
	return []column{
		of("ns/op", perOp, 1).withQuartiles(),
		of("cpu ns", cpuPerOp, 1).withQuartiles(),
		compared,
		of("allocs", allocsPerOp, 1),
		of("bytes", bytesPerOp, 0),
	}
}

// batchSpeed is that of a row of operations on many keys at once.
func batchSpeed(compared column) []column {
	return append(speed(compared),
		each("cpu ns/key", cpuPerOp, 1),
		each("allocs/key", allocsPerOp, 1),
		of("calls", callsOp, 2),
	)
}

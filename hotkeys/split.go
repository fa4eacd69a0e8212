package hotkeys

// copies returns how many copies k is to have. They become more at once, and fewer
// when fewer have been enough, and with some to spare, for Cool, and Dwell has
// passed since they last changed.
func (p *Plan) copies(k *plannedKey, instances int) int {
	if p.rule.ServerReads < 0 || p.rule.MaxCopies <= 1 {
		return 1
	}
	reads := p.sharedReads(k.rate, instances) / p.rule.ServerReads
	need, enough := p.sized(reads), p.sized(reads/slack)
	if enough >= k.copies {
		k.fewer = false
		return max(need, k.copies)
	}
	if !k.fewer {
		k.fewer, k.fewerSince = true, p.latest
	}
	if p.latest-k.fewerSince < p.rule.Cool || p.latest-k.since < p.rule.Dwell {
		return k.copies
	}
	return enough
}

// sharedReads is how often a fleet asks the shared tier for a key, see Plan.
func (p *Plan) sharedReads(rate float64, instances int) float64 {
	switch m := float64(instances); {
	case rate <= 0:
		return 0
	case p.rule.Life < 0:
		return m * rate
	default:
		return m / (p.rule.Life.Seconds() + 1/rate)
	}
}

// sizes are the numbers of copies in use. Each number has copies of its own, all
// of which a change of the key must reach, so there are few.
var sizes = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}

// sized returns the least size that bears the load of so many servers.
func (p *Plan) sized(servers float64) int {
	for _, n := range sizes {
		if float64(n) >= servers || n >= p.rule.MaxCopies {
			return min(n, p.rule.MaxCopies)
		}
	}
	return mostCopies
}

// CopyFor returns which of n copies to read. Draw u anew for each read, evenly from
// [0, 1). With one u for all reads of a process, which of the copies most processes
// have is left to chance: of 3 servers the busiest then gets 40 % of what 50
// processes read, on average, and 48 % of what 12 do.
func CopyFor(u float64, n int) int {
	return max(min(int(u*float64(n)), n-1), 0)
}

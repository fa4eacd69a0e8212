package xfetch

import "math"

// FleetLoads is the mean number of loads per expiry when the readers sit on
// several instances that share the entry, reads fall on the instances at
// random, and each instance runs at most one load of the key at a time
// (singleflight). For a hot key and M instances it is
//
//	1 + (M-1)*c/(M+c),     c = e^{w/s} - 1
//
// Given the first start at V, each other instance stays quiet with probability
// e^{-V*c/M}, whose mean over an Exp(1) distributed V is M/(M+c). At beta 1 that
// is 1, 1.46, 1.90, 2.32, 2.67 for 1, 2, 4, 10, 100 instances: coalescing
// in each instance hardly helps a fleet.
//
// The result holds at any read rate: 1 + (M-1)*E[1-e^{-n/M}], where the mean n
// of the other starts has the three cases of [Law.LoadsPerExpiry]. One instance
// or fewer load once.
func (l Law) FleetLoads(instances int) float64 {
	if instances <= 1 {
		return 1
	}
	m := float64(instances)
	return 1 + (m-1)*l.joins(m)
}

// joins is the chance that a given instance other than the first loads too. It
// is put together from small terms, never as 1 minus a large one: it is to be
// multiplied by a great many instances.
func (l Law) joins(m float64) float64 {
	a, drawn := l.ReadsPerScale(), l.drawn()
	hard := -math.Exp(-drawn) * math.Expm1(-l.readsWhileUnaware()/m)
	if a == 0 {
		return hard
	}
	x := l.awareScales()
	return joinsEarly(drawn, x, m) + joinsAcrossExpiry(drawn, a, x, m) + hard
}

// joinsEarly, a being A, is the case in which the first start is visible before expiry:
// with q = c/m,
//
//	∫ e^{-v} (1 - e^{-v*q}) dv, from 0 to V1
//	  = (q (1-e^{-V1}) - e^{-V1} (1-e^{-V1*q})) / (1+q)
//
// where V1*q = (a-V1)/m stays finite when q does not.
func joinsEarly(a, x, m float64) float64 {
	visible, q := a*math.Exp(-x), math.Expm1(x)/m
	return math.Exp(-visible)*math.Expm1(-(a-visible)/m)/(1+q) - math.Expm1(-visible)/(1+1/q)
}

// joinsAcrossExpiry is the case between: the first start is early but becomes
// visible after expiry. With v = A*e^{-y}, where y scales were left, n is
// (A-v) early and a*(x-y) hard starts, and
//
//	∫ v*e^{-v} (1 - e^{-n/m}) dy,  y from 0 to x = w/s
//
// has no elementary form. Where the integrand changes within less than 1/20 of
// a scale, V1 > 20, the whole case weighs less than e^{-20}: Simpson's rule
// with a fixed step serves.
func joinsAcrossExpiry(drawn, a, x, m float64) float64 {
	const perScale = 128
	end := min(x, 745+math.Log1p(drawn)) // beyond, v is 0
	panels := 2 * math.Ceil(end*perScale/2)
	if panels == 0 {
		return 0
	}
	at := func(y float64) float64 {
		v := drawn * math.Exp(-y)
		return -v * math.Exp(-v) * math.Expm1(-(drawn-v+a*(x-y))/m)
	}
	sum := at(0) + at(end)
	for i := 1.0; i < panels; i++ {
		weight := 2 + 2*math.Mod(i, 2) // 4, 2, 4, ..., 4
		sum += weight * at(end*i/panels)
	}
	return sum * end / panels / 3
}

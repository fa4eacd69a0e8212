package xfetch

import "math"

// euler is the Euler-Mascheroni constant.
const euler = 0.57721566490153286060651209008240243

// ein is the entire exponential integral, ∫ (1-e^{-t})/t dt from 0 to x, for
// x >= 0. It equals ln(x) + γ + E1(x), but at small x that form would cancel,
// so there it is summed as -Σ (-x)^k/(k·k!).
func ein(x float64) float64 {
	if x > 1 {
		return math.Log(x) + euler + e1(x)
	}
	sum, power := 0.0, 1.0
	for k := 1.0; ; k++ {
		power *= -x / k
		next := sum - power/k
		if next == sum {
			return sum
		}
		sum = next
	}
}

// e1 is the exponential integral, ∫ e^{-t}/t dt from x to ∞, for x > 0. Above 1
// it uses the continued fraction
//
//	E1(x) = e^{-x}/(x+1 - 1²/(x+3 - 2²/(x+5 - ...)))
//
// evaluated by the modified Lentz method. Its denominators are positive for
// x > 0, so the method's guard against zeros is not needed.
func e1(x float64) float64 {
	if x <= 1 {
		return ein(x) - math.Log(x) - euler
	}
	b := x + 1
	c, d := math.MaxFloat64, 1/b
	fraction := d
	for k := 1.0; ; k++ {
		b += 2
		d = 1 / (b - k*k*d)
		c = b - k*k/c
		factor := c * d
		fraction *= factor
		if math.Abs(factor-1) <= 0x1p-52 || k == 200 {
			return fraction * math.Exp(-x)
		}
	}
}

// relativeLoss is (1-e^{-x})/x, continued by 1 at 0: accurate for small x, where
// the plain form cancels, and finite for all x >= 0.
func relativeLoss(x float64) float64 {
	if x == 0 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// e1Between is E1(low) - E1(high) for low = high*e^{-x}. Where low may be tiny,
// even 0 for an x above 745, the logarithms are taken out of the difference.
func e1Between(low, high, x float64) float64 {
	if low > 1 {
		return e1(low) - e1(high)
	}
	return x - (ein(high) - ein(low))
}

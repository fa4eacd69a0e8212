package bloom

import "fmt"

// State says whether a guard refuses anything, and if not, why.
type State uint8

const (
	// Off is the state of a nil guard.
	Off State = iota
	// Unbuilt: no build or load has succeeded yet. Fails open.
	Unbuilt
	// Ready: absent ids are refused.
	Ready
	// Saturated: the guard holds over 1.5 times its design count, and so many
	// strangers would pass that it is better rebuilt. Fails open.
	Saturated
	// Outdated: the ids were read longer than Options.MaxAge ago. Fails open.
	Outdated
	// Incomplete: ids were created of which the guard may not have been told, see
	// [Guard.Missed]. Fails open.
	Incomplete
	// Damaged: the guard was caught denying an id that exists. Fails open.
	Damaged
)

func (s State) String() string {
	switch s {
	case Off:
		return "off"
	case Unbuilt:
		return "unbuilt"
	case Ready:
		return "ready"
	case Saturated:
		return "saturated"
	case Outdated:
		return "outdated"
	case Incomplete:
		return "incomplete"
	case Damaged:
		return "damaged"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

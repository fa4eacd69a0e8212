package redisstore

import "time"

// longest bounds every life and grace; longer ones are shortened to it, so that
// sums of them overflow nowhere, here or in the server.
const longest = 50 * 365 * 24 * time.Hour

// milliseconds returns d for a command of the server, which counts in whole
// ones. What is positive never becomes 0, which would be no life at all or, to
// some commands, one without an end.
func milliseconds(d time.Duration) int64 {
	return max(int64((d+time.Millisecond-1)/time.Millisecond), 1)
}

// keep returns for how long a frame is stored, in milliseconds.
func (f frame) keep() int64 { return milliseconds(f.life + f.grace) }

// left returns what is left of the frame's life when its key has pttl
// milliseconds left. The server was asked for pttl before the frame, so the frame
// may be the newer of the two; then it has at most its whole life left.
func (f frame) left(pttl int64) time.Duration {
	if pttl < 0 { // the key was not there yet, or is just going: already due
		return 0
	}
	past := time.Duration(f.keep()-pttl) * time.Millisecond
	return min(f.life-past, f.life)
}

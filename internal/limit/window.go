package limit

import "time"

// The sliding window is estimated from two fixed ones: the hits of the current
// one plus the share of the previous one that still lies within the last minute.
// Everything is computed in microsecond-hits, so that it is exact.

const windowMicros = int64(Window / time.Microsecond)

// used returns the hits of the last minute, times windowMicros.
func (c Count) used() int64 {
	return int64(c.Current)*windowMicros + int64(c.Previous)*(windowMicros-c.Elapsed.Microseconds())
}

// room reports whether one more hit fits.
func (c Count) room(limit int) bool {
	return c.used()+windowMicros <= int64(limit)*windowMicros
}

// remaining returns how many more hits fit right now.
func (c Count) remaining(limit int) int {
	return int(max(0, int64(limit)*windowMicros-c.used()) / windowMicros)
}

// retryAfter returns how long to wait, in whole seconds, until one more hit fits if
// there are no others meanwhile.
func (c Count) retryAfter(limit int) time.Duration {
	wait := int64(0)
	if c.Current >= limit { // not in this window: in the next, this one is the previous
		wait = windowMicros - c.Elapsed.Microseconds()
		c = Count{Previous: c.Current}
	}
	if free := int64(limit - 1 - c.Current); int64(c.Previous) > free {
		// previous × (window − elapsed) ≤ free × window
		until := windowMicros - free*windowMicros/int64(c.Previous)
		wait += max(0, until-c.Elapsed.Microseconds())
	}
	seconds := (wait + int64(time.Second/time.Microsecond) - 1) / int64(time.Second/time.Microsecond)
	return time.Duration(max(1, seconds)) * time.Second
}

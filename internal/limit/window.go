package limit

import "time"

// The sliding window is estimated from two fixed ones: the hits of the current
// one plus the share of the previous one that still lies within the last minute.
// Everything is computed in microsecond-hits, so that it is exact.

const windowMicros = int64(Window / time.Microsecond)

// weightedHits returns the hits of the last minute, times windowMicros.
func (c Count) weightedHits() int64 {
	return int64(c.Current)*windowMicros + int64(c.Previous)*(windowMicros-c.Elapsed.Microseconds())
}

// hasRoom reports whether one more hit fits.
func (c Count) hasRoom(limit int) bool {
	return c.weightedHits()+windowMicros <= int64(limit)*windowMicros
}

// remaining returns how many more hits fit right now.
func (c Count) remaining(limit int) int {
	return int(max(0, int64(limit)*windowMicros-c.weightedHits()) / windowMicros)
}

// one is the limit of a group that counts exactly: a window begins with the hit itself, so
// the next hit passes after exactly Window. An estimate from aligned windows would refuse it
// for up to twice as long.
const one = 1

// retryAfter returns how long to wait, in whole seconds, until one more hit fits if
// there are no others meanwhile.
func (c Count) retryAfter(limit int) time.Duration {
	wait := int64(0)
	switch {
	case limit == one && c.Current >= limit: // Elapsed is since the hit
		return seconds(windowMicros - c.Elapsed.Microseconds())
	case c.Current >= limit: // not in this window: in the next, this one is the previous
		wait = windowMicros - c.Elapsed.Microseconds()
		c = Count{Previous: c.Current}
	}
	if free := int64(limit - 1 - c.Current); int64(c.Previous) > free {
		// previous × (window − elapsed) ≤ free × window
		until := windowMicros - free*windowMicros/int64(c.Previous)
		wait += max(0, until-c.Elapsed.Microseconds())
	}
	return seconds(wait)
}

// seconds rounds microseconds up to whole seconds, at least one.
func seconds(micros int64) time.Duration {
	second := int64(time.Second / time.Microsecond)
	return time.Duration(max(1, (micros+second-1)/second)) * time.Second
}

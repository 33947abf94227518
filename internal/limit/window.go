package limit

import "time"

// The sliding window is estimated from two fixed windows: the hits of the current window, plus the
// part of the previous window's hits that falls within the last minute. All values are exact
// integers: hits times microseconds.

const windowMicros = int64(Window / time.Microsecond)

// weightedHits returns the hits of the last minute, times windowMicros.
func (c Count) weightedHits() int64 {
	return int64(c.Current)*windowMicros + int64(c.Previous)*(windowMicros-c.Elapsed.Microseconds())
}

// hasRoom reports whether one more hit fits.
func (c Count) hasRoom(limit int) bool {
	return c.weightedHits()+windowMicros <= int64(limit)*windowMicros
}

// remaining returns how many more hits fit now.
func (c Count) remaining(limit int) int {
	return int(max(0, int64(limit)*windowMicros-c.weightedHits()) / windowMicros)
}

// one is the limit of a group that is counted exactly: its window begins with the hit itself, so
// the next hit is allowed after exactly Window. An estimate from aligned windows would reject the
// next hit for up to twice as long.
const one = 1

// retryAfter returns the time, in whole seconds, until one more hit fits if no other hits arrive
// before.
func (c Count) retryAfter(limit int) time.Duration {
	wait := int64(0)
	switch {
	case limit == one && c.Current >= limit: // with a limit of one, Elapsed is the time since the hit
		return seconds(windowMicros - c.Elapsed.Microseconds())
	case c.Current >= limit: // no hit fits until the current window has become the previous one
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

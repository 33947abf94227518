package jobs

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempt, whole := range map[int]time.Duration{
		1: 2 * time.Second, 2: 4 * time.Second, 3: 8 * time.Second, 11: 2048 * time.Second,
		12: time.Hour, 16: time.Hour, 17: time.Hour, 64: time.Hour, 1000: time.Hour,
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := backoff(attempt)
			if got < whole/2 || got > whole {
				t.Errorf("pause after attempt %d is %v, want between %v and %v", attempt, got, whole/2, whole)
			}
			seen[got] = true
		}
		if len(seen) < 50 {
			t.Errorf("pauses after attempt %d are not spread: %v", attempt, seen)
		}
	}
}

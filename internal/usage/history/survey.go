package history

import (
	"context"

	"github.com/tenantry/tenantry/internal/usage"
)

// Survey reads all events of the streams from one to another, both included and in any
// order, calls each for every one, and reports the streams whose hours seem to be others
// than their events come to. Nothing is locked, so that whoever records meanwhile can make
// a stream seem wrong that is not.
func (s *Sums) Survey(ctx context.Context, first, last usage.StreamKey, each func(usage.CountedEvent)) (wrong map[usage.StreamKey]bool, err error) {
	tallies, err := s.store.tallies(ctx, first, last)
	if err != nil {
		return nil, err
	}
	stored := map[usage.StreamKey][]usage.Hour{}
	err = s.store.hoursBetween(ctx, first, last, func(h usage.Hour) {
		if t := tallies[h.Stream]; t != nil && h.Hour >= usage.HourOf(t.state.complete()) {
			stored[h.Stream] = append(stored[h.Stream], h)
		}
	})
	if err != nil {
		return nil, err
	}
	err = s.store.eventsBetween(ctx, first, last, func(e usage.CountedEvent) {
		if t := tallies[e.Stream]; t != nil { // else recorded on for the first time just now
			t.add(e)
			each(e)
		}
	})
	if err != nil {
		return nil, err
	}
	wrong = map[usage.StreamKey]bool{}
	for k, t := range tallies {
		if len(t.compareHours(stored[k])) > 0 {
			wrong[k] = true
		}
	}
	return wrong, nil
}

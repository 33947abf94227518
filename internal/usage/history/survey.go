package history

import (
	"context"

	"github.com/tenantry/tenantry/internal/usage"
)

// Survey calls each for all events of the streams from first to last (inclusive), in any order. It
// returns the streams whose hours differ from the aggregates of their events. It takes no locks, so
// concurrent recording can make a correct stream look wrong.
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
		if t := tallies[e.Stream]; t != nil { // otherwise the stream was created after tallies
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

package usage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// refusalParts is how many parts the count of a day is in.
const refusalParts = 16

// countRefused counts the events that were refused for a quota, in the transaction that
// decides about them, while their streams are locked (rules: usage#quotas).
//
// The counts of a day are shared by all tenants: they are locked after all else, in order.
func (l *ledger) countRefused(ctx context.Context, streams []*stream, now time.Time) error {
	hour, day := HourOf(now), HourOf(now.UTC().Truncate(24*time.Hour))/24
	var of []refusedOf
	parts := map[int32]int64{}
	for _, s := range streams {
		var n int64
		for _, e := range s.entries {
			if errors.Is(e.verdict.err, ErrQuotaExceeded) {
				n++
			}
		}
		if n > 0 {
			of = append(of, refusedOf{s.key, n})
			parts[int32(s.key.TenantID[15]%refusalParts)] += n
		}
	}
	if len(of) == 0 {
		return nil
	}
	if err := l.store.addRefused(ctx, hour, of); err != nil {
		return err
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if err := l.store.addRefusedOfDay(ctx, day, part, parts[part]); err != nil {
			return err
		}
	}
	return nil
}

// refusedOf is how many events of a stream were refused.
type refusedOf struct {
	stream StreamKey
	events int64
}

package usage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// refusalParts is the number of rows over which the count of a day is spread, to reduce contention.
const refusalParts = 16

// countRefused counts the events that were rejected because of a quota, in the transaction that
// rejects them, while their streams are locked (rules: usage#quotas).
//
// The daily counts are shared by all tenants, so they are locked last, in order.
func (l *ledger) countRefused(ctx context.Context, streams []*stream, now time.Time) error {
	hour, day := HourOf(now), HourOf(now.UTC().Truncate(24*time.Hour))/24
	var of []refusedCount
	parts := map[int32]int64{}
	for _, s := range streams {
		var n int64
		for _, e := range s.entries {
			if e.hold == nil && errors.Is(e.verdict.err, ErrQuotaExceeded) {
				n++
			}
		}
		if n > 0 {
			of = append(of, refusedCount{s.key, n})
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

// refusedCount is the number of rejected events of a stream.
type refusedCount struct {
	stream StreamKey
	events int64
}

package audit

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Entries are counted by day, so that a list of millions knows its number of pages at once.
//
// Invariant: for each counted day, audit_days has exactly the entries that the trail has of
// that day, by action. A day is counted after it is over for longer than any transaction
// lasts, so that it gets no further entries; and what deletes entries takes them off in the
// same transaction. Both take one lock first: on PostgreSQL a count would not see a
// deletion that is not committed, and the deletion not the count.

const (
	dayFormat = "2006-01-02"
	// settled is how long a day has been over when it is counted.
	settled = time.Hour
	// daysAtOnce is how many days one transaction counts.
	daysAtOnce = 50
)

func (s store) q(ctx context.Context) *auditsql.Queries { return auditsql.New(s.db.Conn(ctx)) }

// count returns how many entries there are, of one action unless that is empty.
func (s store) count(ctx context.Context, action string) (int64, error) {
	last, err := s.q(ctx).LastCountedDay(ctx)
	if err != nil {
		return 0, sqldb.Wrap(err, "read the last counted day")
	}
	since, err := after(last)
	if err != nil {
		return 0, err
	}
	var counted, rest int64
	if action == "" {
		counted, err = s.q(ctx).CountedEntries(ctx, last)
		if err == nil {
			rest, err = s.q(ctx).CountEntriesSince(ctx, since)
		}
	} else {
		counted, err = s.q(ctx).CountedEntriesOfAction(ctx, auditsql.CountedEntriesOfActionParams{Action: action, Until: last})
		if err == nil {
			rest, err = s.q(ctx).CountEntriesOfActionSince(ctx, auditsql.CountEntriesOfActionSinceParams{Action: action, Since: since})
		}
	}
	return counted + rest, sqldb.Wrap(err, "count audit entries")
}

// after returns the first moment after a counted day; the zero time if none was counted.
func after(day string) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(dayFormat, day)
	return at.AddDate(0, 0, 1), err
}

// countDays counts some of the days that are over at now, the oldest first, and reports
// whether there are more.
func (s store) countDays(ctx context.Context, now time.Time) (more bool, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.q(ctx).LockDays(ctx); err != nil {
			return err
		}
		day, err := s.firstUncounted(ctx)
		if err != nil || day.IsZero() {
			return err
		}
		end := now.Add(-settled)
		for range daysAtOnce {
			next := day.AddDate(0, 0, 1)
			if next.After(end) {
				return nil
			}
			name := day.Format(dayFormat)
			if err := s.q(ctx).MarkDay(ctx, name); err != nil {
				return err
			}
			if err := s.q(ctx).CountDay(ctx, auditsql.CountDayParams{Day: name, Earliest: day, Before: next}); err != nil {
				return err
			}
			day = next
		}
		more = true
		return nil
	})
	return more, sqldb.Wrap(err, "count audit entries by day")
}

// firstUncounted returns the beginning of the first day that is not counted, or the zero
// time while there are no entries.
func (s store) firstUncounted(ctx context.Context) (time.Time, error) {
	last, err := s.q(ctx).LastCountedDay(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if last != "" {
		return after(last)
	}
	oldest, err := s.q(ctx).OldestEntry(ctx)
	if errors.Is(err, sqldb.ErrNoRows) {
		return time.Time{}, nil
	}
	return oldest.UTC().Truncate(24 * time.Hour), err
}

// deleteOld deletes entries of a time, the oldest first, and returns their times.
func (s store) deleteOld(ctx context.Context, earliest, before time.Time, most int32) (at []time.Time, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context) error {
		at = at[:0]
		if _, err := s.q(ctx).LockDays(ctx); err != nil {
			return err
		}
		rows, err := s.q(ctx).DeleteOldEntries(ctx, auditsql.DeleteOldEntriesParams{Earliest: earliest, Before: before, Most: most})
		if err != nil {
			return err
		}
		deleted := map[auditsql.DiscountDayParams]int64{}
		for _, row := range rows {
			at = append(at, row.CreatedAt)
			deleted[auditsql.DiscountDayParams{Day: row.CreatedAt.UTC().Format(dayFormat), Action: row.Action}]++
		}
		for of, n := range deleted {
			of.Deleted = n
			if err := s.q(ctx).DiscountDay(ctx, of); err != nil {
				return err
			}
		}
		return nil
	})
	return at, sqldb.Wrap(err, "delete old audit entries")
}

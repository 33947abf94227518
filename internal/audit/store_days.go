package audit

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Daily counts keep pagination fast: a list of millions of entries needs a total number of pages.
//
// Invariant: for each counted day, audit_days has the exact number of entries of the day, by
// action. A day is counted once it has been over for longer than any transaction can take, so it
// gets no further entries. Deletions subtract from the counts in the same transaction. Counting and
// deleting take the same lock first: on PostgreSQL neither would see the other's uncommitted
// changes.

const (
	day       = 24 * time.Hour
	dayFormat = "2006-01-02"
	// settleTime is how long after its end a day can be counted.
	settleTime = time.Hour
)

func (s store) q(ctx context.Context) *auditsql.Queries { return auditsql.New(s.db.Conn(ctx)) }

// count returns the number of entries. If action is not empty, it counts only entries of that
// action.
func (s store) count(ctx context.Context, action string) (int64, error) {
	last, err := s.q(ctx).LastCountedDay(ctx)
	if err != nil {
		return 0, sqldb.Wrap(err, "read the last counted day")
	}
	since, err := dayEnd(last)
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

// dayEnd returns the end of a counted day, which is exclusive. It returns the zero time if day is
// empty.
func dayEnd(day string) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(dayFormat, day)
	return at.AddDate(0, 0, 1), err
}

// countDays counts the oldest day that is over and not counted yet. It reports whether there was
// one.
func (s store) countDays(ctx context.Context, now time.Time) (found bool, err error) {
	found, err = s.countDay(ctx, now, s.firstUncounted, func(ctx context.Context, begin, end time.Time) error {
		name := begin.Format(dayFormat)
		if err := s.q(ctx).MarkDay(ctx, name); err != nil {
			return err
		}
		return s.q(ctx).CountDay(ctx, auditsql.CountDayParams{Day: name, Earliest: begin, Before: end})
	})
	return found, sqldb.Wrap(err, "count audit entries by day")
}

// countDay calls first to get the start of a day, and then count if the day is over. It reports
// whether it called count. Both run in one transaction, which holds the lock against concurrent
// counts and deletions. The transaction must be short, because on SQLite all other writers wait for
// it.
func (s store) countDay(
	ctx context.Context, now time.Time, first func(context.Context) (time.Time, error), count func(ctx context.Context, begin, end time.Time) error,
) (found bool, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context) error {
		found = false
		if _, err := s.q(ctx).LockDays(ctx); err != nil {
			return err
		}
		begin, err := first(ctx)
		if err != nil || begin.IsZero() {
			return err
		}
		end := begin.AddDate(0, 0, 1)
		if end.After(now.Add(-settleTime)) {
			return nil
		}
		found = true
		return count(ctx, begin, end)
	})
	return found, err
}

// firstUncounted returns the start of the first day that is not counted, or the zero time if the
// log is empty.
func (s store) firstUncounted(ctx context.Context) (time.Time, error) {
	last, err := s.q(ctx).LastCountedDay(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if last != "" {
		return dayEnd(last)
	}
	return s.firstDay(ctx)
}

// firstDay returns the start of the day of the oldest entry, or the zero time if the log is empty.
func (s store) firstDay(ctx context.Context) (time.Time, error) {
	oldest, err := s.q(ctx).OldestEntry(ctx)
	if errors.Is(err, sqldb.ErrNoRows) {
		return time.Time{}, nil
	}
	return oldest.UTC().Truncate(day), err
}

// deleteOld implements Log.DeleteOld. It also subtracts the deleted entries from the counts.
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
		deleted, ofTenants := map[auditsql.DiscountDayParams]int64{}, map[tenantDay]int64{}
		for _, row := range rows {
			at = append(at, row.CreatedAt)
			deleted[auditsql.DiscountDayParams{Day: row.CreatedAt.UTC().Format(dayFormat), Action: row.Action}]++
			if row.TenantID != nil {
				ofTenants[tenantDay{*row.TenantID, row.CreatedAt.UTC().Truncate(day)}]++
			}
		}
		for of, n := range deleted {
			of.Deleted = n
			if err := s.q(ctx).DiscountDay(ctx, of); err != nil {
				return err
			}
		}
		return s.subtractTenants(ctx, ofTenants)
	})
	return at, sqldb.Wrap(err, "delete old audit entries")
}

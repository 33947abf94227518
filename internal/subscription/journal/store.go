package journal

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal/journalsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *journalsql.Queries { return journalsql.New(s.db.Conn(ctx)) }

func toSubscription(r journalsql.LockSubscriptionRow) subscription {
	return subscription{
		id: r.ID, tenantID: r.TenantID, status: r.Status, currency: r.Currency, priceCents: r.PriceCents, quantity: r.Quantity, discountCents: r.DiscountCents,
		intervalUnit: r.IntervalUnit, intervalCount: r.IntervalCount, trialEndsAt: r.TrialEndsAt, createdAt: r.CreatedAt,
		updatedAt: r.UpdatedAt, version: r.SyncVersion, noted: r.JournaledVersion, before: level{r.JournaledActive, r.JournaledAmount},
	}
}

// lock locks a subscription and returns it.
func (s store) lock(ctx context.Context, tenantID, id uuid.UUID) (subscription, error) {
	row, err := s.q(ctx).LockSubscription(ctx, journalsql.LockSubscriptionParams{TenantID: tenantID, ID: id})
	return toSubscription(row), sqldb.Wrap(err, "lock subscription for the journal")
}

// lockUnnoted locks a batch of subscriptions whose state is not in the journal, and returns them.
func (s store) lockUnnoted(ctx context.Context, most int32) ([]subscription, error) {
	unnoted, err := s.q(ctx).UnnotedSubscriptions(ctx, most)
	if err != nil {
		return nil, sqldb.Wrap(err, "list subscriptions for the journal")
	}
	var list []subscription
	for _, of := range unnoted {
		row, err := s.q(ctx).LockUnnoted(ctx, journalsql.LockUnnotedParams(of))
		if errors.Is(err, sqldb.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, sqldb.Wrap(err, "lock subscription for the journal")
		}
		list = append(list, toSubscription(journalsql.LockSubscriptionRow(row)))
	}
	return list, nil
}

// markNoted records that the journal includes the current state of a subscription.
func (s store) markNoted(ctx context.Context, sub subscription) error {
	now := sub.level()
	err := s.q(ctx).MarkNoted(ctx, journalsql.MarkNotedParams{
		TenantID: sub.tenantID, ID: sub.id, JournaledVersion: sub.version, JournaledAmount: now.amount, JournaledActive: now.active,
	})
	return sqldb.Wrap(err, "mark subscription as journaled")
}

func (s store) add(ctx context.Context, e entry) error {
	err := s.q(ctx).InsertEntry(ctx, journalsql.InsertEntryParams{
		ID: sqldb.NewID(), TenantID: &e.tenantID, At: e.at, Day: DayOf(e.at), Currency: e.currency, Kind: string(e.kind),
		AmountBefore: e.before, AmountAfter: e.after,
	})
	return sqldb.Wrap(err, "insert journal entry")
}

// takeUnfolded marks a batch of entries as folded and returns them.
func (s store) takeUnfolded(ctx context.Context, most int32) ([]entry, error) {
	rows, err := s.q(ctx).TakeUnfolded(ctx, most)
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i] = entry{at: StartOf(r.Day), currency: r.Currency, kind: Kind(r.Kind), before: r.AmountBefore, after: r.AmountAfter}
	}
	return entries, sqldb.Wrap(err, "claim journal entries")
}

func (s store) addToDay(ctx context.Context, of sum, amount, entries int64) error {
	err := s.q(ctx).AddToDay(ctx, journalsql.AddToDayParams{
		Currency: of.currency, Day: of.day, Kind: string(of.kind), Amount: amount, Entries: entries,
	})
	return sqldb.Wrap(err, "update the daily sums")
}

func (s store) forget(ctx context.Context, tenantID uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).ForgetTenant(ctx, tenantID), "take tenant off the journal")
}

func (s store) movements(ctx context.Context, from, to int64) ([]Movement, error) {
	rows, err := s.q(ctx).Sums(ctx, journalsql.SumsParams{Since: from, Until: to})
	list := make([]Movement, len(rows))
	for i, r := range rows {
		list[i] = Movement{Currency: r.Currency, Day: r.DayOrBefore, Kind: Kind(r.Kind), Amount: r.Amount, Entries: r.Entries}
	}
	return list, sqldb.Wrap(err, "read journal sums")
}

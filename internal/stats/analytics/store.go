package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/analytics/analyticssql"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// loadHistory reads the histories of all subscriptions.
func loadHistory(ctx context.Context, j *journal.Journal) (History, error) {
	l := loader{plans: map[uuid.UUID]int{}, currencies: map[string]int{}}
	if err := j.Histories(ctx, l.add); err != nil {
		return History{}, err
	}
	slices.SortFunc(l.h.Subscriptions, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(a.Customer, b.Customer), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return l.h, nil
}

// loader collects histories.
type loader struct {
	h          History
	plans      map[uuid.UUID]int
	currencies map[string]int
}

// indexOf returns the index of a value in a list, which is extended if necessary.
func indexOf[T comparable](list *[]T, known map[T]int, value T) int {
	i, ok := known[value]
	if !ok {
		i = len(*list)
		known[value] = i
		*list = append(*list, value)
	}
	return i
}

func (l *loader) plan(id uuid.UUID) int { return indexOf(&l.h.Plans, l.plans, id) }

func (l *loader) add(h journal.History) {
	currency := indexOf(&l.h.Currencies, l.currencies, h.Currency)
	s := Subscription{ID: h.SubscriptionID, Customer: h.Customer, Currency: currency, Steps: make([]Step, len(h.Levels))}
	for i, level := range h.Levels {
		s.Steps[i] = Step{At: level.At, Plan: l.plan(level.PlanID), Active: level.Active, Amount: level.Amount}
	}
	l.h.Subscriptions = append(l.h.Subscriptions, s)
	for _, m := range h.TrialEnds {
		l.addMilestone(s, m, false)
	}
	for _, m := range h.Payments {
		l.addMilestone(s, m, true)
	}
}

func (l *loader) addMilestone(s Subscription, m journal.Milestone, isPayment bool) {
	l.h.Milestones = append(l.h.Milestones, Milestone{
		Subscription: s.ID, Customer: s.Customer, Currency: s.Currency, Plan: l.plan(m.PlanID), IsPayment: isPayment, At: time.UnixMicro(m.At).UTC(),
	})
}

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *analyticssql.Queries { return analyticssql.New(s.db.Conn(ctx)) }

// plansOf returns the plans with a slug, including deleted ones.
func (s store) plansOf(ctx context.Context, slug string) (map[uuid.UUID]bool, error) {
	ids, err := s.q(ctx).PlansOfSlug(ctx, slug)
	plans := map[uuid.UUID]bool{}
	for _, id := range ids {
		plans[id] = true
	}
	return plans, sqldb.Wrap(err, "find plans by slug")
}

// planNames returns the names of all plans in a locale, including deleted plans.
func (s store) planNames(ctx context.Context, locale string) (map[uuid.UUID]string, error) {
	rows, err := s.q(ctx).Plans(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list plan names")
	}
	names := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		var texts map[string]string
		if err := json.Unmarshal(r.Name, &texts); err != nil {
			return nil, sqldb.Wrap(err, "read plan name")
		}
		names[r.ID] = i18n.Pick(texts, locale)
	}
	return names, nil
}

// lookUpAtOnce is the number of subscriptions whose tenants are read with one statement.
const lookUpAtOnce = 500

// tenantsOf returns the tenants of subscriptions. Purged tenants are missing.
func (s store) tenantsOf(ctx context.Context, subscriptions []uuid.UUID) (map[uuid.UUID]tenantRef, error) {
	found := map[uuid.UUID]tenantRef{}
	for part := range slices.Chunk(subscriptions, lookUpAtOnce) {
		among, args := sqldb.InCondition(s.db, 1, "uuid", part)
		rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT h.subscription_id, t.id, t.name FROM subscription_histories h
JOIN tenants t ON t.id = h.tenant_id WHERE t.purged_at IS NULL AND h.subscription_id `+among, args...)
		if err != nil {
			return nil, sqldb.Wrap(err, "find tenants of subscriptions")
		}
		for rows.Next() {
			var id, tenantID uuid.UUID
			var name string
			if err = rows.Scan(&id, &tenantID, &name); err != nil {
				break
			}
			found[id] = tenantRef{&tenantID, &name}
		}
		if err = cmp.Or(err, rows.Err(), rows.Close()); err != nil {
			return nil, sqldb.Wrap(err, "find tenants of subscriptions")
		}
	}
	return found, nil
}

package analytics

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/rates"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// start is the first month of a random history.
var start = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

const span = 24 // months

// player makes a random history in the database and in the model.
type player struct {
	t     *testing.T
	db    *sqldb.DB
	draw  *rand.Rand
	plans []uuid.UUID
	model model
}

func (p *player) exec(ctx context.Context, query string, args ...any) {
	p.t.Helper()
	if _, err := p.db.Conn(ctx).ExecContext(ctx, query, args...); err != nil {
		p.t.Fatal(err)
	}
}

func newPlayer(t *testing.T, db *sqldb.DB) *player {
	t.Helper()
	p := &player{t: t, db: db, plans: []uuid.UUID{sqldb.NewID(), sqldb.NewID(), sqldb.NewID()}}
	product := sqldb.NewID()
	p.exec(t.Context(), `INSERT INTO products (id, slug, name, created_at, updated_at) VALUES ($1, 'p', '{}', $2, $2)`, product, start)
	for i, id := range p.plans {
		p.exec(t.Context(), `INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, created_at, updated_at)
			VALUES ($1, $2, $3, '{"en": "P"}', 'seat', 'monthly', 'month', 1, $4, $4)`, id, product, fmt.Sprint("plan-", i), start)
	}
	for code, units := range map[string]int{"JPY": 0, "KWD": 3} {
		p.exec(t.Context(), `INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES ($1, $1, $1, $2, true, $3, $3)`, code, units, start)
	}
	return p
}

// play replaces the history with a random one.
func (p *player) play(seed uint64) {
	p.draw = rand.New(rand.NewPCG(seed, 7))
	p.model = model{now: start.AddDate(0, span-1, 1+p.draw.IntN(27)).Add(time.Duration(p.draw.IntN(86400)) * time.Second), plan: -1}
	err := p.db.Tx(p.t.Context(), func(ctx context.Context) error {
		for _, table := range []string{"subscription_journal", "subscription_histories", "subscription_days", "subscriptions", "tenants", "exchange_rates"} {
			p.exec(ctx, `DELETE FROM `+table)
		}
		for _, currency := range []string{"USD", "JPY", "KWD"} {
			p.rates(ctx, currency)
		}
		for tenant := range 1 + p.draw.IntN(4) {
			p.tenant(ctx, tenant)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// rates stores random rates of a currency; often there are gaps, and sometimes no rate at all.
func (p *player) rates(ctx context.Context, currency string) {
	if p.draw.IntN(5) == 0 {
		return
	}
	for day := p.draw.IntN(60); day < span*30; day += 1 + p.draw.IntN(40) {
		date := start.AddDate(0, 0, day)
		text := fmt.Sprintf("%d.%06d", p.draw.IntN(3), 1+p.draw.IntN(999_999))
		if currency == "JPY" {
			text = fmt.Sprintf("%d.%04d", 120+p.draw.IntN(60), p.draw.IntN(10_000))
		}
		r, _ := new(big.Rat).SetString(text)
		p.exec(ctx, `INSERT INTO exchange_rates (base, day, currency, rate) VALUES ('EUR', $1, $2, $3)`, journal.DayOf(date), currency, text)
		p.model.rates = append(p.model.rates, modelRate{currency, date, r})
	}
}

// tenant plays the life of a tenant: subscriptions one after another.
func (p *player) tenant(ctx context.Context, n int) {
	id := sqldb.NewID()
	p.exec(ctx, `INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', $2, 'EUR', $3, $3)`, id, id.String(), start)
	at := start.AddDate(0, 0, p.draw.IntN(span*20))
	for range 1 + p.draw.IntN(3) {
		at = p.subscription(ctx, id, n, p.later(at, 120))
		if !at.Before(p.model.now) {
			return
		}
	}
}

// later returns a time up to some days later; sometimes it is exactly the start of a month.
func (p *player) later(at time.Time, days int) time.Time {
	at = at.Add(time.Duration(1+p.draw.IntN(days*86400)) * time.Second)
	if p.draw.IntN(10) == 0 {
		at = time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at
}

// subscription plays a subscription that starts at the given time. It returns the time of its end,
// or now.
func (p *player) subscription(ctx context.Context, tenant uuid.UUID, n int, at time.Time) time.Time {
	s := &modelSub{id: sqldb.NewID(), tenant: n, currency: []string{"EUR", "EUR", "USD", "JPY", "KWD"}[p.draw.IntN(5)]}
	st := state{at: at, status: "active", unit: []string{"month", "month", "year", "week", "day"}[p.draw.IntN(5)], count: 1 + p.draw.IntN(2), anchor: at}
	p.reprice(&st)
	if p.draw.IntN(3) == 0 {
		end := at.AddDate(0, 0, 1+p.draw.IntN(30))
		st.status, st.trialEnds, st.anchor = "trialing", &end, end
	}
	p.model.subs = append(p.model.subs, s)
	for version := 1; !st.at.After(p.model.now) && version < 10; version++ {
		s.states = append(s.states, st)
		read := p.readTime(st, version)
		p.store(ctx, tenant, s, st, version, read)
		if st.status == "active" && p.draw.IntN(2) == 0 {
			p.pay(ctx, tenant, s, st)
		}
		if st.status == "canceled" {
			return st.at
		}
		if st = p.next(s, st, read); version == 8 { // the last state
			st.status = "canceled"
		}
	}
	return p.model.now
}

// reprice draws plan, price, seats and discount.
func (p *player) reprice(st *state) {
	st.plan, st.price, st.seats = p.draw.IntN(3), int64(p.draw.IntN(20_000)), int64(1+p.draw.IntN(4))
	if p.draw.IntN(8) == 0 {
		st.price = 0
	}
	st.off, st.offEnds = 0, nil
	if p.draw.IntN(2) == 0 {
		st.off = p.draw.Int64N(st.price*st.seats + 1)
		if p.draw.IntN(3) > 0 {
			ends := p.later(st.at, 200)
			st.offEnds = &ends
		}
	}
}

// readTime draws the time at which the service reads a state: when it takes effect or, after the end of
// a trial or a scheduled change, up to months later.
func (p *player) readTime(st state, version int) time.Time {
	if version == 1 || st.status == "trialing" || st.offEnds == nil || !st.at.Before(*st.offEnds) || p.draw.IntN(3) > 0 {
		return st.at
	}
	if read := p.later(st.at, 300); read.Before(p.model.now) {
		return read
	}
	return p.model.now
}

// next draws the next state, which takes effect after the given time. Sometimes it is the time at which
// a discount ends.
func (p *player) next(s *modelSub, st state, after time.Time) state {
	last := st
	st.at = p.later(after, 90)
	if st.off > 0 && st.offEnds != nil && st.offUntil().After(after) && p.draw.IntN(3) == 0 {
		st.at = st.offUntil()
	}
	if st.status == "trialing" {
		ends := *st.trialEnds
		if st.status = "active"; p.draw.IntN(4) == 0 {
			st.status = "canceled"
		}
		if p.draw.IntN(2) == 0 || !st.at.Before(ends) {
			st.at = ends
		}
		if st.status == "active" {
			end := st.at
			st.trialEnds, st.anchor = &end, end
		}
		if !st.at.After(p.model.now) {
			s.trials = append(s.trials, modelEvent{st.at, last.plan})
		}
		return st
	}
	switch p.draw.IntN(8) {
	case 0:
		st.status = "past_due"
	case 1:
		st.status = "unpaid"
	case 2:
		st.status = "canceled"
	case 3:
		st.seats = 1 + p.draw.Int64N(5)
		st.off = min(st.off, st.price*st.seats)
	case 4: // nothing changes
	default:
		st.status = "active"
		p.reprice(&st)
	}
	return st
}

// store writes a state as the service does when it reads the state, sometimes repeatedly. Before that,
// the entries whose time has come are often folded.
func (p *player) store(ctx context.Context, tenant uuid.UUID, s *modelSub, st state, version int, read time.Time) {
	if p.draw.IntN(2) == 0 {
		if err := journal.New(p.db, clock.NewFixed(read)).Run(ctx); err != nil {
			p.t.Fatal(err)
		}
	}
	k := 0
	for !st.boundary(k + 1).After(read) {
		k++
	}
	at := st.at
	var past *journal.PastDiscount
	if st.offEnds != nil && at.Before(*st.offEnds) && !st.boundary(k).Before(*st.offEnds) {
		past = &journal.PastDiscount{Cents: st.off, EndsAt: *st.offEnds}
		st.off, st.offEnds = 0, nil
	}
	args := []any{
		s.id, tenant, p.plans[st.plan], st.status, s.currency, st.price, st.seats, st.unit, st.count, st.anchor,
		st.boundary(k), st.boundary(k + 1), st.trialEnds, st.off, st.offEnds, version, read,
	}
	if version == 1 {
		p.exec(ctx, `INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
			billing_anchor, current_period_start, current_period_end, trial_ends_at, discount_cents, discount_ends_at, sync_version, created_at, updated_at, psp_subscription_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $18)`, append(args, s.id.String())...)
	} else {
		p.exec(ctx, `UPDATE subscriptions SET plan_id = $3, status = $4, currency = $5, price_cents = $6, quantity = $7, interval_unit = $8, interval_count = $9,
			billing_anchor = $10, current_period_start = $11, current_period_end = $12, trial_ends_at = $13, discount_cents = $14, discount_ends_at = $15,
			sync_version = $16, updated_at = $17 WHERE id = $1 AND tenant_id = $2`, args...)
	}
	for range 1 + p.draw.IntN(2) {
		if err := journal.Note(ctx, p.db, tenant, s.id, at, past); err != nil {
			p.t.Fatal(err)
		}
	}
}

// pay stores payments in any order.
func (p *player) pay(ctx context.Context, tenant uuid.UUID, s *modelSub, st state) {
	for range 1 + p.draw.IntN(2) {
		paid := modelEvent{st.at.Add(time.Duration(p.draw.IntN(40*86400)) * time.Second), st.plan}
		if paid.at.After(p.model.now) {
			continue
		}
		s.payments = append(s.payments, paid)
		if err := journal.Pay(ctx, p.db, tenant, s.id.String(), []uuid.UUID{p.plans[st.plan]}, paid.at); err != nil {
			p.t.Fatal(err)
		}
	}
}

// checkJournal compares the sum of the journal with the model. A subscription never has two entries for
// the same time.
func (p *player) checkJournal(seed uint64) {
	p.t.Helper()
	want, got := map[string]int64{}, map[string]int64{}
	for _, s := range p.model.subs {
		if amount, _, _ := p.model.level(s, Moment{p.model.now, true}); amount > 0 {
			want[s.currency] += amount
		}
	}
	today := journal.DayOf(p.model.now)
	moves, err := journal.New(p.db, clock.NewFixed(p.model.now)).Movements(p.t.Context(), today, today)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range moves {
		if got[m.Currency] += m.Amount; got[m.Currency] == 0 {
			delete(got, m.Currency)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("seed %d: sum of the journal: %s", seed, diff)
	}
	var repeated int
	err = p.db.Conn(p.t.Context()).QueryRowContext(p.t.Context(),
		`SELECT count(*) FROM (SELECT at FROM subscription_journal GROUP BY subscription_id, at HAVING count(*) > 1) r`).Scan(&repeated)
	if err != nil || repeated != 0 {
		p.t.Fatalf("seed %d: %d times have several entries (%v)", seed, repeated, err)
	}
}

// check compares all figures with the model.
func (p *player) check(seed uint64) {
	p.t.Helper()
	c := clock.NewFixed(p.model.now)
	all, err := loadHistory(p.t.Context(), journal.New(p.db, c))
	if err != nil {
		p.t.Fatal(err)
	}
	table, err := rates.NewService(rates.Deps{DB: p.db, Clock: c, Base: "EUR"}).Table(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, of := range []struct {
		plan int
		only string
	}{{-1, ""}, {p.draw.IntN(3), ""}, {-1, "USD"}, {p.draw.IntN(3), "EUR"}} {
		var f Filter
		if p.model.plan, p.model.only = of.plan, of.only; of.plan >= 0 {
			f.Plans = map[uuid.UUID]bool{p.plans[of.plan]: true}
		}
		if of.only != "" {
			f.Currencies = map[string]bool{of.only: true}
		}
		h := all.apply(f)
		list := windows(start.AddDate(0, p.draw.IntN(span-1), 0), startOf(p.model.now), p.model.now)
		r := h.report(table, list)
		for i, got := range r.months {
			want := p.model.month(list[i])
			if diff := cmp.Diff(want, got); diff != "" {
				p.t.Fatalf("seed %d, %+v, %s: %s", seed, of, list[i].month(), diff)
			}
			if sum := got.Opening + got.New + got.Expansion + got.Contraction + got.Churn + got.Reactivation + got.Exchange; sum != got.Closing {
				p.t.Fatalf("seed %d: the sum of %s is %d, the closing %d", seed, list[i].month(), sum, got.Closing)
			}
			if i > 0 && (got.Opening != r.months[i-1].Closing || got.CustomersOpening != r.months[i-1].CustomersClosing) {
				p.t.Fatalf("seed %d: %s does not open with the last closing", seed, list[i].month())
			}
		}
		end := list[len(list)-1].end
		before, after := p.model.retention(end)
		if got := r.retention; before > 0 && (got == nil || int64(*got) != 100*halfUp(big.NewRat(10_000*after, before))) {
			p.t.Fatalf("seed %d, %+v: retention %v, want %d ÷ %d", seed, of, got, after, before)
		}
		for i, got := range h.convertible(table).cohorts(table, list) {
			customers, counts := p.model.cohort(list[i], list[i:])
			if customers != got.customers || customers > 0 && cmp.Diff(counts, got.counts) != "" {
				p.t.Fatalf("seed %d, %+v: cohort %s is %d %v, want %d %v", seed, of, list[i].month(), got.customers, got.counts, customers, counts)
			}
		}
	}
}

// The figures of random histories equal the figures of the model, and each month's movements add up
// to the cent.
func TestFiguresFollowTheModel(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			rounds := uint64(dbtest.Rounds(40, 10_000))
			if dialect == sqldb.Postgres { // slower, and the calculation is the same
				rounds = uint64(dbtest.Rounds(10, 200))
			}
			p := newPlayer(t, dbtest.Open(t, dbtest.URL(t, dialect)))
			for seed := range rounds {
				p.play(seed)
				p.checkJournal(seed)
				p.check(seed)
			}
		})
	}
}

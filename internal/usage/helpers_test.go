package usage

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// fixedPlans grants what a test says.
type fixedPlans struct {
	mu         sync.Mutex
	allowances map[uuid.UUID]Allowance
}

func (p *fixedPlans) Allowances(context.Context, []uuid.UUID) (map[uuid.UUID]Allowance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.allowances), nil
}

// Payer is a tenant that pays in euros, or in dollars without a subscription.
func (p *fixedPlans) Payer(ctx context.Context, tenantID uuid.UUID) (Payer, error) {
	all, err := p.Allowances(ctx, nil)
	payer := Payer{Billing: all[tenantID].Billing, Currency: "EUR"}
	if payer.Billing == nil {
		payer.Currency = "USD"
	}
	return payer, err
}

func (p *fixedPlans) grant(tenantID uuid.UUID, a Allowance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowances[tenantID] = a
}

// world is a service on a database, with a clock and plans that tests set.
type world struct {
	*Service
	// instances are the service and a second one on the same database.
	instances [2]*Service
	db        *sqldb.DB
	clock     *clock.Fixed
	plans     *fixedPlans
	alerts    *noticeBoard
}

// noticeBoard keeps the alerts that were sent.
type noticeBoard struct {
	mu   sync.Mutex
	sent []Alert
}

func (n *noticeBoard) QuotaAlert(_ context.Context, a Alert) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = append(n.sent, a)
	return nil
}

func newWorld(t *testing.T, db *sqldb.DB, now string) *world {
	t.Helper()
	w := &world{db: db, clock: clock.NewFixed(at(now)), plans: &fixedPlans{allowances: map[uuid.UUID]Allowance{}}, alerts: &noticeBoard{}}
	w.instances = [2]*Service{w.instance(t), w.instance(t)}
	w.Service = w.instances[0]
	return w
}

// instance starts a service.
func (w *world) instance(t *testing.T) *Service {
	t.Helper()
	svc := NewService(w.deps())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = svc.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return svc
}

func (w *world) deps() Deps {
	log := slog.New(slog.DiscardHandler)
	return Deps{
		DB: w.db, Plans: w.plans, Clock: w.clock, Log: log,
		Jobs: jobs.New(jobs.Deps{DB: w.db, Clock: w.clock, Lease: clock.System(), Log: log}), Alerts: w.alerts, Payers: w.plans, Currencies: anyCurrency{},
	}
}

func (w *world) apply(t *testing.T, meters ...Meter) {
	t.Helper()
	applyMeters(t, w.Service, meters...)
}

// applyMeters stores meters as a catalog does.
func applyMeters(t interface {
	Helper()
	Fatal(...any)
	Context() context.Context
}, svc *Service, meters ...Meter,
) {
	t.Helper()
	stored, err := svc.AllMeters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range meters {
		i := slices.IndexFunc(stored, func(e MeterEntry) bool { return e.Code == m.Code })
		if i < 0 {
			_, err = svc.CreateMeter(t.Context(), MeterEntry{Meter: m})
		} else {
			_, err = svc.UpdateMeter(t.Context(), stored[i].ID, func(e MeterEntry) MeterEntry {
				m.ID = e.ID
				e.Meter = m
				return e
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// newTenant stores the row that usage refers to.
func (w *world) newTenant(t interface {
	Helper()
	Fatal(...any)
},
) uuid.UUID {
	t.Helper()
	id := sqldb.NewID()
	_, err := w.db.Conn(context.Background()).ExecContext(context.Background(),
		`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'Acme', $2, 'EUR', $3, $4)`,
		id, id.String(), w.clock.Now(), w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (w *world) count(t *testing.T, tenantID uuid.UUID) int {
	t.Helper()
	var n int
	if err := w.db.Conn(t.Context()).QueryRowContext(t.Context(),
		`SELECT count(*) FROM usage_events WHERE tenant_id = $1`, tenantID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (w *world) detail(t *testing.T, tenantID uuid.UUID, code string) Detail {
	t.Helper()
	d, err := w.Detail(t.Context(), tenantID, code)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func meter(code string, aggregation Aggregation, reset ResetInterval, enforcement Enforcement) Meter {
	return Meter{Code: code, Name: code, Aggregation: aggregation, Reset: reset, Enforcement: enforcement, Active: true}
}

func recording(code, amount string) Recording {
	return Recording{MeterCode: code, Quantity: quantity(amount)}
}

func (r Recording) keyed(key string) Recording {
	r.IdempotencyKey = &key
	return r
}

func (r Recording) on(when string) Recording {
	t := at(when)
	r.RecordedAt = &t
	return r
}

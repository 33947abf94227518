package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// Biller is what billing usage needs of the payment provider; *psp.Client is one.
type Biller interface {
	GetPrice(ctx context.Context, id string) (psp.Price, error)
	GetMeter(ctx context.Context, id string) (psp.Meter, error)
	ReportUsage(ctx context.Context, u psp.UsageReport) error
}

// Customers tells who tenants are at the payment provider, "" for one that it
// does not know.
type Customers interface {
	Customer(ctx context.Context, tenantID uuid.UUID) (string, error)
}

// ReporterDeps is what a Reporter works with.
type ReporterDeps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Log       *slog.Logger
	Provider  Biller
	Customers Customers
	Payers    Payers
}

// Reporter tells the payment provider of billable usage, in the background.
type Reporter struct {
	store store
	deps  ReporterDeps
}

// NewReporter makes a reporter.
func NewReporter(d ReporterDeps) *Reporter { return &Reporter{store: store{db: d.DB}, deps: d} }

const (
	// reportTogether is how many figures are on their way at once, and how many
	// are told again when the service dies before it has noted the answers.
	reportTogether = 16
	// reportTime is how long one run goes on; less than a periodic job may take.
	reportTime = 40 * time.Second
)

// Report tells the provider what waits to be told, oldest first, for a while; one
// instance does so at a time. Every figure is told under its event's id, which
// the provider counts once however often it hears of it within a day. What it has
// taken is noted after each reportTogether figures, so that after a failure or a
// crash only those are told again: usage is neither lost nor, unless the service
// then stays away for more than a day, counted twice.
//
// Usage of a tenant without a customer at the provider, or of a meter without a
// linked price in the tenant's currency, is dropped, as is, with an error in the
// log, what the provider refuses for good, such as usage of more than 35 days ago.
func (r *Reporter) Report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	t := targets{Reporter: r, customers: map[uuid.UUID]customer{}, names: map[priceKey]string{}}
	for {
		row, err := r.store.q(ctx).OldestReport(ctx)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil
		}
		if err != nil {
			return r.timely(ctx, fmt.Errorf("usage: oldest report: %w", err))
		}
		events, err := decodeReported(row.Events)
		if err != nil {
			return err
		}
		for done := int(row.Reported); done < len(events); {
			next := min(done+reportTogether, len(events))
			if err := t.tell(ctx, events[done:next]); err != nil {
				return r.timely(ctx, err)
			}
			done = next
			// What was told is noted even when the time is up.
			err := r.store.q(ctx).AdvanceReport(context.WithoutCancel(ctx), usagesql.AdvanceReportParams{
				ID: row.ID, Reported: int32(done),
			})
			if err != nil {
				return fmt.Errorf("usage: advance report: %w", err)
			}
		}
		if err := r.store.q(ctx).DeleteReport(context.WithoutCancel(ctx), row.ID); err != nil {
			return fmt.Errorf("usage: delete report: %w", err)
		}
	}
}

// timely forgives errors that only say that the time of a run is up: the next
// goes on.
func (r *Reporter) timely(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Lag tells how long the oldest usage that the provider was not told of has been
// waiting; 0 when there is none.
func (r *Reporter) Lag(ctx context.Context) (time.Duration, error) {
	row, err := r.store.q(ctx).OldestReport(ctx)
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("usage: oldest report: %w", err)
	}
	return max(0, r.deps.Clock.Now().Sub(row.CreatedAt)), nil
}

// targets finds out whom and what figures are billed to, and remembers it for a
// run.
type targets struct {
	*Reporter
	customers map[uuid.UUID]customer
	names     map[priceKey]string // of the provider's meters; "" for none
}

type customer struct{ id, currency string }

type priceKey struct {
	meterID  uuid.UUID
	currency string
}

// tell tells the provider of a few figures, at the same time.
func (t targets) tell(ctx context.Context, events []reported) error {
	failures := make([]error, len(events))
	var told sync.WaitGroup
	for i, e := range events {
		report, billed, err := t.report(ctx, e)
		if err != nil {
			failures[i] = err
			break
		}
		if !billed {
			continue
		}
		told.Go(func() { failures[i] = t.tellOne(ctx, report) })
	}
	told.Wait()
	return errors.Join(failures...)
}

func (t targets) tellOne(ctx context.Context, u psp.UsageReport) error {
	err := t.deps.Provider.ReportUsage(ctx, u)
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		t.deps.Log.ErrorContext(ctx, "usage will not be billed: the payment provider refused it",
			"event", u.Identifier, "meter", u.EventName, "recorded_at", u.At, "error", err)
		return nil
	}
	return err
}

// report makes of a figure what the provider is told; billed is false when it is
// nobody's to pay.
func (t targets) report(ctx context.Context, e reported) (u psp.UsageReport, billed bool, err error) {
	c, known := t.customers[e.tenantID]
	if !known {
		if c, err = t.customer(ctx, e.tenantID); err != nil {
			return u, false, err
		}
		t.customers[e.tenantID] = c
	}
	if c.id == "" {
		return u, false, nil
	}
	key := priceKey{e.meterID, c.currency}
	name, known := t.names[key]
	if !known {
		if name, err = t.eventName(ctx, key); err != nil {
			return u, false, err
		}
		t.names[key] = name
	}
	return psp.UsageReport{EventName: name, CustomerID: c.id, Quantity: e.quantity, Identifier: e.id.String(), At: e.at}, name != "", nil
}

func (t targets) customer(ctx context.Context, tenantID uuid.UUID) (customer, error) {
	id, err := t.deps.Customers.Customer(ctx, tenantID)
	if err != nil || id == "" {
		return customer{}, err
	}
	payer, err := t.deps.Payers.Payer(ctx, tenantID)
	return customer{id: id, currency: payer.Currency}, err
}

// eventName is the name under which the provider's meter behind a price is told
// of usage; "" when our meter has no linked price, or one that no meter is behind.
func (t targets) eventName(ctx context.Context, key priceKey) (string, error) {
	id, err := t.store.q(ctx).LinkedPrice(ctx, usagesql.LinkedPriceParams{MeterID: key.meterID, Currency: key.currency})
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && id == nil {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("usage: linked price: %w", err)
	}
	price, err := t.deps.Provider.GetPrice(ctx, *id)
	if err == nil && price.MeterID != "" {
		var m psp.Meter
		m, err = t.deps.Provider.GetMeter(ctx, price.MeterID)
		if err == nil && m.Active {
			return m.EventName, nil
		}
	}
	if err == nil || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		t.deps.Log.ErrorContext(ctx, "usage will not be billed: a linked price has no active meter at the payment provider",
			"meter", key.meterID, "price", *id, "error", err)
		return "", nil
	}
	return "", err
}

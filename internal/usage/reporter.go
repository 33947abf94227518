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
	// tellAgain is for how long a figure can be told again without being counted
	// twice, with time for the telling and for clocks that differ.
	tellAgain = psp.IdentifierLife - time.Hour
)

// Report tells the provider what waits to be told, oldest first, for a while; one
// instance does so at a time. Every figure is told under its event's id, which
// the provider counts once however often it hears of it within a day. When a few
// figures are begun, and what it has taken of them, is noted for reportTogether
// figures at a time, so that after a failure or a crash only those are told again,
// and not those that were begun too long ago: usage is neither lost nor counted
// twice.
//
// Usage of a tenant without a customer at the provider, or of a meter without a
// linked price in the tenant's currency, is nobody's to pay and dropped. What the
// provider refuses for good, such as usage of more than 35 days ago, and what was
// begun too long ago to know whether it was counted, is kept beside, with the
// reason, for somebody to decide (see Refusals), and holds up nothing else.
func (r *Reporter) Report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	t := targets{Reporter: r, customers: map[uuid.UUID]customer{}, names: map[priceKey]meterName{}}
	for {
		row, err := r.store.q(ctx).OldestReport(ctx)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil
		}
		if err != nil {
			return r.timely(ctx, fmt.Errorf("usage: oldest report: %w", err))
		}
		if err := t.tellAll(ctx, row); err != nil {
			return r.timely(ctx, err)
		}
	}
}

// tellAll tells the provider of the rest of a row and deletes it.
func (t targets) tellAll(ctx context.Context, row usagesql.UsageReport) error {
	events, err := decodeReported(row.Events)
	if err != nil {
		return err
	}
	for done := int(row.Reported); done < len(events); {
		few := events[done:min(done+reportTogether, len(events))]
		now := t.deps.Clock.Now()
		var refused []refusal
		switch tried := row.TriedAt; {
		case tried == nil:
			if err := t.note(ctx, row.ID, done, nil); err != nil {
				return err
			}
			refused, err = t.tell(ctx, few)
		case now.Sub(*tried) <= tellAgain:
			refused, err = t.tell(ctx, few)
		default:
			refused = unconfirmed(few, *tried)
		}
		if err != nil {
			return err
		}
		done += len(few)
		// What was told is noted even when the time is up. The next few begin at once.
		if err := t.note(context.WithoutCancel(ctx), row.ID, done, refused); err != nil {
			return err
		}
		row.TriedAt = &now
	}
	if err := t.store.q(ctx).DeleteReport(context.WithoutCancel(ctx), row.ID); err != nil {
		return fmt.Errorf("usage: delete report: %w", err)
	}
	return nil
}

// note notes that the provider was told of the first done figures of a row, but for
// those that were refused, and that telling it of the next begins.
func (r *Reporter) note(ctx context.Context, row uuid.UUID, done int, refused []refusal) error {
	now := r.deps.Clock.Now()
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		for _, f := range refused {
			r.deps.Log.ErrorContext(ctx, "usage is not billed", "event", f.id, "tenant", f.tenantID, "meter", f.meterID,
				"recorded_at", f.at, "reason", f.reason)
			if err := r.store.q(ctx).InsertRefusal(ctx, f.row(now)); err != nil {
				return fmt.Errorf("usage: insert refusal: %w", err)
			}
		}
		err := r.store.q(ctx).AdvanceReport(ctx, usagesql.AdvanceReportParams{ID: row, Reported: int32(done), TriedAt: &now})
		if err != nil {
			return fmt.Errorf("usage: advance report: %w", err)
		}
		return nil
	})
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
	names     map[priceKey]meterName
}

type customer struct{ id, currency string }

type priceKey struct {
	meterID  uuid.UUID
	currency string
}

// meterName is the name under which the provider's meter is told of usage; "" when
// our meter has no linked price. missing says why a linked price leads to none.
type meterName struct{ name, missing string }

// tell tells the provider of a few figures, at the same time, and returns those
// that it refuses for good.
func (t targets) tell(ctx context.Context, events []reported) ([]refusal, error) {
	failures := make([]error, len(events))
	reasons := make([]string, len(events))
	var told sync.WaitGroup
	for i, e := range events {
		var to target
		if to, failures[i] = t.target(ctx, e); failures[i] != nil {
			break
		}
		if reasons[i] = to.missing; to.customerID != "" && to.name != "" {
			told.Go(func() { reasons[i], failures[i] = t.tellOne(ctx, e, to) })
		}
	}
	told.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	var refused []refusal
	for i, reason := range reasons {
		if reason != "" {
			refused = append(refused, refusal{events[i], reason})
		}
	}
	return refused, nil
}

func (t targets) tellOne(ctx context.Context, e reported, to target) (refused string, err error) {
	err = t.deps.Provider.ReportUsage(ctx, psp.UsageReport{
		EventName: to.name, CustomerID: to.customerID, Quantity: e.quantity, Identifier: e.id.String(), At: e.at,
	})
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		return err.Error(), nil
	}
	return "", err
}

// target is where a figure is told; without a customer or a name it is nobody's to
// pay, unless missing says what keeps it from being told.
type target struct {
	meterName
	customerID string
}

func (t targets) target(ctx context.Context, e reported) (to target, err error) {
	c, known := t.customers[e.tenantID]
	if !known {
		if c, err = t.customer(ctx, e.tenantID); err != nil {
			return to, err
		}
		t.customers[e.tenantID] = c
	}
	if c.id == "" {
		return to, nil
	}
	key := priceKey{e.meterID, c.currency}
	name, known := t.names[key]
	if !known {
		if name, err = t.meterName(ctx, key); err != nil {
			return to, err
		}
		t.names[key] = name
	}
	return target{name, c.id}, nil
}

func (t targets) customer(ctx context.Context, tenantID uuid.UUID) (customer, error) {
	id, err := t.deps.Customers.Customer(ctx, tenantID)
	if err != nil || id == "" {
		return customer{}, err
	}
	payer, err := t.deps.Payers.Payer(ctx, tenantID)
	return customer{id: id, currency: payer.Currency}, err
}

// meterName finds the provider's meter behind a price.
func (t targets) meterName(ctx context.Context, key priceKey) (meterName, error) {
	id, err := t.store.q(ctx).LinkedPrice(ctx, usagesql.LinkedPriceParams{MeterID: key.meterID, Currency: key.currency})
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && id == nil {
		return meterName{}, nil
	}
	if err != nil {
		return meterName{}, fmt.Errorf("usage: linked price: %w", err)
	}
	price, err := t.deps.Provider.GetPrice(ctx, *id)
	if err == nil && price.MeterID != "" {
		var m psp.Meter
		m, err = t.deps.Provider.GetMeter(ctx, price.MeterID)
		if err == nil && m.Active {
			return meterName{name: m.EventName}, nil
		}
	}
	switch {
	case err == nil:
		return meterName{missing: "the linked price " + *id + " has no active meter at the payment provider"}, nil
	case errors.Is(err, psp.ErrRefused), errors.Is(err, psp.ErrNotFound):
		return meterName{missing: "the linked price " + *id + " or its meter cannot be read: " + err.Error()}, nil
	default:
		return meterName{}, err
	}
}

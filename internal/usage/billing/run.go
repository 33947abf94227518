package billing

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/usage"
)

// run is one run of Report. It remembers who pays for figures and under which names.
type run struct {
	*Reporter
	customers map[uuid.UUID]customer
	meters    map[priceKey]providerMeter
}

func newRun(r *Reporter) *run {
	return &run{Reporter: r, customers: map[uuid.UUID]customer{}, meters: map[priceKey]providerMeter{}}
}

// customer is who pays for a tenant's usage; id is "" where nobody does.
type customer struct{ id, currency string }

type priceKey struct {
	meterID  uuid.UUID
	currency string
}

// providerMeter is the provider's meter behind a meter's linked price. Both fields are
// "" where no price is linked.
type providerMeter struct {
	eventName string
	problem   string // why the linked price leads to no meter
}

// send reports a few figures to the provider, at the same time, and returns those that
// it rejects for good.
func (r *run) send(ctx context.Context, figures []usage.Figure) ([]rejection, error) {
	failures := make([]error, len(figures))
	reasons := make([]string, len(figures))
	var sending sync.WaitGroup
	for i, f := range figures {
		var to target
		if to, failures[i] = r.target(ctx, f); failures[i] != nil {
			break
		}
		reasons[i] = to.problem
		if to.customerID != "" && to.eventName != "" {
			sending.Go(func() { reasons[i], failures[i] = r.sendOne(ctx, f, to) })
		}
	}
	sending.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	var rejected []rejection
	for i, reason := range reasons {
		if reason != "" {
			rejected = append(rejected, rejection{figures[i], reason})
		}
	}
	return rejected, nil
}

// sendOne reports one figure; reason says why the provider rejects it for good, and is
// "" where it does not.
func (r *run) sendOne(ctx context.Context, f usage.Figure, to target) (reason string, err error) {
	err = r.deps.Provider.ReportUsage(ctx, psp.UsageReport{
		EventName: to.eventName, CustomerID: to.customerID, Quantity: f.Quantity, Identifier: f.ID.String(), At: f.At,
	})
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		return err.Error(), nil
	}
	return "", err
}

// target is where a figure is reported. Without a customer or an event name nobody has
// to pay for the figure, unless there is a problem.
type target struct {
	providerMeter
	customerID string
}

func (r *run) target(ctx context.Context, f usage.Figure) (to target, err error) {
	c, known := r.customers[f.TenantID]
	if !known {
		if c, err = r.customer(ctx, f.TenantID); err != nil {
			return to, err
		}
		r.customers[f.TenantID] = c
	}
	if c.id == "" {
		return to, nil
	}
	key := priceKey{f.MeterID, c.currency}
	m, known := r.meters[key]
	if !known {
		if m, err = r.providerMeter(ctx, key); err != nil {
			return to, err
		}
		r.meters[key] = m
	}
	return target{m, c.id}, nil
}

func (r *run) customer(ctx context.Context, tenantID uuid.UUID) (customer, error) {
	id, err := r.deps.Customers.Customer(ctx, tenantID)
	if err != nil || id == "" {
		return customer{}, err
	}
	payer, err := r.deps.Payers.Payer(ctx, tenantID)
	return customer{id: id, currency: payer.Currency}, err
}

// providerMeter asks the provider for the meter behind a linked price.
func (r *run) providerMeter(ctx context.Context, key priceKey) (providerMeter, error) {
	id, err := r.store.linkedPrice(ctx, key)
	if errors.Is(err, errNotLinked) {
		return providerMeter{}, nil
	}
	if err != nil {
		return providerMeter{}, err
	}
	price, err := r.deps.Provider.GetPrice(ctx, id)
	if err == nil && price.MeterID != "" {
		var m psp.Meter
		m, err = r.deps.Provider.GetMeter(ctx, price.MeterID)
		if err == nil && m.Active {
			return providerMeter{eventName: m.EventName}, nil
		}
	}
	switch {
	case err == nil:
		return providerMeter{problem: "the linked price " + id + " has no active meter at the payment provider"}, nil
	case errors.Is(err, psp.ErrRefused), errors.Is(err, psp.ErrNotFound):
		return providerMeter{problem: "the linked price " + id + " or its meter cannot be read: " + err.Error()}, nil
	default:
		return providerMeter{}, err
	}
}

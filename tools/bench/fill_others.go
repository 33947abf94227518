//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Row counts per tenant, except for the large tenant.
const (
	alertMonths    = 6
	listenersOf    = 10 // one in listenersOf tenants has an endpoint
	deliveriesEach = 20
	lostOf         = 50 // one in lostOf deliveries was given up
	keysEach       = 2
	noticesEach    = 5
	deliveryDays   = 29 // the retention of deliveries and notifications, in days
)

// alerts creates the usage alerts of the last months, for two thresholds each.
func (f *filler) alerts(ctx context.Context) error {
	b := f.bulkInto("usage_alerts", "id", "tenant_id", "meter_id", "period_start", "period_end", "threshold", "units", "quota", "created_at", "sent_at")
	month := time.Date(f.now.Year(), f.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, t := range f.tenants {
		for n := range alertMonths {
			begins := month.AddDate(0, -n-1, 0)
			at := begins.Add(time.Duration(f.chance.Int64N(int64(25 * 24 * time.Hour)))).Truncate(time.Second)
			for _, threshold := range []int{80, 100} {
				if err := b.add(ctx, idAt(at), t.id, f.meters[0].id, begins, begins.AddDate(0, 1, 0), threshold, threshold, 100, at, at); err != nil {
					return err
				}
			}
		}
	}
	return b.flush(ctx)
}

// recentMoment returns a random time within the retention of deliveries.
func (f *filler) recentMoment() time.Time {
	return f.now.Add(-time.Duration(f.chance.Int64N(int64(deliveryDays * 24 * time.Hour)))).Truncate(time.Second)
}

// listener is an endpoint with its number of deliveries.
type listener struct {
	id     uuid.UUID
	tenant any // nil for the platform's endpoint
	many   int
}

// webhooks creates endpoints with completed deliveries. The endpoints of the platform and of the
// large tenant have as many deliveries as there are tenants.
func (f *filler) webhooks(ctx context.Context) error {
	listeners := []listener{{sqldb.NewID(), nil, f.volume.tenants}}
	for i := 0; i < len(f.tenants); i += listenersOf {
		many := deliveriesEach
		if i == 0 {
			many = max(deliveriesEach, f.volume.tenants)
		}
		listeners = append(listeners, listener{sqldb.NewID(), f.tenants[i].id, many})
	}
	endpoints := f.bulkInto("webhook_endpoints", "id", "tenant_id", "url", "types", "is_enabled", "secrets", "created_at")
	for _, l := range listeners {
		if err := endpoints.add(ctx, l.id, l.tenant, fmt.Sprintf("https://hooks.bench.test/%s", l.id), "*", true, "[]", f.now.AddDate(-1, 0, 0)); err != nil {
			return err
		}
	}
	if err := endpoints.flush(ctx); err != nil {
		return err
	}
	events := f.bulkInto("webhook_events", "id", "tenant_id", "type", "body", "created_at")
	deliveries := f.bulkInto("webhook_deliveries", "id", "endpoint_id", "event_id", "type", "status", "attempt", "attempts", "created_at")
	failures := f.bulkInto("webhook_failures", "delivery_id", "endpoint_id", "tenant_id", "status", "attempts", "failed_at")
	types := []string{"invoice.paid", "subscription.updated", "tenant.updated"}
	n := 0
	for _, l := range listeners {
		for range l.many {
			n++
			at, kind, status, attempts := f.recentMoment(), types[n%len(types)], "delivered", 1
			event, delivery := idAt(at), idAt(at)
			if n%lostOf == 0 {
				status, attempts = "failed", 8
				if err := failures.add(ctx, delivery, l.id, l.tenant, 500, attempts, at); err != nil {
					return err
				}
			}
			if err := errors.Join(
				events.add(ctx, event, l.tenant, kind, `{"data": {"id": "filled"}}`, at),
				deliveries.add(ctx, delivery, l.id, event, kind, status, attempts, "[]", at),
			); err != nil {
				return err
			}
		}
	}
	return writeInOrder(ctx, events, deliveries, failures)
}

// apiKeys creates API keys. Only one key per tenant is active. The large tenant has many revoked
// keys.
func (f *filler) apiKeys(ctx context.Context) error {
	b := f.bulkInto("api_keys", "id", "tenant_id", "name", "prefix", "secret_hash", "scopes", "created_by", "created_at", "last_used_at", "revoked_at")
	n := 0
	for i, t := range f.tenants {
		many := keysEach
		if i == 0 {
			many = max(keysEach, f.volume.tenants/20)
		}
		for k := range many {
			n++
			at, revoked := f.now.AddDate(-1, 0, 0), new(f.now.AddDate(0, -6, 0))
			if k == 0 {
				revoked = nil
			}
			if err := b.add(ctx, sqldb.NewID(), t.id, fmt.Sprintf("Key %d", k), "tnt_filled", fmt.Sprintf("filled-%d", n), "usage:write",
				t.users[0], at, f.now, revoked); err != nil {
				return err
			}
		}
	}
	return b.flush(ctx)
}

// notifications creates handled notifications of the payment provider.
func (f *filler) notifications(ctx context.Context) error {
	b := f.bulkInto("psp_events", "id", "type", "object_id", "received_at", "handled_at")
	for i := range f.volume.tenants {
		for n := range noticesEach {
			at := f.recentMoment()
			if err := b.add(ctx, fmt.Sprintf("evt_filled_%d_%d", i, n), "invoice.paid", fmt.Sprintf("in_filled_%d", i), at, at); err != nil {
				return err
			}
		}
	}
	return b.flush(ctx)
}

// imports records that all tenants and users were created by an import.
func (f *filler) imports(ctx context.Context) error {
	b := f.bulkInto("imported", "kind", "key_hash", "resource_id", "digest", "is_made", "imported_at")
	for i, t := range f.tenants {
		if err := b.add(ctx, "tenant", fmt.Sprintf("filled-%d", i), t.id.String(), "filled", true, f.now); err != nil {
			return err
		}
		for _, id := range t.users {
			if err := b.add(ctx, "user", fmt.Sprintf("filled-%d", id), strconv.FormatInt(id, 10), "filled", true, f.now); err != nil {
				return err
			}
		}
	}
	return b.flush(ctx)
}

// writeInOrder flushes the tables in order, so that referenced rows are written first.
func writeInOrder(ctx context.Context, tables ...*bulk) error {
	for _, b := range tables {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// The data behind the platform's statistics.
const (
	formerEach = 6  // ended subscriptions per tenant
	refusedOf  = 10 // one in refusedOf tenants has quota refusals, in refusedOf hours of the last two days
)

// fillEndedSubscriptions creates ended subscriptions and the journal entries of all subscriptions.
func (f *filler) fillEndedSubscriptions(ctx context.Context) error {
	b := f.bulkInto("subscriptions", "id", "tenant_id", "plan_id", "status", "currency", "price_cents", "quantity",
		"interval_unit", "interval_count", "billing_anchor", "current_period_start", "current_period_end", "psp_subscription_id",
		"sync_version", "created_at", "updated_at")
	for i, t := range f.tenants {
		for n := range formerEach {
			began := f.randomMoment()
			ended := began.Add(f.now.Sub(began) / 2).Truncate(time.Second)
			currency := []string{"EUR", "EUR", "USD"}[n%3]
			if err := b.add(ctx, sqldb.NewID(), t.id, f.plan.ID, "canceled", currency, 1900, 1+n, "month", 1, began, began, ended,
				fmt.Sprintf("sub_former_%d_%d", i, n), 1, began, ended); err != nil {
				return err
			}
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	return journal.New(f.db, clock.System()).Run(ctx)
}

// refusals creates quota refusals: hourly counts of some tenants, and daily counts of all tenants.
func (f *filler) refusals(ctx context.Context) error {
	const parts = 16
	hours := f.bulkInto("quota_refusals", "tenant_id", "hour", "meter_id", "refused")
	days := f.bulkInto("quota_refusal_days", "day", "part", "refused")
	now := f.now.Unix() / 3600
	for i, t := range f.tenants {
		if i%refusedOf != 0 {
			continue
		}
		for n := range refusedOf {
			if err := hours.add(ctx, t.id, now-int64(n*4), f.meters[0].id, 3); err != nil {
				return err
			}
		}
	}
	for day := range filledDays {
		for part := range parts {
			if err := days.add(ctx, now/24-int64(day), part, f.chance.IntN(1000)); err != nil {
				return err
			}
		}
	}
	return errors.Join(hours.flush(ctx), days.flush(ctx))
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// fillTenants creates all tenants except the known tenants, and their users.
func (f *filler) fillTenants(ctx context.Context) error {
	users := f.bulkInto("users", "id", "name", "email", "created_at", "updated_at")
	tenants := f.bulkInto("tenants", "id", "name", "slug", "preferred_currency", "legal_name", "country", "onboarding_completed_at", "created_at", "updated_at")
	var last int64
	if err := f.db.Conn(ctx).QueryRowContext(ctx, `SELECT max(id) FROM users`).Scan(&last); err != nil {
		return err
	}
	for i := range f.volume.tenants {
		at := f.randomMoment()
		if i >= len(f.tenants) {
			t := &filledTenant{id: sqldb.NewID(), fresh: true}
			f.tenants = append(f.tenants, t)
			name := fmt.Sprintf("Tenant %d", i)
			if err := tenants.add(ctx, t.id, name, fmt.Sprintf("tenant-%d", i), "EUR", name+" GmbH", "DE", at, at, at); err != nil {
				return err
			}
		}
		t, n := f.tenants[i], membersEach
		if i == 0 {
			n = f.volume.large().members
		}
		for len(t.users) < n {
			last++
			t.users = append(t.users, last)
			if err := users.add(ctx, last, fmt.Sprintf("User %d", last), fmt.Sprintf("user-%d@filled.test", last), at, at); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(users.flush(ctx), tenants.flush(ctx)); err != nil {
		return err
	}
	if f.db.Dialect() == sqldb.Postgres {
		return f.exec(ctx, `SELECT setval(pg_get_serial_sequence('users', 'id'), (SELECT max(id) FROM users))`)
	}
	return nil
}

// currencyOf returns the currency of a tenant's subscription.
func currencyOf(i int) string { return []string{"EUR", "EUR", "EUR", "USD"}[i%4] }

// memberships creates the memberships of all users and the subscriptions of the created tenants.
func (f *filler) memberships(ctx context.Context) error {
	members := f.bulkInto("memberships", "tenant_id", "user_id", "role_id", "joined_at")
	subscriptions := f.bulkInto("subscriptions", "id", "tenant_id", "plan_id", "status", "currency", "price_cents", "quantity",
		"interval_unit", "interval_count", "billing_anchor", "current_period_start", "current_period_end", "psp_subscription_id",
		"sync_version", "created_at", "updated_at")
	first := time.Date(f.now.Year(), f.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for i, t := range f.tenants {
		joined := t.users[1:] // the owner is already a member
		if t.fresh {
			joined = t.users
			if err := subscriptions.add(ctx, sqldb.NewID(), t.id, f.plan.ID, "active", currencyOf(i), 900, membersEach, "month", 1,
				first, first, first.AddDate(0, 1, 0), fmt.Sprintf("sub_filled_%d", i), 1, f.now, f.now); err != nil {
				return err
			}
		}
		for _, id := range joined {
			role := "member"
			if id == t.users[0] {
				role = "owner"
			}
			if err := members.add(ctx, t.id, id, f.roles[role], f.now); err != nil {
				return err
			}
		}
	}
	return errors.Join(members.flush(ctx), subscriptions.flush(ctx))
}

// invitations creates invitations. One in twenty is pending.
func (f *filler) invitations(ctx context.Context) error {
	b := f.bulkInto("invitations", "id", "tenant_id", "email", "role_id", "inviter_id", "status", "token_hash", "expires_in_days", "expires_at", "created_at", "updated_at")
	n := 0
	for i, t := range f.tenants {
		many := invitationsEach
		if i == 0 {
			many = f.volume.large().invitations
		}
		for range many {
			n++
			at, status := f.randomMoment(), "accepted"
			if n%20 == 0 {
				status = "pending"
			}
			if err := b.add(ctx, sqldb.NewID(), t.id, fmt.Sprintf("invited-%d@filled.test", n), f.roles["member"], t.users[0], status,
				fmt.Sprintf("filled-%d", n), 7, at.AddDate(0, 0, 7), at, at); err != nil {
				return err
			}
		}
	}
	return b.flush(ctx)
}

// logins creates credentials. Half of them have expired.
func (f *filler) logins(ctx context.Context) error {
	b := f.bulkInto("credentials", "id", "user_id", "kind", "token_hash", "family", "family_expires_at", "expires_at", "idle_seconds", "created_at", "login_at")
	n := 0
	for _, t := range f.tenants {
		for _, id := range t.users[:min(len(t.users), membersEach)] {
			for range loginsEach {
				n++
				at := f.now.Add(-time.Duration(f.chance.Int64N(int64(60 * 24 * time.Hour)))).Truncate(time.Second)
				end := at.AddDate(0, 0, 30)
				if err := b.add(ctx, sqldb.NewID(), id, "refresh", fmt.Sprintf("filled-%d", n), sqldb.NewID(), end, end, 0, at, at); err != nil {
					return err
				}
			}
		}
	}
	return b.flush(ctx)
}

// invoices creates paid invoices with one line each, and their status at the provider. One in
// twenty had a failed payment and has a credit note. One in two hundred is still open.
func (f *filler) invoices(ctx context.Context) error {
	heads := f.bulkInto("invoices", "id", "tenant_id", "psp_invoice_id", "number", "year", "sequence", "status", "currency", "subtotal_cents",
		"tax_cents", "total_cents", "tax_rate", "issue_date", "paid_at", "billing_info", "locale", "created_at", "updated_at")
	lines := f.bulkInto("invoice_lines", "invoice_id", "position", "id", "tenant_id", "description", "type", "quantity", "unit_price_cents", "amount_cents", "plan_id", "period_start", "period_end")
	states := f.bulkInto("psp_invoices", "psp_invoice_id", "tenant_id", "id", "created_at", "status", "number", "currency", "total_cents", "paid_cents",
		"open_cents", "issued_at", "year", "attempts", "failed_at", "failed_key", "decline_code")
	entries := f.bulkInto("payment_entries", "tenant_id", "invoice_id", "key", "type", "currency", "amount_cents", "decline_code", "happened_at")
	notes := f.bulkInto("credit_notes", "tenant_id", "id", "invoice_id", "psp_invoice_id", "number", "year", "sequence", "status", "currency",
		"subtotal_cents", "total_cents", "settlement", "reason", "issue_date", "is_answered", "leased_until", "created_at")
	n := 0
	for i, t := range f.tenants {
		many := invoicesEach
		if i == 0 {
			many = f.volume.large().invoices
		}
		for range many {
			n++
			id, at := sqldb.NewID(), f.randomMoment()
			psp, number := fmt.Sprintf("in_filled_%d", n), fmt.Sprintf("F-%07d", n)
			status, paid, failedAt, failedKey, decline := "paid", 2700, (*time.Time)(nil), (*string)(nil), (*string)(nil)
			if n%failedOf == 0 {
				failedAt, failedKey, decline = new(at), new("failed"), new("insufficient_funds")
				if err := entries.add(ctx, t.id, id, "failed", "payment.failed", "EUR", 2700, decline, at); err != nil {
					return err
				}
			}
			if n%openOf == 0 {
				status, paid = "open", 0
			}
			if err := errors.Join(
				heads.add(ctx, id, t.id, psp, number, 2020, n, status, "EUR", 2700, 0, 2700, 0, at, at, `{"legal_name": "Bench GmbH", "country": "DE"}`, "en", at, at),
				lines.add(ctx, id, 0, sqldb.NewID(), t.id, "Team", "seat", 3, 900, 2700, f.plan.ID, at, at.AddDate(0, 1, 0)),
				states.add(ctx, psp, t.id, id, at, status, number, "EUR", 2700, paid, 2700-paid, at, at.Year(), 1, failedAt, failedKey, decline),
			); err != nil {
				return err
			}
			if n%creditedOf == 0 {
				if err := notes.add(ctx, t.id, sqldb.NewID(), id, psp, fmt.Sprintf("N-%07d", n), 2020, n, "issued", "EUR", 900, 900, "credit", "other", at, true, at, at); err != nil {
					return err
				}
			}
			if status == "open" {
				continue
			}
			if err := entries.add(ctx, t.id, id, "paid", "payment.succeeded", "EUR", 2700, nil, at); err != nil {
				return err
			}
		}
	}
	return writeInOrder(ctx, heads, lines, states, entries, notes)
}

// usage creates events of one unit each, some in the same hour, with the corresponding counters and
// hourly sums.
func (f *filler) usage(ctx context.Context) error {
	if len(f.meters) == 0 {
		return errors.New("no meter with sum aggregation")
	}
	summed := f.now.Truncate(time.Hour)
	streams := f.bulkInto("usage_streams", "tenant_id", "meter_id", "summed_before")
	for _, t := range f.tenants {
		if err := streams.add(ctx, t.id, f.meters[0].id, summed); err != nil {
			return err
		}
	}
	if err := streams.flush(ctx); err != nil {
		return err
	}
	events := f.bulkInto("usage_events", "tenant_id", "meter_id", "recorded_at", "id", "quantity", "created_at")
	counters := f.bulkInto("usage_counters", "tenant_id", "period_end", "meter_id", "period_start", "updated_at", "units", "millionths")
	hours := f.bulkInto("usage_hours", "tenant_id", "meter_id", "hour", "events", "units", "millionths", "highest", "last", "last_at")
	rest := (f.volume.events - f.volume.large().events) / max(1, len(f.tenants)-1)
	for i, t := range f.tenants {
		many := rest
		if i == 0 {
			many = f.volume.large().events
		}
		months, ofHour := map[time.Time]int{}, map[int64]int{}
		lasts := map[int64]time.Time{}
		var begins time.Time
		for n := range many {
			if n%eventsOfHour == 0 {
				begins = f.randomMoment().Truncate(time.Hour)
			}
			at := begins.Add(time.Duration(f.chance.Int64N(int64(time.Hour/time.Second))) * time.Second)
			if at.After(f.now) {
				at = begins
			}
			months[time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)]++
			if at.Before(summed) {
				hour := usage.HourOf(at)
				ofHour[hour]++
				if at.After(lasts[hour]) {
					lasts[hour] = at
				}
			}
			if err := events.add(ctx, t.id, f.meters[0].id, at, idAt(at), money.One, at); err != nil {
				return err
			}
		}
		for month, units := range months {
			if err := counters.add(ctx, t.id, month.AddDate(0, 1, 0), f.meters[0].id, month, f.now, units, 0); err != nil {
				return err
			}
		}
		for hour, units := range ofHour {
			if err := hours.add(ctx, t.id, f.meters[0].id, hour, units, units, 0, money.One, money.One, lasts[hour]); err != nil {
				return err
			}
		}
	}
	return writeInOrder(ctx, events, counters, hours)
}

// idAt returns an id (UUID version 7) with the given creation time.
func idAt(at time.Time) uuid.UUID {
	id := sqldb.NewID()
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}

// trail creates entries of the audit log and the impersonation log, oldest first.
func (f *filler) trail(ctx context.Context) error {
	entries := f.bulkInto("audit_logs", "actor_id", "subject_id", "tenant_id", "action", "resource", "resource_id", "ip", "user_agent", "created_at")
	impersonation := f.bulkInto("impersonation_logs", "impersonator_id", "impersonated_id", "tenant_id", "action", "read_only", "ip_address", "user_agent", "created_at")
	actions := []string{"invitation.created", "member.role_changed", "tenant.updated", "user.login", "role.updated"}
	n := f.volume.tenants * entriesEach
	step := time.Duration(filledDays) * 24 * time.Hour / time.Duration(n)
	for i := range n {
		t := f.tenants[f.chance.IntN(len(f.tenants))]
		if i%10 == 0 {
			t = f.tenants[0]
		}
		actor, at := t.users[f.chance.IntN(len(t.users))], f.now.Add(-step*time.Duration(n-i)).Truncate(time.Second)
		if err := entries.add(ctx, actor, t.users[0], t.id, actions[f.chance.IntN(len(actions))], "tenant", t.id.String(), "192.0.2.1", "bench", at); err != nil {
			return err
		}
		if i%entriesEach == 0 {
			if err := impersonation.add(ctx, f.tenants[2].users[0], actor, t.id, "started", false, "192.0.2.1", "bench", at); err != nil {
				return err
			}
		}
	}
	if err := entries.flush(ctx); err != nil {
		return err
	}
	if err := impersonation.flush(ctx); err != nil {
		return err
	}
	return f.auditLog.CountDays(ctx)
}

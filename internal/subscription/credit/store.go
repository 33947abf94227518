package credit

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/credit/creditsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *creditsql.Queries { return creditsql.New(s.db.Conn(ctx)) }

func toEntry(row creditsql.CreditEntry) (Entry, error) {
	e := Entry{
		ID: row.ID, Amount: money.Money{AmountCents: row.AmountCents, Currency: row.Currency}, Reason: row.Reason,
		By:        authz.Author{Type: row.ByType, ID: authz.AuthorID(row.ByID), Name: row.ByName},
		CreatedAt: row.CreatedAt, tenantID: row.TenantID, customerID: row.PSPCustomerID, leasedUntil: row.LeasedUntil,
	}
	if row.RequestID != nil {
		e.requestID = *row.RequestID
	}
	return e, sqldb.Wrap(json.Unmarshal(row.Origin, &e.origin), "read origin of credit entry")
}

// list lists the applied entries of a tenant, newest first.
func (s store) list(ctx context.Context, tenantID uuid.UUID) ([]Entry, error) {
	rows, err := s.q(ctx).ListEntries(ctx, tenantID)
	if err != nil {
		return nil, sqldb.Wrap(err, "list credit entries")
	}
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		if entries[i], err = toEntry(row); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// pendingEntry returns the entry of a tenant that is not applied yet, or errNoEntry.
func (s store) pendingEntry(ctx context.Context, tenantID uuid.UUID) (Entry, error) {
	row, err := s.q(ctx).PendingEntry(ctx, tenantID)
	if err != nil {
		return Entry{}, sqldb.WrapAbsent(err, "read pending credit entry", errNoEntry)
	}
	return toEntry(row)
}

// ofRequest returns the applied entry of a request with an idempotency key, or errNoEntry.
func (s store) ofRequest(ctx context.Context, tenantID uuid.UUID, requestID string) (Entry, error) {
	row, err := s.q(ctx).EntryOfRequest(ctx, creditsql.EntryOfRequestParams{TenantID: tenantID, RequestID: &requestID})
	if err != nil {
		return Entry{}, sqldb.WrapAbsent(err, "read credit entry of request", errNoEntry)
	}
	return toEntry(row)
}

func (s store) insert(ctx context.Context, e Entry) error {
	origin, err := json.Marshal(e.origin)
	if err != nil {
		return sqldb.Wrap(err, "encode origin of credit entry")
	}
	p := creditsql.InsertEntryParams{
		TenantID: e.tenantID, ID: e.ID, PSPCustomerID: e.customerID, AmountCents: e.Amount.AmountCents, Currency: e.Amount.Currency,
		Reason: e.Reason, ByType: e.By.Type, ByID: string(e.By.ID), ByName: e.By.Name, Origin: origin,
		LeasedUntil: e.leasedUntil, CreatedAt: e.CreatedAt,
	}
	if e.requestID != "" {
		p.RequestID = &e.requestID
	}
	return sqldb.Wrap(s.q(ctx).InsertEntry(ctx, p), "insert credit entry")
}

func (s store) lease(ctx context.Context, e Entry, until time.Time) error {
	err := s.q(ctx).LeaseEntry(ctx, creditsql.LeaseEntryParams{TenantID: e.tenantID, ID: e.ID, LeasedUntil: until})
	return sqldb.Wrap(err, "lease credit entry")
}

// apply marks an entry as applied. It reports false if it already was.
func (s store) apply(ctx context.Context, e Entry, now time.Time) (bool, error) {
	n, err := s.q(ctx).ApplyEntry(ctx, creditsql.ApplyEntryParams{TenantID: e.tenantID, ID: e.ID, AppliedAt: &now})
	return n == 1, sqldb.Wrap(err, "apply credit entry")
}

func (s store) discard(ctx context.Context, e Entry) error {
	err := s.q(ctx).DeleteEntry(ctx, creditsql.DeleteEntryParams{TenantID: e.tenantID, ID: e.ID})
	return sqldb.Wrap(err, "delete credit entry")
}

// subscriptionCurrency returns the currency of the tenant's subscription, or "" without one.
func (s store) subscriptionCurrency(ctx context.Context, tenantID uuid.UUID) (string, error) {
	currency, err := s.q(ctx).SubscriptionCurrency(ctx, tenantID)
	err = sqldb.WrapAbsent(err, "read the currency of a subscription", errNoEntry)
	if errors.Is(err, errNoEntry) {
		return "", nil
	}
	return currency, err
}

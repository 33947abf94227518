package invoice

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// isVoiding reports whether a caller is voiding the invoice at the given time. It is false for an
// unknown invoice.
func (s store) isVoiding(ctx context.Context, tenantID, id uuid.UUID, now time.Time) (bool, error) {
	until, err := s.q(ctx).VoidLease(ctx, invoicesql.VoidLeaseParams{TenantID: tenantID, ID: id})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return until != nil && until.After(now), sqldb.Wrap(err, "read lease of invoice")
}

// leaseVoid leases the voiding of an invoice until a time, or ends the lease if until is nil.
func (s store) leaseVoid(ctx context.Context, tenantID, id uuid.UUID, until *time.Time) error {
	err := s.q(ctx).LeaseVoid(ctx, invoicesql.LeaseVoidParams{TenantID: tenantID, ID: id, VoidLeasedUntil: until})
	return sqldb.Wrap(err, "lease the voiding of an invoice")
}

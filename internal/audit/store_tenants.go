package audit

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Once a day has been counted, its entries are also counted per tenant.
//
// Invariant: a tenant's row in audit_tenants has the exact number of the tenant's entries from
// before counted_before, which is a midnight. The lock of audit_days also protects audit_tenants.

// watermarkID is the tenant ID of the row that stores the end of the counted time.
var watermarkID uuid.UUID

// tenantDay identifies a day of a tenant by its start.
type tenantDay struct {
	tenantID uuid.UUID
	day      time.Time
}

// countOf returns the number of entries of a tenant.
func (s store) countOf(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountEntriesOfTenant(ctx, auditsql.CountEntriesOfTenantParams{TenantID: tenantID})
	return n, sqldb.Wrap(err, "count audit entries of a tenant")
}

// countTenants adds the entries of the oldest day that is over and not yet included to the counts
// of the tenants. It reports whether there was such a day.
func (s store) countTenants(ctx context.Context, now time.Time) (found bool, err error) {
	found, err = s.countDay(ctx, now, s.firstWithoutTenants, func(ctx context.Context, begin, end time.Time) error {
		if err := s.q(ctx).CountTenants(ctx, auditsql.CountTenantsParams{Earliest: begin, Before: end}); err != nil {
			return err
		}
		return s.q(ctx).MarkTenants(ctx, auditsql.MarkTenantsParams{TenantID: watermarkID, CountedBefore: end})
	})
	return found, sqldb.Wrap(err, "count audit entries of tenants")
}

// firstWithoutTenants returns the start of the first day that is not included in the counts of the
// tenants, or the zero time if the log is empty.
func (s store) firstWithoutTenants(ctx context.Context) (time.Time, error) {
	before, err := s.q(ctx).TenantsCountedBefore(ctx, watermarkID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return s.firstDay(ctx)
	}
	return before, err
}

// subtractTenants subtracts deleted entries from the counts that include them.
func (s store) subtractTenants(ctx context.Context, deleted map[tenantDay]int64) error {
	if len(deleted) == 0 {
		return nil
	}
	var rows []any
	for of, n := range deleted {
		rows = append(rows, of.tenantID, of.day, n)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "timestamptz", "bigint")
	_, err := s.db.Conn(ctx).ExecContext(ctx, `UPDATE audit_tenants SET entries = entries - d.deleted FROM (
    SELECT c.tenant_id, sum(g.column3)::bigint AS deleted
    FROM (SELECT DISTINCT v.column1, v.column2, v.column3 FROM (`+values+`) AS v) AS g
    JOIN audit_tenants c ON c.tenant_id = g.column1 AND c.counted_before > g.column2
    GROUP BY c.tenant_id
) AS d WHERE audit_tenants.tenant_id = d.tenant_id`, args...)
	return err
}

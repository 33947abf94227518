package audit

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The entries of a tenant are counted, too, as soon as their day is.
//
// Invariant: a tenant's row of audit_tenants has exactly the entries that the trail has of the
// tenant from before the row's time, which is a midnight. It is kept as that of audit_days is,
// under the same lock.

// nobody is the id in the row that has up to when days were counted.
var nobody uuid.UUID

// tenantDay is a day of a tenant's, by its beginning.
type tenantDay struct {
	tenantID uuid.UUID
	day      time.Time
}

// countOf returns how many entries a tenant has.
func (s store) countOf(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountEntriesOfTenant(ctx, auditsql.CountEntriesOfTenantParams{TenantID: tenantID})
	return n, sqldb.Wrap(err, "count audit entries of a tenant")
}

// countTenants adds the oldest day that is over at now and is in no number to those of the
// tenants, and reports whether there was one.
func (s store) countTenants(ctx context.Context, now time.Time) (found bool, err error) {
	found, err = s.oneDay(ctx, now, s.firstWithoutTenants, func(ctx context.Context, begin, end time.Time) error {
		if err := s.q(ctx).CountTenants(ctx, auditsql.CountTenantsParams{Earliest: begin, Before: end}); err != nil {
			return err
		}
		return s.q(ctx).MarkTenants(ctx, auditsql.MarkTenantsParams{TenantID: nobody, CountedBefore: end})
	})
	return found, sqldb.Wrap(err, "count audit entries of tenants")
}

// firstWithoutTenants returns the beginning of the first day whose entries are in no tenant's
// number, or the zero time while there are no entries.
func (s store) firstWithoutTenants(ctx context.Context) (time.Time, error) {
	before, err := s.q(ctx).TenantsCountedBefore(ctx, nobody)
	if errors.Is(err, sqldb.ErrNoRows) {
		return s.firstDay(ctx)
	}
	return before, err
}

// subtractTenants takes deleted entries off the numbers that they are in.
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

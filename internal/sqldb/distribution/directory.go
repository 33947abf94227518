package distribution

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// TenantOf returns the tenant of an object of the payment provider, or uuid.Nil if the object is
// unknown. Statements on the object's rows need the tenant: without it, Citus would query all
// shards.
func TenantOf(ctx context.Context, db *sqldb.DB, pspID string) (tenantID uuid.UUID, err error) {
	err = db.QueryAll(ctx, sqldb.Query{
		Doing: "find tenant of the provider's ID", Text: `SELECT tenant_id FROM psp_tenants WHERE psp_id = $1`, Args: []any{pspID},
		Row: func(scan func(...any) error) error { return scan(&tenantID) },
	})
	return tenantID, err
}

// RememberTenant stores the tenant of an object of the payment provider for TenantOf.
func RememberTenant(ctx context.Context, db *sqldb.DB, pspID string, tenantID uuid.UUID) error {
	_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO psp_tenants (psp_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, pspID, tenantID)
	return sqldb.Wrap(err, "store tenant of the provider's ID")
}

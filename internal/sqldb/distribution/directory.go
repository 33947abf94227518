package distribution

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// TenantOf returns the tenant of an object of the payment provider, or nil if it is unknown. A
// statement without the tenant asks all shards. A single server, which needs no tenant, always
// returns nil.
func TenantOf(ctx context.Context, db *sqldb.DB, pspID string) (found *uuid.UUID, err error) {
	if !db.IsDistributed() {
		return nil, nil //nolint:nilnil // it is unknown
	}
	err = db.QueryAll(ctx, sqldb.Query{
		Doing: "find tenant of the provider's ID", Text: `SELECT tenant_id FROM psp_tenants WHERE psp_id = $1`, Args: []any{pspID},
		Row: func(scan func(...any) error) error {
			found = new(uuid.UUID)
			return scan(found)
		},
	})
	return found, err
}

// RememberTenant stores the tenant of an object of the payment provider for TenantOf. It does nothing
// on a single server.
func RememberTenant(ctx context.Context, db *sqldb.DB, pspID string, tenantID uuid.UUID) error {
	if !db.IsDistributed() {
		return nil
	}
	_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO psp_tenants (psp_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, pspID, tenantID)
	return sqldb.Wrap(err, "store tenant of the provider's ID")
}

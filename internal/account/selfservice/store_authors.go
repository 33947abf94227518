package selfservice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// authored are the columns with authors of changes (authz.Origin). The new version of a subscription makes
// operations and read-backs that have already read the name start again.
var authored = []struct{ table, column, version string }{
	{"usage_streams", "cap_by", ""},
	{"usage_grants", "author", ""},
	{"subscriptions", "pending_by", ", sync_version = sync_version + 1"},
	{"subscriptions", "scheduled_change", ", sync_version = sync_version + 1"},
	{"psp_operations", "origin", ""},
	{"psp_operations", "request", ""},
	{"checkouts", "contract", ""},
	{"psp_invoices", "marking", ""},
	{"credit_entries", "origin", ""},
	{"credit_notes", "request", ""},
	{"credit_notes", "retry", ""},
}

// eraseAuthor removes the personal data of a user from the changes that they have made in any tenant,
// also while acting as another user.
func (s store) eraseAuthor(ctx context.Context, userID int64) error {
	changed, err := s.q(ctx).ChangedTenants(ctx, userID)
	if err != nil {
		return err
	}
	capped, err := s.q(ctx).CappedTenants(ctx, userID)
	if err != nil {
		return err
	}
	tenants := make(map[uuid.UUID]bool, len(changed))
	for _, id := range changed {
		tenants[*id] = true
	}
	for _, id := range capped {
		tenants[id] = true
	}
	for id := range tenants {
		for _, a := range authored {
			values, err := s.values(ctx, id, a.table, a.column)
			if err != nil {
				return err
			}
			replace := "UPDATE " + a.table + " SET " + a.column + " = $3" + a.version + " WHERE tenant_id = $1 AND " + a.column + " = $2"
			if err := s.eraseAuthorIn(ctx, id, values, replace, userID); err != nil {
				return err
			}
		}
	}
	return nil
}

// eraseAuthorIn removes the personal data of a user from values of a tenant. The statement replaces the
// former value ($2) by the new value ($3). A value that has changed meanwhile stays as it is.
func (s store) eraseAuthorIn(ctx context.Context, tenantID uuid.UUID, values []sqldb.JSON, replace string, userID int64) error {
	for _, former := range values {
		erased, found, err := authz.EraseOrigins(former, userID)
		if err == nil && found {
			_, err = s.db.Conn(ctx).ExecContext(ctx, replace, tenantID, former, sqldb.JSON(erased))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// values returns the different values of a column in the rows of a tenant.
func (s store) values(ctx context.Context, tenantID uuid.UUID, table, column string) ([]sqldb.JSON, error) {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, "SELECT DISTINCT "+column+" FROM "+table+" WHERE tenant_id = $1 AND "+column+" IS NOT NULL", tenantID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var values []sqldb.JSON
	for rows.Next() {
		var v sqldb.JSON
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}

package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement/entitlementsql"
)

// overridesQuery reads the overrides of tenants into found, by feature code.
func (s store) overridesQuery(tenantIDs []uuid.UUID, found map[uuid.UUID][]Override) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read overrides",
		Text: `SELECT o.tenant_id, f.code, o.type, o.value, o.expires_at, o.reason, o.by_type, o.by_id, o.by_name, o.created_at
FROM limit_overrides o JOIN features f ON f.id = o.feature_id
WHERE f.deleted_at IS NULL AND o.tenant_id ` + among + `
ORDER BY f.code`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var o Override
			var kind, by string
			err := scan(&id, &o.FeatureCode, &kind, &o.Value, &o.ExpiresAt, &o.Reason, &o.By.Type, &by, &o.By.Name, &o.CreatedAt)
			o.Type, o.By.ID = catalog.EntitlementType(kind), authz.AuthorID(by)
			found[id] = append(found[id], o)
			return err
		},
	}
}

func (s store) putOverride(ctx context.Context, tenantID, featureID uuid.UUID, o Override) error {
	err := s.q(ctx).PutOverride(ctx, entitlementsql.PutOverrideParams{
		TenantID: tenantID, FeatureID: featureID, Type: string(o.Type), Value: o.Value, ExpiresAt: o.ExpiresAt, Reason: o.Reason,
		ByType: o.By.Type, ByID: string(o.By.ID), ByName: o.By.Name, CreatedAt: o.CreatedAt,
	})
	return sqldb.Wrap(err, "store override")
}

func (s store) deleteOverride(ctx context.Context, tenantID, featureID uuid.UUID) error {
	err := s.q(ctx).DeleteOverride(ctx, entitlementsql.DeleteOverrideParams{TenantID: tenantID, FeatureID: featureID})
	return sqldb.Wrap(err, "delete override")
}

// listExpired lists tenants with overrides that have expired.
func (s store) listExpired(ctx context.Context, now time.Time, limit int32) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ListExpired(ctx, entitlementsql.ListExpiredParams{ExpiresAt: &now, Limit: limit})
	return ids, sqldb.Wrap(err, "list expired overrides")
}

func (s store) deleteExpired(ctx context.Context, tenantID uuid.UUID, now time.Time) error {
	err := s.q(ctx).DeleteExpired(ctx, entitlementsql.DeleteExpiredParams{TenantID: tenantID, ExpiresAt: &now})
	return sqldb.Wrap(err, "delete expired overrides")
}

// listGraceEnded lists past_due subscriptions that have been unpaid since the given time or longer,
// and whose changed entitlements are not published yet.
func (s store) listGraceEnded(ctx context.Context, since time.Time, limit int32) ([]entitlementsql.ListGraceEndedRow, error) {
	rows, err := s.q(ctx).ListGraceEnded(ctx, entitlementsql.ListGraceEndedParams{UnpaidSince: &since, Limit: limit})
	return rows, sqldb.Wrap(err, "list ended grace periods")
}

// markGraceEnded records that the end of a grace period is published. It does nothing if a newer
// state of the subscription was stored.
func (s store) markGraceEnded(ctx context.Context, sub entitlementsql.ListGraceEndedRow) error {
	err := s.q(ctx).MarkGraceEnded(ctx, entitlementsql.MarkGraceEndedParams(sub))
	return sqldb.Wrap(err, "mark the grace period as ended")
}

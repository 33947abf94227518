package account

import (
	"context"
	"strconv"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
)

// auditTrail records changes in the audit log.
type auditTrail interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Record adds an audit entry about a user's account, in the transaction of ctx. Without a caller in
// ctx, for example at login, the user is the actor. The entry belongs to the audit log of the
// user's tenant. Do not pass secrets.
func (s *Service) Record(ctx context.Context, userID int64, action string, before, after any) error {
	if s.deps.Audit == nil {
		return nil
	}
	tenantID, err := s.store.tenantOf(ctx, userID)
	if err != nil {
		return err
	}
	e := audit.Entry{
		Action: action, TenantID: tenantID, Resource: "user", ResourceID: strconv.FormatInt(userID, 10),
		Before: before, After: after,
	}
	if authz.FromContext(ctx) == nil {
		e.ActorID = &userID
	}
	return s.deps.Audit.Record(ctx, e)
}

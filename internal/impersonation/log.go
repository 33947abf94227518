package impersonation

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/search"
)

// The actions in the impersonation log.
const (
	actionStarted = "started"
	actionEnded   = "ended"
)

// log handles both events. It adds a record to the impersonation log and an entry to the audit log,
// in the transaction of ctx.
func (s *Service) log(ctx context.Context, action string, f Facts) error {
	if err := s.store.insertLog(ctx, action, f, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: "impersonation." + action, TenantID: &f.TenantID,
		Resource: "user", ResourceID: strconv.FormatInt(f.ImpersonatedID, 10),
		After: map[string]any{"impersonator_id": f.ImpersonatorID, "reason": f.Reason, "read_only": f.ReadOnly},
	})
}

// ImpersonationRecord is a record of the impersonation log (rules: impersonation#log).
type ImpersonationRecord struct {
	ID             int64      `json:"id"`
	ImpersonatorID int64      `json:"impersonator_id"`
	ImpersonatedID int64      `json:"impersonated_id"`
	TenantID       uuid.UUID  `json:"tenant_id"`
	Action         string     `json:"action" enum:"started,ended"`
	Reason         *string    `json:"reason" doc:"Reason of the impersonation. Null if none was given."`
	ReadOnly       bool       `json:"read_only" doc:"Whether the impersonation only reads."`
	IPAddress      string     `json:"ip_address" doc:"IP address of the client. Empty if the impersonation was not ended by a request."`
	UserAgent      *string    `json:"user_agent"`
	CreatedAt      shape.Time `json:"created_at"`
}

// LogList describes the filters and sorting of the impersonation log. search finds the admin and the
// impersonated user.
func LogList() page.Spec {
	return page.Spec{
		Params: map[string]page.Filter{
			"from":   {Kind: page.DateFrom, Exprs: []string{"created_at"}},
			"to":     {Kind: page.DateTo, Exprs: []string{"created_at"}},
			"actor":  {Kind: page.Integer, Exprs: []string{"impersonator_id"}},
			"search": search.People("impersonator_id", "impersonated_id"),
		},
		Sorts: map[string]string{"created_at": "created_at"}, DefaultSort: "-created_at", Tiebreak: "id", CSV: true,
	}
}

// DeleteOldLogs deletes up to limit records created between from (inclusive) and before
// (exclusive), the oldest first. It returns their creation times.
func (s *Service) DeleteOldLogs(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOld(ctx, from, before, limit)
}

package impersonation

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/impersonation/impersonationsql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// The actions of the log.
const (
	actionStarted = "started"
	actionEnded   = "ended"
)

// log is the listener of both events: it appends a record to the log and an
// entry to the trail, in the transaction of ctx.
func (s *Service) log(ctx context.Context, action string, f Facts) error {
	row := impersonationsql.InsertLogParams{
		ImpersonatorID: f.ImpersonatorID, ImpersonatedID: f.ImpersonatedID, TenantID: f.TenantID,
		Action: action, IpAddress: f.IPAddress, CreatedAt: s.deps.Clock.Now(),
	}
	if f.UserAgent != "" {
		row.UserAgent = &f.UserAgent
	}
	if err := s.store.q(ctx).InsertLog(ctx, row); err != nil {
		return err
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: "impersonation." + action, TenantID: &f.TenantID,
		Resource: "user", ResourceID: strconv.FormatInt(f.ImpersonatedID, 10),
		After: map[string]any{"impersonator_id": f.ImpersonatorID},
	})
}

// ImpersonationRecord is a record of the log (spec: Impersonation log record).
type ImpersonationRecord struct {
	ID             int64     `json:"id"`
	ImpersonatorID int64     `json:"impersonator_id"`
	ImpersonatedID int64     `json:"impersonated_id"`
	TenantID       uuid.UUID `json:"tenant_id"`
	Action         string    `json:"action" enum:"started,ended"`
	IPAddress      string    `json:"ip_address" doc:"Empty where no request ended it."`
	UserAgent      *string   `json:"user_agent"`
	CreatedAt      rest.Time `json:"created_at"`
}

// records is the list of the log: newest first, without filters.
func records() page.Spec {
	return page.Spec{Sorts: map[string]string{"created_at": "created_at"}, DefaultSort: "-created_at", Tiebreak: "id"}
}

func (s store) records(ctx context.Context, q page.Query) ([]ImpersonationRecord, int64, error) {
	sel := page.Select{
		Columns: "id, impersonator_id, impersonated_id, tenant_id, action, ip_address, user_agent, created_at",
		From:    "impersonation_logs",
	}
	return page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (ImpersonationRecord, error) {
		var (
			r  ImpersonationRecord
			at time.Time
		)
		err := row.Scan(&r.ID, &r.ImpersonatorID, &r.ImpersonatedID, &r.TenantID, &r.Action, &r.IPAddress, &r.UserAgent, &at)
		r.CreatedAt = rest.T(at)
		return r, err
	})
}

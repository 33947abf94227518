package audit

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) insert(ctx context.Context, row auditsql.InsertEntryParams) error {
	return auditsql.New(s.db.Conn(ctx)).InsertEntry(ctx, row)
}

// list is what the trail can be asked for.
func list() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"actor":          {Kind: page.Integer, Exprs: []string{"actor_id"}},
			"tenant":         {Kind: page.UUID, Exprs: []string{"tenant_id"}},
			"action":         {Kind: page.Exact, Exprs: []string{"action"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"created_at"}},
		},
		Sorts:       map[string]string{"created_at": "created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "id",
	}
}

func (s store) page(ctx context.Context, q page.Query) ([]AuditEntry, int64, error) {
	sel := page.Select{
		Columns: "id, actor_id, subject_id, tenant_id, action, resource, resource_id, before, after, ip, user_agent, created_at",
		From:    "audit_logs",
	}
	return page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (AuditEntry, error) {
		var (
			e             AuditEntry
			before, after sqldb.JSON
			at            time.Time
		)
		err := row.Scan(&e.ID, &e.ActorID, &e.SubjectID, &e.TenantID, &e.Action, &e.Resource, &e.ResourceID,
			&before, &after, &e.IP, &e.UserAgent, &at)
		e.Before, e.After, e.CreatedAt = rest.Object(before), rest.Object(after), rest.T(at)
		return e, err
	})
}

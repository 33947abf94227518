package audit

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

// record is a stored entry.
type record struct {
	Entry
	actorID   *int64     // nil for the CLI, background jobs and API keys
	subjectID *int64     // the impersonated user
	reason    *string    // of the impersonation
	keyID     *uuid.UUID // the API key that made the change; nil for users
	before    sqldb.JSON
	after     sqldb.JSON
	source    authz.Source
	at        time.Time
}

func (s store) insert(ctx context.Context, r record) error {
	err := auditsql.New(s.db.Conn(ctx)).InsertEntry(ctx, auditsql.InsertEntryParams{
		ActorID: r.actorID, SubjectID: r.subjectID, SubjectReason: r.reason, ApiKeyID: r.keyID, TenantID: r.TenantID,
		Action: r.Action, Resource: r.Resource, ResourceID: r.ResourceID,
		Before: r.before, After: r.after, Ip: r.source.IP, UserAgent: r.source.UserAgent, CreatedAt: r.at,
	})
	return sqldb.Wrap(err, "insert audit entry")
}

// TrailList describes the filters and sorting of the full audit log.
func TrailList() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"actor":          {Kind: page.Integer, Exprs: []string{"actor_id"}},
			"tenant":         {Kind: page.UUID, Exprs: []string{"tenant_id"}},
			"action":         {Kind: page.ExactMatch, Exprs: []string{"action"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"created_at"}},
		},
		Params: map[string]page.Filter{
			"from":   {Kind: page.DateFrom, Exprs: []string{"created_at"}},
			"to":     {Kind: page.DateTo, Exprs: []string{"created_at"}},
			"actor":  {Kind: page.Integer, Exprs: []string{"actor_id"}},
			"search": search.People("actor_id"),
		},
		Sorts:       map[string]string{"created_at": "created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "id",
		CSV:         true,
	}
}

// OwnList describes the filters and sorting of a tenant's audit log.
func OwnList() page.Spec {
	spec := TrailList()
	spec.Filters = map[string]page.Filter{"actor": spec.Filters["actor"], "action": spec.Filters["action"]}
	spec.Params["search"] = search.Members("actor_id", "audit_logs.tenant_id")
	return spec
}

// pageOf is like page, but only for the entries of one tenant.
func (s store) pageOf(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]AuditEntry, int64, error) {
	sel := page.Select{Where: "tenant_id = $1", Args: []any{tenantID}}
	if !q.HasFilter() {
		sel.Count = func(ctx context.Context) (int64, error) { return s.countOf(ctx, tenantID) }
	}
	return s.fetch(ctx, q, sel)
}

// page returns a page of the audit log and the total number of matching entries.
func (s store) page(ctx context.Context, q page.Query) ([]AuditEntry, int64, error) {
	var sel page.Select
	tenantID, tenantErr := uuid.Parse(q.Param("filter[tenant]"))
	switch {
	case q.OnlyFiltered("action"):
		sel.Count = func(ctx context.Context) (int64, error) { return s.count(ctx, q.Param("filter[action]")) }
	case q.OnlyFiltered("tenant") && tenantErr == nil:
		sel.Count = func(ctx context.Context) (int64, error) { return s.countOf(ctx, tenantID) }
	}
	return s.fetch(ctx, q, sel)
}

func (s store) fetch(ctx context.Context, q page.Query, sel page.Select) ([]AuditEntry, int64, error) {
	var reasons []*string
	sel.Columns = "id, actor_id, subject_id, subject_reason, api_key_id, tenant_id, action, resource, resource_id, before, after, ip, user_agent, created_at"
	sel.From = "audit_logs"
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (AuditEntry, error) {
		var (
			e             AuditEntry
			before, after sqldb.JSON
			at            time.Time
			reason        *string
		)
		err := row.Scan(&e.ID, &e.ActorID, &e.SubjectID, &reason, &e.APIKeyID, &e.TenantID, &e.Action, &e.Resource, &e.ResourceID,
			&before, &after, &e.IP, &e.UserAgent, &at)
		e.Before, e.After, e.CreatedAt = shape.Object(before), shape.Object(after), shape.T(at)
		reasons = append(reasons, reason)
		return e, err
	})
	if err == nil {
		err = s.addSubjects(ctx, entries, reasons)
	}
	return entries, total, sqldb.Wrap(err, "list audit entries")
}

// addSubjects sets ActingAs of the entries, with the current names of the users. reasons are the
// reasons of the impersonations.
func (s store) addSubjects(ctx context.Context, entries []AuditEntry, reasons []*string) error {
	var ids []int64
	for _, e := range entries {
		if e.SubjectID != nil && !slices.Contains(ids, *e.SubjectID) {
			ids = append(ids, *e.SubjectID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names := map[int64]string{}
	among, args := sqldb.InCondition(s.db, 1, "bigint", ids)
	err := s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read names of impersonated users", Text: "SELECT id, name FROM users WHERE deleted_at IS NULL AND id " + among, Args: args,
		Row: func(scan func(...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			names[id] = name
			return err
		},
	})
	for i, e := range entries {
		if e.SubjectID == nil {
			continue
		}
		if name, ok := names[*e.SubjectID]; ok {
			entries[i].ActingAs = &authz.ActingAs{ID: *e.SubjectID, Name: name, Reason: reasons[i]}
		}
	}
	return err
}

package requestlog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/timeline"
)

// LoggedRequest is a request in the API.
type LoggedRequest struct {
	ID         int64                 `json:"id"`
	At         shape.Time            `json:"at" doc:"Time of the response, in UTC."`
	Method     string                `json:"method" example:"GET" doc:"HTTP method, or OTHER for a method that the API does not know."`
	Route      *string               `json:"route" example:"/api/v1/tenant/{tenantId}/usage" doc:"Template of the path. Null if no route matched."`
	Path       *string               `json:"path" doc:"Path without the query, up to 512 characters. An invitation's token is replaced with {token}. Null if no route matched."`
	Status     int                   `json:"status" example:"403" doc:"HTTP status of the response."`
	DurationMS int64                 `json:"duration_ms" doc:"Duration, in milliseconds."`
	Code       *string               `json:"code" example:"insufficient_scope" doc:"Error code of the response. Null without a code."`
	APIKey     *timeline.NamedRecord `json:"api_key" doc:"API key of the request. Null for users and deleted keys."`
	User       *timeline.NamedUser   `json:"user" doc:"User who made the request. Null for API keys and deleted users."`
	ActingAs   *authz.ActingAs       `json:"acting_as" doc:"User impersonated by the user. Null if the user was not impersonating. Members see the reason with audit.view."`
	IP         string                `json:"ip" doc:"IP address of the client."`
}

// AdminLoggedRequest is a request with its tenant.
type AdminLoggedRequest struct {
	LoggedRequest
	Tenant *timeline.NamedRecord `json:"tenant" doc:"Tenant of the user or API key, or of the path for a platform key. Null without a tenant and for a purged tenant."`
}

// RequestLogMeta holds the cursor of the next page.
type RequestLogMeta struct {
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page. Null on the last page."`
	PerPage    int32   `json:"per_page"`
	Sampled    bool    `json:"sampled" doc:"Whether requests are missing in the time of the page, because more were made than are stored: 50 a second of a tenant, 500 in all, for each process of the service. Failed requests are stored first."`
}

// RequestLogPage is a page of the log of a tenant.
type RequestLogPage struct {
	Data []LoggedRequest `json:"data"`
	Meta RequestLogMeta  `json:"meta"`
}

// AdminRequestLogPage is a page of the log of all tenants.
type AdminRequestLogPage struct {
	Data []AdminLoggedRequest `json:"data"`
	Meta RequestLogMeta       `json:"meta"`
}

// HTTP has the handlers.
type HTTP struct{ log *Log }

// NewHTTP returns the handlers.
func NewHTTP(l *Log) *HTTP { return &HTTP{l} }

// Part selects a page of the log. List and AdminList have the other filters.
type Part struct {
	Status  string `query:"filter[status]" example:"4xx" doc:"2xx, 4xx, 5xx or a status code."`
	PerPage int32  `query:"per_page" minimum:"1" maximum:"100" default:"25" doc:"Number of requests per page."`
	Cursor  string `query:"cursor" maxLength:"255" doc:"Value of next_cursor from the previous page. Default: the newest requests."`
}

// List handles GET /admin/request-logs.
func (h *HTTP) List(ctx context.Context, in *Part) (*rest.Body[AdminRequestLogPage], error) {
	rows, meta, err := h.page(ctx, nil, AdminList(), *in)
	if err != nil {
		return nil, err
	}
	known, err := h.log.store.names(ctx, rows)
	if err != nil {
		return nil, err
	}
	answer := AdminRequestLogPage{Data: make([]AdminLoggedRequest, len(rows)), Meta: meta}
	for i, r := range rows {
		answer.Data[i] = AdminLoggedRequest{LoggedRequest: view(r, known), Tenant: record(known.tenants, r.tenantID)}
	}
	return rest.NewBody(answer), nil
}

type tenantInput struct {
	TenantID string `path:"tenantId"`
	Part
}

// ListOfTenant handles GET /tenant/{tenantId}/request-logs.
func (h *HTTP) ListOfTenant(ctx context.Context, in *tenantInput) (*rest.Body[RequestLogPage], error) {
	id := authz.TenantID(ctx)
	rows, meta, err := h.page(ctx, &id, List(), in.Part)
	if err != nil {
		return nil, err
	}
	known, err := h.log.store.names(ctx, rows)
	if err != nil {
		return nil, err
	}
	answer := RequestLogPage{Data: make([]LoggedRequest, len(rows)), Meta: meta}
	seesReasons := authz.FromContext(ctx).Can(authz.AuditView)
	for i, r := range rows {
		if !seesReasons {
			r.reason = nil
		}
		answer.Data[i] = view(r, known)
	}
	return rest.NewBody(answer), nil
}

// page returns a page of the log of a tenant, or of all tenants for nil.
func (h *HTTP) page(ctx context.Context, tenant *uuid.UUID, spec page.Spec, p Part) ([]row, RequestLogMeta, error) {
	meta := RequestLogMeta{PerPage: p.PerPage}
	sel, err := parseSelection(tenant, spec, rest.RequestOf(ctx).Query(), p)
	if err != nil {
		return nil, meta, err
	}
	rows, err := h.log.store.list(ctx, sel, p.PerPage+1) // one more than requested, to detect a next page
	if err != nil {
		return nil, meta, err
	}
	// A page covers the time between its last entry and the last entry of the previous page. The
	// filters to and from limit the first and the last page.
	latest, earliest := sel.query.Time("to", newest.at), sel.query.Time("from", time.Time{})
	if sel.after.at.Before(latest) {
		latest = sel.after.at
	}
	if len(rows) > int(p.PerPage) {
		rows = rows[:p.PerPage]
		last := rows[p.PerPage-1]
		earliest, meta.NextCursor = last.at, new(cursor{last.at, last.id}.encode())
	}
	if id, err := uuid.Parse(sel.query.Param("filter[tenant]")); err == nil {
		tenant = &id
	}
	meta.Sampled, err = h.log.store.hasGap(ctx, tenant, earliest, latest)
	return rows, meta, err
}

func view(r row, known names) LoggedRequest {
	v := LoggedRequest{
		ID: r.id, At: shape.T(r.at), Method: r.method, Route: r.route, Path: r.path, Status: r.status, DurationMS: r.took.Milliseconds(),
		Code: r.code, APIKey: record(known.keys, r.key), User: user(known.users, r.user), IP: r.ip,
	}
	if as := user(known.users, r.subject); as != nil {
		v.ActingAs = &authz.ActingAs{ID: as.ID, Name: as.Name, Reason: r.reason}
	}
	return v
}

func user(known map[int64]string, id *int64) *timeline.NamedUser {
	if id == nil {
		return nil
	}
	name, ok := known[*id]
	if !ok {
		return nil
	}
	return &timeline.NamedUser{ID: *id, Name: name}
}

func record(known map[uuid.UUID]string, id *uuid.UUID) *timeline.NamedRecord {
	if id == nil {
		return nil
	}
	name, ok := known[*id]
	if !ok {
		return nil
	}
	return &timeline.NamedRecord{ID: *id, Name: name}
}

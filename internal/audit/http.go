package audit

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// AuditEntry is an audit log entry in the API.
type AuditEntry struct {
	ID         int64           `json:"id"`
	ActorID    *int64          `json:"actor_id" doc:"ID of the user who made the change. Null for changes by API keys, the command line or the service itself."`
	SubjectID  *int64          `json:"subject_id" doc:"ID of the impersonated user. Null if the actor was not impersonating."`
	ActingAs   *authz.ActingAs `json:"acting_as" doc:"User impersonated by the actor. Null if the actor was not impersonating or the user was deleted."`
	APIKeyID   *uuid.UUID      `json:"api_key_id" doc:"ID of the API key that made the change. Null if it was not made with an API key."`
	TenantID   *uuid.UUID      `json:"tenant_id"`
	Action     string          `json:"action"`
	Resource   string          `json:"resource"`
	ResourceID string          `json:"resource_id"`
	Before     shape.Object    `json:"before" nullable:"true"`
	After      shape.Object    `json:"after" nullable:"true"`
	IP         string          `json:"ip"`
	UserAgent  string          `json:"user_agent"`
	CreatedAt  shape.Time      `json:"created_at"`
}

// HTTP implements the handlers for the audit log.
type HTTP struct {
	log       *Log
	publicURL string
}

// NewHTTP returns the handlers. publicURL, without a trailing slash, is the prefix of the
// pagination links.
func NewHTTP(log *Log, publicURL string) *HTTP { return &HTTP{log: log, publicURL: publicURL} }

// List handles GET /admin/audit-logs. It returns the newest entries first, with the filters of
// TrailList.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[AuditEntry]], error) {
	q, err := TrailList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	list := sheet.List[AuditEntry]{Name: "audit-logs", Read: h.log.store.page}
	return sheet.Page(ctx, list, q, h.publicURL+"/api/v1/admin/audit-logs")
}

type tenantInput struct {
	TenantID string `path:"tenantId"`
}

// ListOfTenant handles GET /tenant/{tenantId}/audit-logs. It returns the newest entries first, with
// the filters of OwnList.
func (h *HTTP) ListOfTenant(ctx context.Context, _ *tenantInput) (*rest.Body[page.Page[AuditEntry]], error) {
	q, err := OwnList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	id := authz.TenantID(ctx)
	list := sheet.List[AuditEntry]{Name: "audit-logs", Read: func(ctx context.Context, q page.Query) ([]AuditEntry, int64, error) {
		return h.log.store.pageOf(ctx, id, q)
	}}
	return sheet.Page(ctx, list, q, h.publicURL+"/api/v1/tenant/"+id.String()+"/audit-logs")
}

package impersonation

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// HTTP implements the handlers for impersonation.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers. publicURL, without a trailing slash, is the prefix of the
// pagination links.
func NewHTTP(svc *Service, publicURL string) *HTTP { return &HTTP{svc: svc, publicURL: publicURL} }

type startInput struct {
	Body struct {
		UserID   int64     `json:"user_id"`
		TenantID uuid.UUID `json:"tenant_id"`
		Reason   *string   `json:"reason,omitempty" nullable:"true" format:"multiline" maxLength:"500" doc:"Reason of the impersonation, which members with audit.view can see. The settings can require it."`
		ReadOnly bool      `json:"read_only,omitempty" doc:"Whether to reject requests that change data. Default: false."`
	}
}

func (in *startInput) target() Target {
	return Target{UserID: in.Body.UserID, TenantID: in.Body.TenantID}
}

func (in *startInput) limits() Limits {
	l := Limits{ReadOnly: in.Body.ReadOnly}
	if r := in.Body.Reason; r != nil && strings.TrimSpace(*r) != "" {
		l.Reason = r
	}
	return l
}

// Start handles POST /admin/impersonation/start.
func (h *HTTP) Start(ctx context.Context, in *startInput) (*rest.Body[rest.Note], error) {
	if h.svc.checkReason(in.limits()) != nil {
		return nil, h.CheckStart(ctx, in)
	}
	renewed, err := h.svc.Start(ctx, in.target(), in.limits())
	if err != nil {
		return nil, err
	}
	renewed.setCookie(ctx)
	return rest.Message("impersonation.started"), nil
}

// CheckStart validates the target and the reason before Start runs. See rest.Checks.
func (h *HTTP) CheckStart(ctx context.Context, in *startInput) error {
	return fault.Join(h.svc.checkTarget(ctx, in.target()), h.svc.checkReason(in.limits()))
}

// Stop handles POST /admin/impersonation/stop. It returns the admin, who now acts as themself
// again.
func (h *HTTP) Stop(ctx context.Context, _ *struct{}) (*rest.Data[account.SessionUser], error) {
	admin, renewed, err := h.svc.Stop(ctx)
	if err != nil {
		return nil, err
	}
	renewed.setCookie(ctx)
	return rest.OKMessage(admin, "impersonation.ended"), nil
}

// setCookie sends the new secret of the session to the browser.
func (r RenewedSession) setCookie(ctx context.Context) {
	if r.Secret != "" {
		rest.RequestOf(ctx).StartSession(r.Secret, r.Keep)
	}
}

// Status handles GET /admin/impersonation/status.
func (h *HTTP) Status(ctx context.Context, _ *struct{}) (*rest.Data[account.ProfileImpersonation], error) {
	return rest.OK(*account.ImpersonationOf(authz.FromContext(ctx))), nil
}

// Logs handles GET /admin/impersonation/logs. It returns the newest records first.
func (h *HTTP) Logs(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[ImpersonationRecord]], error) {
	q, err := LogList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	list := sheet.List[ImpersonationRecord]{Name: "impersonations", Read: h.svc.store.records}
	return sheet.Page(ctx, list, q, h.publicURL+"/api/v1/admin/impersonation/logs")
}

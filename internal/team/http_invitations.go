package team

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// invitationTenant is the inviting tenant.
type invitationTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// invitationInviter is the inviting user.
type invitationInviter struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// TeamInvitation is the invitation resource. The token is only in the mail.
type TeamInvitation struct {
	ID        uuid.UUID          `json:"id"`
	Email     string             `json:"email"`
	Role      string             `json:"role"`
	Status    string             `json:"status" enum:"pending,accepted,revoked,expired"`
	ExpiresAt shape.Time         `json:"expires_at"`
	IsExpired bool               `json:"is_expired" doc:"Whether the expiry time has passed."`
	IsValid   bool               `json:"is_valid" doc:"Whether the invitation is pending and has not expired."`
	Tenant    invitationTenant   `json:"tenant"`
	Inviter   *invitationInviter `json:"inviter" doc:"Member who sent the invitation. Null for an invitation by an API key of the platform."`
	CreatedAt shape.Time         `json:"created_at"`
	UpdatedAt shape.Time         `json:"updated_at"`
}

func teamInvitation(i Invitation) TeamInvitation {
	v := TeamInvitation{
		ID: i.ID, Email: i.Email, Role: i.Role, Status: string(i.Status), ExpiresAt: shape.T(i.ExpiresAt),
		IsExpired: i.IsExpired, IsValid: i.Valid(),
		Tenant:    invitationTenant{ID: i.Tenant, Name: i.TenantName},
		CreatedAt: shape.T(i.CreatedAt), UpdatedAt: shape.T(i.UpdatedAt),
	}
	if i.InviterID != 0 {
		v.Inviter = &invitationInviter{ID: i.InviterID, Name: i.Inviter}
	}
	return v
}

type invitationsInput struct {
	PendingOnly bool `query:"pending_only" doc:"Return only invitations that can be accepted."`
}

// Invitations handles GET /invitations.
func (h *HTTP) Invitations(ctx context.Context, in *invitationsInput) (*rest.Body[page.Part[TeamInvitation]], error) {
	id := authz.TenantID(ctx)
	return h.invitations(ctx, id, in.PendingOnly, h.tenants+id.String()+"/team/invitations")
}

// invitations returns the response with a tenant's invitations. address is the URL for pagination
// links.
func (h *HTTP) invitations(ctx context.Context, tenantID uuid.UUID, pendingOnly bool, address string) (*rest.Body[page.Part[TeamInvitation]], error) {
	q, err := page.ParsePart(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	if q.IsWhole() {
		return rest.StreamList(ctx, viewParts(h.svc.Invitations(tenantID, pendingOnly), teamInvitation))
	}
	found, total, err := h.svc.InvitationsOnPage(ctx, tenantID, pendingOnly, q)
	if err != nil {
		return nil, err
	}
	return rest.ListPage(page.New(q, address, viewAll(found, teamInvitation), total))
}

// MayInvite rejects a caller whose role cannot invite (INSUFFICIENT_PERMISSIONS), before the body
// is validated.
func (h *HTTP) MayInvite(ctx context.Context, _ func(string) string) error {
	if !authz.FromContext(ctx).Can(authz.TeamInvite) {
		return errMayNotInvite
	}
	return nil
}

type inviteInput struct {
	Body invitationBody
}

type invitationBody struct {
	Email         string `json:"email" format:"email" maxLength:"255"`
	Role          string `json:"role" maxLength:"255" doc:"Name of an assignable role."`
	ExpiresInDays int    `json:"expires_in_days,omitempty" minimum:"1" maximum:"30"`
}

func (b invitationBody) invitation() NewInvitation {
	return NewInvitation{Email: b.Email, Role: b.Role, Days: b.ExpiresInDays}
}

// CheckInvite is the check that rest.Checks runs for Invite.
func (h *HTTP) CheckInvite(ctx context.Context, in *inviteInput) error {
	return h.svc.checkRoleName(ctx, authz.TenantID(ctx), in.Body.Role)
}

// Invite handles POST /invitations.
func (h *HTTP) Invite(ctx context.Context, in *inviteInput) (*rest.Data[TeamInvitation], error) {
	i, err := h.svc.Invite(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), in.Body.invitation())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(teamInvitation(i), "team.invitation_sent"), nil
}

type invitationInput struct {
	Invitation string `path:"invitation" format:"uuid"`
}

// RevokeInvitation handles DELETE /invitations/{invitation}.
func (h *HTTP) RevokeInvitation(ctx context.Context, in *invitationInput) (*rest.Body[rest.Note], error) {
	id, err := shape.ParseID(in.Invitation)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Revoke(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id); err != nil {
		return nil, err
	}
	return rest.Message("team.invitation_revoked"), nil
}

// ResendInvitation handles POST /invitations/{invitation}/resend.
func (h *HTTP) ResendInvitation(ctx context.Context, in *invitationInput) (*rest.Data[TeamInvitation], error) {
	id, err := shape.ParseID(in.Invitation)
	if err != nil {
		return nil, err
	}
	i, err := h.svc.Resend(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(teamInvitation(i), "team.invitation_resent"), nil
}

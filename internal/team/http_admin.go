package team

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// The handlers for platform admins, who can manage the team of any tenant. They have every
// permission that a role can hold. Otherwise the same rules apply as for members (rules:
// team#platform-administrators).

// AdminTenantExists rejects a path whose tenant does not exist, before anything else is checked.
func (h *HTTP) AdminTenantExists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("tenant"))
	if err != nil {
		return err
	}
	_, err = h.svc.deps.Tenants.GetLive(ctx, id)
	return err
}

// AdminMemberExists rejects a path whose user is not in the tenant.
func (h *HTTP) AdminMemberExists(ctx context.Context, param func(string) string) error {
	tenantID, userID, err := memberIDs(param("tenant"), param("user"))
	if err != nil {
		return err
	}
	_, err = h.svc.Member(ctx, tenantID, userID)
	return err
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

type adminMembersInput struct {
	adminTenantInput
	membersInput
}

// AdminMembers handles GET /admin/tenants/{tenant}/members.
func (h *HTTP) AdminMembers(ctx context.Context, in *adminMembersInput) (*rest.Body[page.Part[TeamMember]], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.members(ctx, id, h.admin+id.String()+"/members", h.memberWithFactor)
}

type adminMemberInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	User   string `path:"user"`
}

// memberIDs parses the IDs of a tenant and a user in a path.
func memberIDs(tenant, user string) (tenantID uuid.UUID, userID int64, err error) {
	if tenantID, err = shape.ParseID(tenant); err != nil {
		return uuid.Nil, 0, err
	}
	userID, err = shape.IntID(user)
	return tenantID, userID, err
}

type adminProfileInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	User   string `path:"user"`
	Body   struct {
		Name     *string `json:"name,omitempty" format:"name" minLength:"1" maxLength:"255"`
		Password *string `json:"password,omitempty" format:"password" minLength:"8" maxLength:"1024"`
	}
}

// AdminUpdateMember handles PATCH /admin/tenants/{tenant}/members/{user}.
func (h *HTTP) AdminUpdateMember(ctx context.Context, in *adminProfileInput) (*rest.Data[TeamMember], error) {
	tenantID, userID, err := memberIDs(in.Tenant, in.User)
	if err != nil {
		return nil, err
	}
	m, err := h.svc.UpdateProfile(ctx, tenantID, userID, Profile{Name: in.Body.Name, Password: in.Body.Password})
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(h.memberWithFactor(m), "team.member_updated"), nil
}

// CheckAdminUpdateMember is the check that rest.Checks runs for AdminUpdateMember.
func (h *HTTP) CheckAdminUpdateMember(_ context.Context, in *adminProfileInput) error {
	if in.Body.Password == nil {
		return nil
	}
	return account.CheckNewPassword(*in.Body.Password)
}

// AdminResetFactors handles DELETE /admin/tenants/{tenant}/members/{user}/factors.
func (h *HTTP) AdminResetFactors(ctx context.Context, in *adminMemberInput) (*rest.NoBody, error) {
	tenantID, userID, err := memberIDs(in.Tenant, in.User)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.ResetFactors(ctx, tenantID, userID)
}

type adminTransferInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Body   struct {
		UserID int64 `json:"user_id" doc:"User ID of the new owner, who must be a member."`
	}
}

// AdminTransfer handles POST /admin/tenants/{tenant}/transfer-ownership.
func (h *HTTP) AdminTransfer(ctx context.Context, in *adminTransferInput) (*rest.Data[Ownership], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	owner, err := h.svc.TransferByPlatform(ctx, id, in.Body.UserID)
	if err != nil {
		return nil, err
	}
	return rest.OK(Ownership{Owner: owner}), nil
}

type adminRoleInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	User   string `path:"user"`
	Body   memberRole
}

// AdminChangeRole handles PATCH /admin/tenants/{tenant}/members/{user}/role.
func (h *HTTP) AdminChangeRole(ctx context.Context, in *adminRoleInput) (*rest.Body[rest.Note], error) {
	tenantID, userID, err := memberIDs(in.Tenant, in.User)
	if err != nil {
		return nil, err
	}
	if err := h.svc.ChangeRole(ctx, PlatformActor(authz.FromContext(ctx)), tenantID, userID, in.Body.RoleID); err != nil {
		return nil, err
	}
	return rest.Message("team.role_changed"), nil
}

// AdminRemoveMember handles DELETE /admin/tenants/{tenant}/members/{user}.
func (h *HTTP) AdminRemoveMember(ctx context.Context, in *adminMemberInput) (*rest.Body[rest.Note], error) {
	tenantID, userID, err := memberIDs(in.Tenant, in.User)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Remove(ctx, PlatformActor(authz.FromContext(ctx)), tenantID, userID); err != nil {
		return nil, err
	}
	return rest.Message("team.member_removed"), nil
}

type adminInvitationsInput struct {
	Tenant      string `path:"tenant" format:"uuid"`
	PendingOnly bool   `query:"pending_only" doc:"Return only invitations that can be accepted."`
}

// AdminInvitations handles GET /admin/tenants/{tenant}/invitations.
func (h *HTTP) AdminInvitations(ctx context.Context, in *adminInvitationsInput) (*rest.Body[page.Part[TeamInvitation]], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.invitations(ctx, id, in.PendingOnly, h.admin+id.String()+"/invitations")
}

type adminInviteInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Body   invitationBody
}

// AdminInvite handles POST /admin/tenants/{tenant}/invitations.
func (h *HTTP) AdminInvite(ctx context.Context, in *adminInviteInput) (*rest.Data[TeamInvitation], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	i, err := h.svc.Invite(ctx, PlatformActor(authz.FromContext(ctx)), id, in.Body.invitation())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(teamInvitation(i), "team.invitation_sent"), nil
}

// CheckAdminInvite is the check that rest.Checks runs for AdminInvite.
func (h *HTTP) CheckAdminInvite(ctx context.Context, in *adminInviteInput) error {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return err
	}
	return h.svc.checkRoleName(ctx, id, in.Body.Role)
}

type adminInvitationInput struct {
	Tenant     string `path:"tenant" format:"uuid"`
	Invitation string `path:"invitation" format:"uuid"`
}

func (in *adminInvitationInput) ids() (tenantID, id uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(in.Tenant); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err = shape.ParseID(in.Invitation)
	return tenantID, id, err
}

// AdminRevokeInvitation handles DELETE /admin/tenants/{tenant}/invitations/{invitation}.
func (h *HTTP) AdminRevokeInvitation(ctx context.Context, in *adminInvitationInput) (*rest.Body[rest.Note], error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	if err := h.svc.Revoke(ctx, PlatformActor(authz.FromContext(ctx)), tenantID, id); err != nil {
		return nil, err
	}
	return rest.Message("team.invitation_revoked"), nil
}

// AdminResendInvitation handles POST /admin/tenants/{tenant}/invitations/{invitation}/resend.
func (h *HTTP) AdminResendInvitation(ctx context.Context, in *adminInvitationInput) (*rest.Data[TeamInvitation], error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	i, err := h.svc.Resend(ctx, PlatformActor(authz.FromContext(ctx)), tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(teamInvitation(i), "team.invitation_resent"), nil
}

package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
)

// teamRoutes returns the routes of teams: members, invitations and roles.
func (svc *service) teamRoutes(members *team.HTTP) []rest.Route {
	var (
		invitee  = rest.Exists(members.InvitationKnown)
		inTenant = rest.Exists(members.AdminTenantExists)
		inTeam   = rest.Exists(members.AdminMemberExists)
		ownRole  = rest.Exists(members.RoleEditable)
		created  = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		allowAPIKeys(authz.TeamRead, route(get, tenantPath+"/team/members", rest.Tenant, "", "default", "List members", rest.Handle(members.Members, rest.Lists(page.Spec{})))),
		allowAPIKeys(authz.TeamRead, route(get, tenantPath+"/team/roles", rest.Tenant, "", "default", "List assignable roles", rest.Handle(members.AssignableRoles))),
		allowAPIKeys(authz.TeamRead, route(get, tenantPath+"/team/stats", rest.Tenant, "", "default", "Retrieve team statistics", rest.Handle(members.Stats))),
		route(patch, tenantPath+"/team/members/{member}/role", rest.Tenant, authz.TeamManage, "default", "Change a member's role", rest.Handle(members.ChangeRole, rest.Exists(members.MemberExists))),
		route(del, tenantPath+"/team/members/{member}", rest.Tenant, authz.TeamManage, "default", "Remove a member", rest.Handle(members.RemoveMember)),
		allowAPIKeys(authz.TeamRead, route(get, tenantPath+"/team/invitations", rest.Tenant, "", "default", "List invitations", rest.Handle(members.Invitations, rest.Lists(page.Spec{})))),
		requireVerifiedEmail(route(post, tenantPath+"/team/invitations", rest.Tenant, "", "inviting", "Invite a member", rest.Handle(members.Invite, created, rest.Exists(members.MayInvite), rest.Checks(members.CheckInvite)))),
		route(del, tenantPath+"/team/invitations/{invitation}", rest.Tenant, authz.TeamInvite, "default", "Revoke an invitation", rest.Handle(members.RevokeInvitation)),
		requireVerifiedEmail(route(post, tenantPath+"/team/invitations/{invitation}/resend", rest.Tenant, authz.TeamInvite, "inviting", "Resend an invitation", rest.Handle(members.ResendInvitation))),
		allowAPIKeys(authz.TenantsWrite, route(get, tenantPath+"/roles", rest.Tenant, authz.RolesManage, "default", "List roles", rest.Handle(members.Roles))),
		allowAPIKeys(authz.TenantsWrite, route(get, tenantPath+"/roles/permissions", rest.Tenant, authz.RolesManage, "default", "List permissions", rest.Handle(members.Permissions))),
		allowAPIKeys(authz.TenantsWrite, route(post, tenantPath+"/roles", rest.Tenant, authz.RolesManage, "default", "Create a role", rest.Handle(members.CreateRole, created, rest.Checks(members.CheckCreateRole)))),
		allowAPIKeys(authz.TenantsWrite, route(patch, tenantPath+"/roles/{role}", rest.Tenant, authz.RolesManage, "default", "Update a role", rest.Handle(members.UpdateRole, ownRole, rest.Checks(members.CheckUpdateRole)))),
		allowAPIKeys(authz.TenantsWrite, route(del, tenantPath+"/roles/{role}", rest.Tenant, authz.RolesManage, "default", "Delete a role", rest.Handle(members.DeleteRole))),
		route(get, "/api/v1/invitations/{token}", rest.Public, "", "invitations", "Retrieve an invitation", rest.Handle(members.ShowInvitation)),
		route(post, "/api/v1/invitations/{token}/accept", rest.User, "", "invitations", "Accept an invitation", rest.Handle(members.Accept)),
		route(post, "/api/v1/invitations/{token}/accept-with-registration", rest.Public, "", "invitations", "Register and accept an invitation", rest.Handle(members.AcceptAndRegister, created, invitee, rest.Checks(members.CheckAcceptAndRegister))),

		allowAPIKeys(authz.TenantsRead, route(get, adminTenantPath+"/members", rest.Admin, authz.TenantsView, "default", "List a tenant's members", rest.Handle(members.AdminMembers, inTenant, rest.Lists(page.Spec{})))),
		allowAPIKeys(authz.TenantsWrite, route(patch, adminTenantPath+"/members/{user}", rest.Admin, authz.TenantsManage+"|"+authz.UsersPassword, "default", "Update a member", rest.Handle(members.AdminUpdateMember, inTeam, rest.Checks(members.CheckAdminUpdateMember)))),
		route(del, adminTenantPath+"/members/{user}/factors", rest.Admin, authz.UsersPassword, "default", "Reset a member's second factors", rest.Handle(members.AdminResetFactors, inTeam)),
		route(post, adminTenantPath+"/transfer-ownership", rest.Admin, authz.TenantsManage, "default", "Transfer the ownership of a tenant", rest.Handle(members.AdminTransfer, inTenant)),
		allowAPIKeys(authz.TenantsWrite, route(patch, adminTenantPath+"/members/{user}/role", rest.Admin, authz.TenantsManage, "default", "Change a member's role", rest.Handle(members.AdminChangeRole, inTeam))),
		allowAPIKeys(authz.TenantsWrite, route(del, adminTenantPath+"/members/{user}", rest.Admin, authz.TenantsManage, "default", "Remove a member", rest.Handle(members.AdminRemoveMember))),
		allowAPIKeys(authz.TenantsRead, route(get, adminTenantPath+"/invitations", rest.Admin, authz.TenantsView, "default", "List a tenant's invitations", rest.Handle(members.AdminInvitations, inTenant, rest.Lists(page.Spec{})))),
		allowAPIKeys(authz.TenantsWrite, route(post, adminTenantPath+"/invitations", rest.Admin, authz.TenantsManage, "inviting", "Invite a member to a tenant", rest.Handle(members.AdminInvite, created, inTenant, rest.Checks(members.CheckAdminInvite)))),
		allowAPIKeys(authz.TenantsWrite, route(del, adminTenantPath+"/invitations/{invitation}", rest.Admin, authz.TenantsManage, "default", "Revoke an invitation", rest.Handle(members.AdminRevokeInvitation))),
		allowAPIKeys(authz.TenantsWrite, route(post, adminTenantPath+"/invitations/{invitation}/resend", rest.Admin, authz.TenantsManage, "inviting", "Resend an invitation", rest.Handle(members.AdminResendInvitation))),
	}
}

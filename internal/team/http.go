package team

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Avatars returns the URLs of users' avatars.
type Avatars interface {
	// URL returns the full URL of an avatar by its hash, or nil for nil.
	URL(hash *string) *string
}

// HTTP has the handlers for teams.
type HTTP struct {
	svc      *Service
	accounts Sessions
	// tenants and admin are absolute URL prefixes of a tenant, for pagination links.
	tenants, admin string
}

// NewHTTP returns the handlers. publicURL is the base of pagination links and has no trailing
// slash.
func NewHTTP(svc *Service, accounts Sessions, publicURL string) *HTTP {
	return &HTTP{
		svc: svc, accounts: accounts,
		tenants: publicURL + "/api/v1/tenant/", admin: publicURL + "/api/v1/admin/tenants/",
	}
}

// teamRole is a role of a member.
type teamRole struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// TeamMember is the team member resource.
type TeamMember struct {
	ID       int64       `json:"id"`
	Name     string      `json:"name"`
	Email    string      `json:"email"`
	Avatar   *string     `json:"avatar"`
	Role     teamRole    `json:"role"`
	JoinedAt *shape.Time `json:"joined_at"`
	// MFAEnabled is nil for callers who may not see it.
	MFAEnabled *bool `json:"mfa_enabled" doc:"Whether the member has a second factor. Null for callers without the permission team.manage, and for API keys of the tenant."`
}

func (h *HTTP) member(m Member) TeamMember { return teamMember(h.svc.deps.Avatars, m) }

// memberWithFactor is member for callers who may see whether the member has a second factor.
func (h *HTTP) memberWithFactor(m Member) TeamMember {
	v := h.member(m)
	v.MFAEnabled = &m.HasFactor
	return v
}

func teamMember(avatars Avatars, m Member) TeamMember {
	return TeamMember{
		ID: m.UserID, Name: m.Name, Email: m.Email, Avatar: avatars.URL(m.AvatarHash),
		Role: teamRole{ID: m.RoleID, Name: m.Role}, JoinedAt: shape.TP(&m.JoinedAt),
	}
}

// viewAll converts a list of items to views.
func viewAll[T, V any](items []T, show func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = show(item)
	}
	return views
}

type membersInput struct {
	Search string `query:"search" doc:"Words of the name or email, at least two characters. Each word must be the beginning of a word, without regard to case and accents. The response is then a page."`
}

// Members handles GET /members.
func (h *HTTP) Members(ctx context.Context, _ *membersInput) (*rest.Body[page.Part[TeamMember]], error) {
	id := authz.TenantID(ctx)
	show := h.member
	if caller := authz.FromContext(ctx); caller.Key == nil && caller.Can(authz.TeamManage) {
		show = h.memberWithFactor
	}
	return h.members(ctx, id, h.tenants+id.String()+"/team/members", show)
}

// members returns the response with a tenant's members. address is the URL for pagination links, and
// show creates the view of a member.
func (h *HTTP) members(ctx context.Context, tenantID uuid.UUID, address string, show func(Member) TeamMember) (*rest.Body[page.Part[TeamMember]], error) {
	q, err := page.ParseSearchedPart(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	if q.IsWhole() {
		return rest.StreamList(ctx, viewParts(h.svc.Members(tenantID), show))
	}
	members, total, err := h.svc.MembersOnPage(ctx, tenantID, q)
	if err != nil {
		return nil, err
	}
	return rest.ListPage(page.New(q, address, viewAll(members, show), total))
}

// viewParts converts the batches of next to views.
func viewParts[T, V any](next page.NextPart[T], show func(T) V) page.NextPart[V] {
	return func(ctx context.Context) ([]V, bool, error) {
		part, more, err := next(ctx)
		return viewAll(part, show), more, err
	}
}

// AssignableRoles handles GET /team/roles.
func (h *HTTP) AssignableRoles(ctx context.Context, _ *struct{}) (*rest.Data[[]teamRole], error) {
	roles, err := h.svc.AssignableRoles(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(viewAll(roles, func(r Role) teamRole { return teamRole{ID: r.ID, Name: r.Name} })), nil
}

// teamStats is the response of GET /stats.
type teamStats struct {
	Members            int64  `json:"members"`
	PendingInvitations int64  `json:"pending_invitations"`
	Total              int64  `json:"total"`
	Limit              *int64 `json:"limit" doc:"Quota of the feature team-members. Null if unlimited."`
	Available          *int64 `json:"available" doc:"Number of free seats. Negative if the team is larger than the plan allows. Null if unlimited."`
}

// Stats handles GET /stats.
func (h *HTTP) Stats(ctx context.Context, _ *struct{}) (*rest.Data[teamStats], error) {
	s, err := h.svc.Seats(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(teamStats{
		Members: s.Members, PendingInvitations: s.Invitations, Total: s.Total(), Limit: s.Limit, Available: s.Available(),
	}), nil
}

// MemberExists rejects a path whose user is not a member, before the body is validated.
func (h *HTTP) MemberExists(ctx context.Context, param func(string) string) error {
	id, err := shape.IntID(param("member"))
	if err != nil {
		return err
	}
	_, err = h.svc.Member(ctx, authz.TenantID(ctx), id)
	return err
}

type memberRoleInput struct {
	Member string `path:"member"`
	Body   memberRole
}

type memberRole struct {
	RoleID int64 `json:"role_id"`
}

// ChangeRole handles PATCH /members/{member}/role.
func (h *HTTP) ChangeRole(ctx context.Context, in *memberRoleInput) (*rest.Body[rest.Note], error) {
	id, err := shape.IntID(in.Member)
	if err != nil {
		return nil, err
	}
	if err := h.svc.ChangeRole(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id, in.Body.RoleID); err != nil {
		return nil, err
	}
	return rest.Message("team.role_changed"), nil
}

type memberInput struct {
	Member string `path:"member"`
}

// RemoveMember handles DELETE /members/{member}.
func (h *HTTP) RemoveMember(ctx context.Context, in *memberInput) (*rest.Body[rest.Note], error) {
	id, err := shape.IntID(in.Member)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Remove(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id); err != nil {
		return nil, err
	}
	return rest.Message("team.member_removed"), nil
}

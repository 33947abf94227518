package directory

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminUser is a user in the list of users.
type AdminUser struct {
	ID              int64            `json:"id"`
	Name            string           `json:"name"`
	Email           string           `json:"email"`
	EmailVerified   bool             `json:"email_verified"`
	IsPlatformAdmin bool             `json:"is_platform_admin"`
	Permissions     *[]string        `json:"permissions" doc:"Permissions of a platform admin. Null for other users."`
	MFAEnabled      bool             `json:"mfa_enabled" doc:"Whether the user has a second factor."`
	Tenant          *AdminUserTenant `json:"tenant" doc:"Tenant of the user. Null without one."`
	LastLoginAt     *shape.Time      `json:"last_login_at" doc:"Time of the last login, in UTC. Null before the first one."`
	CreatedAt       shape.Time       `json:"created_at"`
}

// AdminUserTenant is the tenant of a user in the list of users.
type AdminUserTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Role string    `json:"role"`
}

// HTTP has the handler of the list.
type HTTP struct {
	store     store
	publicURL string
}

// NewHTTP returns the handler. publicURL is the service's public base URL, without a trailing slash.
func NewHTTP(db *sqldb.DB, publicURL string) *HTTP { return &HTTP{store{db}, publicURL} }

// List handles GET /admin/users.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[AdminUser]], error) {
	q, err := UserList(i18n.Locale(ctx)).Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	return sheet.Page(ctx, sheet.List[AdminUser]{Name: "users", Read: h.read}, q, h.publicURL+"/api/v1/admin/users")
}

func (h *HTTP) read(ctx context.Context, q page.Query) ([]AdminUser, int64, error) {
	users, total, err := h.store.page(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	views := make([]AdminUser, len(users))
	for i, u := range users {
		v := AdminUser{
			ID: u.id, Name: u.name, Email: u.email, EmailVerified: u.isVerified, IsPlatformAdmin: u.isAdmin, MFAEnabled: u.hasFactor,
			LastLoginAt: shape.TP(u.lastLoginAt), CreatedAt: shape.T(u.createdAt),
		}
		if v.Permissions, err = u.permissionsOf(); err != nil {
			return nil, 0, err
		}
		if u.tenantID != nil {
			v.Tenant = &AdminUserTenant{ID: *u.tenantID, Name: u.tenantName, Role: u.role}
		}
		views[i] = v
	}
	return views, total, nil
}

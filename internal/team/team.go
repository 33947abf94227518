// Package team has who works in a tenant: its members, roles and invitations, and
// the seats that they take (spec: Team member, Role, Invitation).
//
// Invariant: members plus pending invitations never outgrow the seats of the
// tenant's plan by what happens here. Whatever takes a seat, and whatever changes
// a role or who holds it, first locks the tenant and then judges and writes in
// the same transaction.
package team

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/authz"
)

// The built-in roles (spec: Enumerations).
const (
	Owner = "owner"
	Admin = "admin"
	Plain = "member" // what a member is by default
)

// guardName is what every role says of itself (spec: Role).
const guardName = "web"

// Member is a user in a tenant.
type Member struct {
	UserID     int64
	Name       string
	Email      string
	AvatarHash *string // nil without a picture
	RoleID     int64
	Role       string // its name
	JoinedAt   time.Time
}

// Role is a built-in role, or one of a tenant's own.
type Role struct {
	ID          int64
	TenantID    *uuid.UUID // nil for a built-in role
	Name        string
	Permissions []string // sorted
	Users       int64    // members of the tenant who hold it
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// BuiltIn tells whether every tenant has the role.
func (r Role) BuiltIn() bool { return r.TenantID == nil }

// Actor is who changes a team.
type Actor struct {
	UserID int64
	// permissions are what the actor may hand on.
	permissions []string
}

// MemberActor is a member, who can give others what their own role holds.
func MemberActor(c *authz.Caller) Actor {
	a := Actor{UserID: c.UserID}
	if c.Tenant != nil {
		a.permissions = c.Tenant.Permissions
	}
	return a
}

// PlatformActor is a platform administrator, who can give everything.
func PlatformActor(c *authz.Caller) Actor {
	return Actor{UserID: c.UserID, permissions: authz.TenantPermissions()}
}

// holds tells whether the actor has every one of some permissions.
func (a Actor) holds(permissions []string) bool {
	for _, p := range permissions {
		if !slices.Contains(a.permissions, p) {
			return false
		}
	}
	return true
}

// nameKey is the form in which names are compared without regard to case, in any
// script: "STRASSE" is "Straße". Lower case comes first because folding alone
// takes the two cases of Cherokee for each other instead of making them one.
func nameKey(name string) string {
	return cases.Fold().String(strings.ToLower(norm.NFKC.String(name)))
}

// isBuiltInName tells whether a custom role would be taken for a built-in one.
func isBuiltInName(key string) bool { return key == Owner || key == Admin || key == Plain }

// rank orders roles: owner, admin, a tenant's own, member.
func rank(role string) int {
	switch role {
	case Owner:
		return 0
	case Admin:
		return 1
	case Plain:
		return 3
	default:
		return 2
	}
}

// sortMembers orders by role, then by name without regard to case, then by id.
func sortMembers(members []Member) {
	keys := make(map[int64]string, len(members))
	for _, m := range members {
		keys[m.UserID] = nameKey(m.Name)
	}
	slices.SortFunc(members, func(a, b Member) int {
		return cmp.Or(
			cmp.Compare(rank(a.Role), rank(b.Role)),
			cmp.Compare(keys[a.UserID], keys[b.UserID]),
			cmp.Compare(a.UserID, b.UserID),
		)
	})
}

// sortRoles puts the built-in roles first, and then a tenant's own by name.
func sortRoles(roles []Role) {
	slices.SortFunc(roles, func(a, b Role) int {
		switch {
		case a.BuiltIn() && b.BuiltIn():
			return cmp.Compare(rank(a.Name), rank(b.Name))
		case a.BuiltIn():
			return -1
		case b.BuiltIn():
			return 1
		}
		return cmp.Compare(nameKey(a.Name), nameKey(b.Name))
	})
}

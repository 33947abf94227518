// Package team manages the members, roles and invitations of tenants, and the seats that they take
// (rules: team#members).
//
// Invariant: no operation in this package makes the number of members plus pending invitations
// exceed the seats of the tenant's plan. Every operation that takes a seat, or that changes a role
// or its holders, first locks the tenant, and then checks and writes in the same transaction.
package team

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
)

// The built-in roles (rules: team#roles).
const (
	Owner      = "owner"
	Admin      = "admin"
	MemberRole = "member" // the default role of a member
)

// guardName is a constant field of the role resource.
const guardName = "web"

// Member is a user in a tenant.
type Member struct {
	UserID     int64
	Name       string
	Email      string
	AvatarHash *string // nil without an avatar
	HasFactor  bool    // a second factor
	RoleID     int64
	Role       string // name of the role
	JoinedAt   time.Time
}

// Role is a built-in role or a custom role of a tenant.
type Role struct {
	ID          int64
	TenantID    *uuid.UUID // nil for a built-in role
	Name        string
	Permissions []string // sorted
	Users       int64    // number of members of the tenant with the role
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// BuiltIn reports whether the role is built in, so that every tenant has it.
func (r Role) BuiltIn() bool { return r.TenantID == nil }

// Actor is the user or platform key that changes a team.
type Actor struct {
	UserID int64 // 0 for a platform key
	// permissions returns the permissions that the actor can grant. Under the tenant's lock, they
	// are current.
	permissions func() []string
}

// MemberActor returns the actor for a member, who can grant the permissions of their own role. For
// a platform key, it returns a platform actor.
func MemberActor(c *authz.Caller) Actor {
	if c.Key != nil && c.Key.Platform {
		return PlatformActor(c)
	}
	return Actor{UserID: c.UserID, permissions: func() []string {
		if c.Tenant == nil {
			return nil
		}
		return c.Tenant.Permissions
	}}
}

// PlatformActor returns the actor for a platform admin or a platform key. It can grant every
// permission.
func PlatformActor(c *authz.Caller) Actor {
	return Actor{UserID: c.UserID, permissions: authz.TenantPermissions}
}

// hasPermissions reports whether the actor has all of the permissions.
func (a Actor) hasPermissions(permissions []string) bool {
	held := a.permissions()
	for _, p := range permissions {
		if !slices.Contains(held, p) {
			return false
		}
	}
	return true
}

// nameKey returns the form in which names are compared, ignoring case in any script: "STRASSE"
// equals "Straße". It converts to lower case first, because case folding alone swaps the two cases
// of Cherokee instead of unifying them, and normalizes again because folding can decompose
// characters. Invisible characters are ignored (as in Unicode's NFKC_Casefold), and a run of spaces
// counts as one space, as browsers show it.
func nameKey(name string) string {
	if isASCII(name) { // for ASCII, folding equals lower case
		return collapseSpaces(strings.ToLower(name))
	}
	return collapseSpaces(foldedKey(name))
}

// collapseSpaces replaces each run of spaces by one space.
func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// foldedKey is nameKey for any name, without collapsing spaces.
func foldedKey(name string) string {
	visible := strings.Map(func(c rune) rune {
		if unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return c
	}, norm.NFKC.String(name))
	return norm.NFKC.String(cases.Fold().String(strings.ToLower(visible)))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isBuiltInName reports whether a key returned by nameKey is the name of a built-in role.
func isBuiltInName(key string) bool { return key == Owner || key == Admin || key == MemberRole }

// rank returns the position of a role in lists: owner, admin, custom roles, member.
func rank(role string) int {
	switch role {
	case Owner:
		return 0
	case Admin:
		return 1
	case MemberRole:
		return 3
	default:
		return 2
	}
}

// sortKey is the position of a member in lists: by role, then by name in the collation of the
// reader's language, then by ID.
type sortKey struct {
	rank int
	key  []byte
	id   int64
}

func newSortKey(names *i18n.Collator, userID int64, name, role string) sortKey {
	return sortKey{rank: rank(role), key: names.Key(name), id: userID}
}

func (p sortKey) compare(other sortKey) int {
	return cmp.Or(cmp.Compare(p.rank, other.rank), bytes.Compare(p.key, other.key), cmp.Compare(p.id, other.id))
}

// sortMembers sorts members in list order for a locale.
func sortMembers(members []Member, locale string) {
	names := i18n.NewCollator(locale)
	places := make(map[int64]sortKey, len(members))
	for _, m := range members {
		places[m.UserID] = newSortKey(names, m.UserID, m.Name, m.Role)
	}
	slices.SortFunc(members, func(a, b Member) int { return places[a.UserID].compare(places[b.UserID]) })
}

// sortRoles sorts the built-in roles first, then the custom roles by name in the collation of a
// locale.
func sortRoles(roles []Role, locale string) {
	names := i18n.NewCollator(locale)
	slices.SortFunc(roles, func(a, b Role) int {
		switch {
		case a.BuiltIn() && b.BuiltIn():
			return cmp.Compare(rank(a.Name), rank(b.Name))
		case a.BuiltIn():
			return -1
		case b.BuiltIn():
			return 1
		}
		return cmp.Or(bytes.Compare(names.Key(a.Name), names.Key(b.Name)), cmp.Compare(a.ID, b.ID))
	})
}

// Package team has the people of a tenant: its members, roles and invitations, and the
// seats that they take (rules: team#members).
//
// Invariant: nothing here makes members plus pending invitations exceed the seats of
// the tenant's plan. Whatever takes a seat, and whatever changes a role or who has it,
// first locks the tenant and then checks and writes in the same transaction.
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
	MemberRole = "member" // what a member is by default
)

// guardName is a field of the role resource that is the same for every role.
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

// BuiltIn reports whether the role is one that every tenant has.
func (r Role) BuiltIn() bool { return r.TenantID == nil }

// Actor is who changes a team.
type Actor struct {
	UserID int64
	// permissions returns those that the actor may give to others. Under the tenant's lock they
	// are the current ones.
	permissions func() []string
}

// MemberActor returns a member as actor, who can give others the permissions of their
// own role.
func MemberActor(c *authz.Caller) Actor {
	return Actor{UserID: c.UserID, permissions: func() []string {
		if c.Tenant == nil {
			return nil
		}
		return c.Tenant.Permissions
	}}
}

// PlatformActor returns a platform administrator as actor, who can give every
// permission.
func PlatformActor(c *authz.Caller) Actor {
	return Actor{UserID: c.UserID, permissions: authz.TenantPermissions}
}

// hasPermissions reports whether the actor has all of some permissions.
func (a Actor) hasPermissions(permissions []string) bool {
	held := a.permissions()
	for _, p := range permissions {
		if !slices.Contains(held, p) {
			return false
		}
	}
	return true
}

// nameKey returns the form in which names are compared without regard to case, in any
// script: "STRASSE" equals "Straße". It converts to lower case first because case
// folding alone swaps the two cases of Cherokee instead of making them equal, and
// normalizes again what folding has taken apart. Invisible characters do not count (as in
// Unicode's NFKC_Casefold), and a run of spaces counts as one space, as browsers show it.
func nameKey(name string) string {
	if isASCII(name) { // folding is the same as lower case
		return collapseSpaces(strings.ToLower(name))
	}
	return collapseSpaces(foldedKey(name))
}

// collapseSpaces returns a text with one space for each run of spaces.
func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// foldedKey is nameKey for any name, with its spaces.
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

// isBuiltInName reports whether a name, as nameKey returns it, is that of a built-in
// role.
func isBuiltInName(key string) bool { return key == Owner || key == Admin || key == MemberRole }

// rank is the place of a role in lists: owner, admin, a tenant's own, member.
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

// sortKey is the place of a member in lists: by the role, then by the name in the order of the
// reader's language, then by the id.
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

// sortMembers sorts members as lists show them to a reader of a locale.
func sortMembers(members []Member, locale string) {
	names := i18n.NewCollator(locale)
	places := make(map[int64]sortKey, len(members))
	for _, m := range members {
		places[m.UserID] = newSortKey(names, m.UserID, m.Name, m.Role)
	}
	slices.SortFunc(members, func(a, b Member) int { return places[a.UserID].compare(places[b.UserID]) })
}

// sortRoles sorts the built-in roles first and then a tenant's own by name, in the order of
// a locale.
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

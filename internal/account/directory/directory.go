// Package directory lists the users of all tenants for platform admins (rules:
// administration#lists-across-tenants).
package directory

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// user is an entry of the list.
type user struct {
	id          int64
	name, email string
	isVerified  bool
	isAdmin     bool
	permissions sqldb.JSON // of an admin; nil means all
	hasFactor   bool
	lastLoginAt *time.Time
	createdAt   time.Time

	tenantID   *uuid.UUID
	tenantName string
	role       string
}

// spanish is the only locale with a sort order of its own for names. The other locales share an
// order.
const spanish = "es"

// UserList returns the filters and the sort orders of the list for a locale.
func UserList(locale string) page.Spec {
	byName := "u.name_key"
	if locale == spanish {
		byName = "u.name_key_es"
	}
	return page.Spec{
		Filters: map[string]page.Filter{
			"search":         search.Users(),
			"email":          {Kind: page.ExactMatch, Exprs: []string{"u.email"}, Parse: parseEmail},
			"tenant":         {Kind: page.UUID, Condition: isMember},
			"mfa":            {Kind: page.Bool, Exprs: []string{"u.mfa_enabled"}},
			"without_tenant": {Kind: page.Bool, Condition: isWithoutTenant},
			"platform_admin": {Kind: page.Bool, Exprs: []string{"u.is_platform_admin"}},
		},
		Sorts:       map[string]string{"created_at": "u.created_at", "name": byName},
		DefaultSort: "-created_at",
		Tiebreak:    "u.id",
		CSV:         true,
	}
}

func parseEmail(text string) (address, message string) {
	address, err := mail.NormalizeAddress(text)
	if err != nil {
		return "", "validation.email"
	}
	return address, ""
}

func isMember(value any, arg func(any) string) string {
	return "u.id IN (SELECT m.user_id FROM memberships m WHERE m.tenant_id = " + arg(value) + ")"
}

func isWithoutTenant(value any, _ func(any) string) string {
	condition := "EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)"
	if value == true {
		return "NOT " + condition
	}
	return condition
}

// permissionsOf returns the permissions of a platform admin, or nil for other users.
func (u user) permissionsOf() (*[]string, error) {
	if !u.isAdmin {
		return nil, nil //nolint:nilnil // no permissions
	}
	list := authz.PlatformPermissions()
	if u.permissions == nil {
		return &list, nil
	}
	list = []string{}
	err := json.Unmarshal(u.permissions, &list)
	return &list, err
}

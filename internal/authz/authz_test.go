package authz_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// A tenant permission does not grant the platform permission of the same name, and vice versa.
func TestCan(t *testing.T) {
	t.Parallel()
	owner := authz.Caller{Tenant: &authz.Membership{Permissions: []string{authz.BillingManage}}, PlatformPermissions: []string{authz.RolesManage}}
	admin := authz.Caller{IsPlatformAdmin: true, PlatformPermissions: []string{authz.BillingManage}}
	for name, tt := range map[string]struct {
		got, want bool
	}{
		"a member's permission":                 {owner.Can(authz.BillingManage), true},
		"a permission that the role lacks":      {owner.Can(authz.TeamManage), false},
		"a member on the platform":              {owner.CanOnPlatform(authz.BillingManage), false},
		"permissions left after the flag":       {owner.CanOnPlatform(authz.RolesManage), false},
		"an admin on the platform":              {admin.CanOnPlatform(authz.BillingManage), true},
		"an admin without that permission":      {admin.CanOnPlatform(authz.RolesManage), false},
		"an admin without a tenant":             {admin.Can(authz.BillingManage), false},
		"the empty permission is never granted": {owner.Can("") || admin.CanOnPlatform(""), false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %t", name, tt.got)
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	if c := authz.FromContext(t.Context()); c != nil {
		t.Errorf("%v", c)
	}
	caller := &authz.Caller{UserID: 5, Tenant: &authz.Membership{TenantID: uuid.Max}}
	ctx := authz.With(t.Context(), caller)
	if authz.FromContext(ctx) != caller || authz.TenantID(ctx) != uuid.Max {
		t.Errorf("%v", authz.FromContext(ctx))
	}
}

func TestPermissionLists(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{authz.TenantPermissions(), authz.PlatformPermissions()} {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("not sorted, or twice the same: %v", list)
		}
	}
	authz.TenantPermissions()[0] = "changed"
	if slices.Contains(authz.TenantPermissions(), "changed") {
		t.Error("the list can be changed from outside")
	}
}

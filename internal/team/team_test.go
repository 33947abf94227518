package team

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/authz"
)

func TestNameKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Editor", "EDITOR", "eDiToR"},
		{"Straße", "STRASSE", "strasse"},
		{"Σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"é", "e\u0301", "É"}, // in one and in two code points
		{"owner", "ｏｗｎｅｒ"},    // full width
		{"Ꭰ", "ꭰ"},            // Cherokee
		{"finance", "ﬁnance", "ＦＩＮＡＮＣＥ"},
		{"admin", "ad\u200bmin", "admin\ufe0f", "a\u034fdmin"}, // nobody sees the difference
		{"\u01f0", "J\u030c"},                                  // folding takes it apart
	} {
		for _, other := range same[1:] {
			if nameKey(same[0]) != nameKey(other) {
				t.Errorf("%q and %q are two names", same[0], other)
			}
		}
	}
	for _, pair := range [][2]string{{"Editor", "Editors"}, {"e", "é"}, {"1", "2"}} {
		if nameKey(pair[0]) == nameKey(pair[1]) {
			t.Errorf("%q and %q are one name", pair[0], pair[1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		key := nameKey(rapid.String().Draw(t, "name"))
		if again := nameKey(key); again != key && nameKey(again) != again {
			t.Errorf("%q becomes %q", key, again)
		}
	})
}

func TestSortMembers(t *testing.T) {
	t.Parallel()
	members := []Member{
		{UserID: 1, Name: "a", Role: Plain},
		{UserID: 2, Name: "z", Role: Owner},
		{UserID: 3, Name: "b", Role: "Zookeeper"},
		{UserID: 4, Name: "c", Role: "Auditor"},
		{UserID: 6, Name: "ann", Role: Admin},
		{UserID: 5, Name: "Ann", Role: Admin},
		{UserID: 7, Name: "Aaron", Role: Admin},
		{UserID: 8, Name: "Émile", Role: Plain},
		{UserID: 9, Name: "éva", Role: Plain},
	}
	sortMembers(members)
	var order []int64
	for _, m := range members {
		order = append(order, m.UserID)
	}
	if diff := cmp.Diff([]int64{2, 7, 5, 6, 3, 4, 1, 8, 9}, order); diff != "" {
		t.Error(diff)
	}
}

func TestSortRoles(t *testing.T) {
	t.Parallel()
	own := uuid.New()
	roles := []Role{
		{Name: "b", TenantID: &own},
		{Name: Plain},
		{Name: "C", TenantID: &own},
		{Name: Admin},
		{Name: "A", TenantID: &own},
		{Name: Owner},
	}
	sortRoles(roles)
	var order []string
	for _, r := range roles {
		order = append(order, r.Name)
	}
	if diff := cmp.Diff([]string{Owner, Admin, Plain, "A", "b", "C"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestActors(t *testing.T) {
	t.Parallel()
	some := MemberActor(&authz.Caller{UserID: 1, Tenant: &authz.Membership{Permissions: []string{"a", "b"}}})
	for _, c := range []struct {
		actor Actor
		given []string
		want  bool
	}{
		{some, nil, true},
		{some, []string{"b", "a"}, true},
		{some, []string{"a", "c"}, false},
		{MemberActor(&authz.Caller{UserID: 1}), []string{"a"}, false},
		{PlatformActor(&authz.Caller{UserID: 1}), authz.TenantPermissions(), true},
	} {
		if got := c.actor.holds(c.given); got != c.want {
			t.Errorf("%v holds %v: %t", c.actor, c.given, got)
		}
	}
}

func TestInvitationAt(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		stored  Status
		passed  time.Duration
		status  Status
		expired bool
	}{
		{Pending, -time.Microsecond, Pending, false},
		{Pending, 0, Expired, true},
		{Pending, time.Hour, Expired, true},
		{Expired, time.Hour, Expired, true},
		{Accepted, -time.Hour, Accepted, false},
		{Accepted, time.Hour, Accepted, true},
		{Revoked, time.Hour, Revoked, true},
	} {
		i := Invitation{Status: c.stored, ExpiresAt: end}.at(end.Add(c.passed))
		if i.Status != c.status || i.IsExpired != c.expired || i.Valid() != (c.status == Pending) {
			t.Errorf("%s, %v after its end: %s, %t", c.stored, c.passed, i.Status, i.IsExpired)
		}
	}
}

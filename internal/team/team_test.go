package team

import (
	"errors"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
)

func TestNameKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Editor", "EDITOR", "eDiToR"},
		{"Straße", "STRASSE", "strasse"},
		{"Σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"é", "e\u0301", "É"}, // as one and as two code points
		{"owner", "ｏｗｎｅｒ"},    // full width
		{"Ꭰ", "ꭰ"},            // Cherokee
		{"finance", "ﬁnance", "ＦＩＮＡＮＣＥ"},
		{"admin", "ad\u200bmin", "admin\ufe0f", "a\u034fdmin"}, // visually identical
		{"\u01f0", "J\u030c"},                                  // decomposed by case folding
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
		{UserID: 1, Name: "a", Role: MemberRole},
		{UserID: 2, Name: "z", Role: Owner},
		{UserID: 3, Name: "b", Role: "Zookeeper"},
		{UserID: 4, Name: "c", Role: "Auditor"},
		{UserID: 6, Name: "ann", Role: Admin},
		{UserID: 5, Name: "Ann", Role: Admin},
		{UserID: 7, Name: "Aaron", Role: Admin},
		{UserID: 8, Name: "Émile", Role: MemberRole},
		{UserID: 9, Name: "éva", Role: MemberRole},
	}
	sortMembers(members, "en")
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
		{Name: MemberRole},
		{Name: "C", TenantID: &own},
		{Name: Admin},
		{Name: "A", TenantID: &own},
		{Name: Owner},
	}
	sortRoles(roles, "en")
	var order []string
	for _, r := range roles {
		order = append(order, r.Name)
	}
	if diff := cmp.Diff([]string{Owner, Admin, MemberRole, "A", "b", "C"}, order); diff != "" {
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
		if got := c.actor.hasPermissions(c.given); got != c.want {
			t.Errorf("%v has the permissions %v: %t", c.actor, c.given, got)
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
		{InvitationPending, -time.Microsecond, InvitationPending, false},
		{InvitationPending, 0, InvitationExpired, true},
		{InvitationPending, time.Hour, InvitationExpired, true},
		{InvitationExpired, time.Hour, InvitationExpired, true},
		{InvitationAccepted, -time.Hour, InvitationAccepted, false},
		{InvitationAccepted, time.Hour, InvitationAccepted, true},
		{InvitationRevoked, time.Hour, InvitationRevoked, true},
	} {
		i := Invitation{Status: c.stored, ExpiresAt: end}.withStatusAt(end.Add(c.passed))
		if i.Status != c.status || i.IsExpired != c.expired || i.Valid() != (c.status == InvitationPending) {
			t.Errorf("%s, %v after its end: %s, %t", c.stored, c.passed, i.Status, i.IsExpired)
		}
	}
}

func TestMailsAfter(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	own := uuid.New()
	at := func(tenant uuid.UUID, minutes ...int) []sentMail {
		var mails []sentMail
		for _, m := range minutes {
			mails = append(mails, sentMail{Tenant: tenant, At: start.Add(time.Duration(m) * time.Minute)})
		}
		return mails
	}
	for name, c := range map[string]struct {
		withNewToken []sentMail
		now          int           // minutes after the start
		wait         time.Duration // 0 means no wait
		kept         int           // mails returned, including the new one
	}{
		"the first":               {nil, 0, 0, 1},
		"the third":               {at(own, 0, 1), 2, 0, 3},
		"the fourth":              {at(own, 0, 10, 20), 30, 30 * time.Minute, 0},
		"just before an hour":     {at(own, 0, 10, 20), 59, time.Minute, 0},
		"an hour after the first": {at(own, 0, 10, 20), 60, 0, 3},
		"an hour after them all":  {at(own, 0, 10, 20), 80, 0, 1},
		"next to another tenant":  {append(at(uuid.New(), 0, 1, 2), at(own, 3, 4)...), 5, 0, 6},
		"the tenth of all":        {at(uuid.New(), 0, 1, 2, 3, 4, 5, 6, 7, 8), 9, 0, 10},
		"the eleventh of all":     {at(uuid.New(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 10, 50 * time.Minute, 0},
		"more than there may be":  {at(own, 0, 10, 20, 30), 40, 30 * time.Minute, 0},
	} {
		sent, err := addMail(c.withNewToken, own, start.Add(time.Duration(c.now)*time.Minute))
		var refusal *fault.Error
		if errors.As(err, &refusal) != (c.wait > 0) || refusal != nil && refusal.RetryAfter != c.wait || len(sent) != c.kept {
			t.Errorf("%s: %d mails, %v", name, len(sent), err)
		}
	}
}

// ASCII names, which are the most common, get the same key as with case folding.
func TestASCIIKeysEqualFoldedKeys(t *testing.T) {
	t.Parallel()
	for c := range byte(0x80) {
		if name := "a" + string(rune(c)) + "B"; nameKey(name) != collapseSpaces(foldedKey(name)) {
			t.Errorf("%q: %q, want %q", name, nameKey(name), collapseSpaces(foldedKey(name)))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}})).Draw(t, "name")
		if nameKey(name) != collapseSpaces(foldedKey(name)) {
			t.Errorf("%q: %q, want %q", name, nameKey(name), collapseSpaces(foldedKey(name)))
		}
	})
}

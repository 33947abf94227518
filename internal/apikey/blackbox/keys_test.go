package blackbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestMakingAndListingKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		keys := ada.Path("/api-keys")
		made := s.Call("POST", keys, ada.Token, apptest.Object{
			"name": " Metering ", "scopes": []string{"usage.write", "team.read", "usage.write"}, "expires_in_days": nil,
		}).Want(201)
		secret := made.Str("data.secret")
		if !secretForm.MatchString(secret) || made.Str("data.prefix") != secret[:12] {
			t.Errorf("%s", made.Text)
		}
		want := apptest.Object{
			"id": made.Str("data.id"), "name": "Metering", "prefix": secret[:12], "scopes": []any{"team.read", "usage.write"},
			"created_by": map[string]any{"id": float64(s.UserID(ada.Token)), "name": "Ada"}, "created_at": made.Str("data.created_at"),
			"last_used_at": nil, "expires_at": nil, "revoked_at": nil,
		}
		if diff := cmp.Diff(apptest.WithChanges(want, apptest.Object{"secret": secret}), made.At("data")); diff != "" {
			t.Error(diff)
		}
		second := s.Call("POST", keys, ada.Token, apptest.WithChanges(usageWrite, apptest.Object{"expires_in_days": 30})).Want(201)
		if got := second.TimeAt("data.expires_at").Sub(second.TimeAt("data.created_at")); got != 30*apptest.Day {
			t.Errorf("the key expires in %s", got)
		}
		list := s.Call("GET", keys, ada.Token, nil).Want(200)
		if got := list.Column("id"); len(got) != 2 || got[0] != second.Str("data.id") {
			t.Errorf("not the newest first: %s", list.Text)
		}
		if diff := cmp.Diff(want, list.At("data.1")); diff != "" || strings.Contains(list.Text, secret) {
			t.Errorf("%s%s", diff, list.Text)
		}
		// Only a hash is stored.
		for _, secret := range []string{secret, second.Str("data.secret")} {
			if n := s.CountRows(`SELECT count(*) FROM api_keys WHERE secret_hash = $1 OR name = $1`, secret); n != 0 {
				t.Error("the secret is stored")
			}
		}

		one := keys + "/" + made.Str("data.id")
		s.Call("PATCH", one, ada.Token, apptest.Object{"name": "Other"}).Want(200).WantAt("data.name", "Other").WantAt("data.id", made.Str("data.id"))
		s.Call("PATCH", one, ada.Token, apptest.Object{}).Want(200).WantAt("data.name", "Other")
		for what, name := range map[string]any{"null": nil, "empty": "", "long": strings.Repeat("x", 256), "number": 5} {
			s.Call("PATCH", one, ada.Token, apptest.Object{"name": name}).As(what).WantInvalid("name")
		}

		for what, tt := range map[string]struct {
			change apptest.Object
			field  string
		}{
			"no name":           {apptest.Object{"name": apptest.Absent}, "name"},
			"empty name":        {apptest.Object{"name": " "}, "name"},
			"long name":         {apptest.Object{"name": strings.Repeat("é", 256)}, "name"},
			"no scopes":         {apptest.Object{"scopes": apptest.Absent}, "scopes"},
			"empty scopes":      {apptest.Object{"scopes": []string{}}, "scopes"},
			"unknown scope":     {apptest.Object{"scopes": []string{"usage.write", "usage.all"}}, "scopes.1"},
			"platform's scope":  {apptest.Object{"scopes": []string{"tenants.read"}}, "scopes.0"},
			"scopes as a text":  {apptest.Object{"scopes": "usage.write"}, "scopes"},
			"no day":            {apptest.Object{"expires_in_days": 0}, "expires_in_days"},
			"too many days":     {apptest.Object{"expires_in_days": 3651}, "expires_in_days"},
			"a fraction of one": {apptest.Object{"expires_in_days": 1.5}, "expires_in_days"},
			"days as a text":    {apptest.Object{"expires_in_days": "30"}, "expires_in_days"},
		} {
			s.Call("POST", keys, ada.Token, apptest.WithChanges(usageWrite, tt.change)).As(what).WantInvalid(tt.field)
		}
		s.Call("POST", keys, ada.Token, apptest.WithChanges(usageWrite, apptest.Object{"name": strings.Repeat("é", 255), "expires_in_days": 3650})).Want(201)

		for _, id := range []string{apptest.NoSuchID, "x"} {
			s.Call("PATCH", keys+"/"+id, ada.Token, apptest.Object{"name": 5}).WantRefused(404, "")
			s.Call("POST", keys+"/"+id+"/rotate", ada.Token, apptest.Object{"overlap_minutes": -1}).WantRefused(404, "")
			s.Call("DELETE", keys+"/"+id, ada.Token, nil).WantRefused(404, "")
		}
	})
}

func TestKeyPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		id, secret := makeKey(s, ada, everyScope...)
		walk := func(token string, check func(apptest.Reply)) {
			t.Helper()
			one := ada.Path("/api-keys/" + id)
			check(s.Call("GET", ada.Path("/api-keys"), token, nil))
			check(s.Call("POST", ada.Path("/api-keys"), token, usageWrite))
			check(s.Call("PATCH", one, token, apptest.Object{"name": "Other"}))
			check(s.Call("POST", one+"/rotate", token, apptest.Object{}))
			check(s.Call("DELETE", one, token, nil))
		}
		member, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		walk(member, func(a apptest.Reply) { t.Helper(); a.WantRefused(403, "") })
		walk(secret, func(a apptest.Reply) { t.Helper(); a.WantRefused(403, "insufficient_scope") })
		posing := s.Admin()
		s.Impersonate(posing, ada).Want(200)
		walk(posing, func(a apptest.Reply) { t.Helper(); a.WantRefused(400, "") })
		record(s, ada, secret).Want(201)

		s.CreateRole(ada, "Keeper", "api_keys.manage", "billing.manage") // the scope invoices.read requires billing.manage
		keeper, _ := s.Join(ada, "Cy", "cy@example.com", "Keeper")
		walk(keeper, func(a apptest.Reply) {
			t.Helper()
			if a.Status > 204 {
				t.Errorf("%d %s", a.Status, a.Text)
			}
		})
		admin, _ := s.Join(ada, "Di", "di@example.com", "admin")
		s.Call("GET", ada.Path("/api-keys"), admin, nil).Want(200)

		// A key remains when its creator leaves. Once the account is deleted, the key no longer
		// names them.
		by := s.Call("POST", ada.Path("/api-keys"), keeper, usageWrite).Want(201)
		s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(by.At("data.created_by.id").(float64))), ada.Token, nil).Want(200)
		record(s, ada, by.Str("data.secret")).Want(201)
	})
}

func TestRotatingKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		rotate := func(id string, body any) apptest.Reply {
			t.Helper()
			return s.Call("POST", ada.Path("/api-keys/"+id+"/rotate"), ada.Token, body)
		}
		first := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.WithChanges(usageWrite, apptest.Object{"expires_in_days": 30})).Want(201)
		s.Advance(10 * apptest.Day)
		ada.Token = s.LogIn("ada@example.com")
		second := rotate(first.Str("data.id"), nil).Want(201)
		second.WantAt("data.name", "Metering").WantAt("data.scopes", []any{"usage.write"}).WantAt("data.revoked_at", nil)
		if got := second.TimeAt("data.expires_at").Sub(second.TimeAt("data.created_at")); got != 30*apptest.Day {
			t.Errorf("the new key expires in %s", got)
		}
		if second.Str("data.secret") == first.Str("data.secret") || second.Str("data.id") == first.Str("data.id") {
			t.Error("rotation returned the same key")
		}
		record(s, ada, first.Str("data.secret")).WantRefused(401, "")
		record(s, ada, second.Str("data.secret")).Want(201)
		rotate(first.Str("data.id"), nil).WantRefused(409, "api_key_revoked")

		third := rotate(second.Str("data.id"), apptest.Object{"overlap_minutes": 60}).Want(201)
		record(s, ada, second.Str("data.secret")).Want(201)
		record(s, ada, third.Str("data.secret")).Want(201)
		rotate(second.Str("data.id"), apptest.Object{"overlap_minutes": 60}).WantRefused(409, "api_key_revoked")
		old := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200)
		old.WantAt("data.1.id", second.Str("data.id")).WantAt("data.1.revoked_at", nil)
		if got := old.TimeAt("data.1.expires_at").Sub(third.TimeAt("data.created_at")); got != time.Hour {
			t.Errorf("the old key expires in %s", got)
		}
		s.Advance(61 * time.Minute)
		ada.Token = s.LogIn("ada@example.com")
		record(s, ada, second.Str("data.secret")).WantRefused(401, "")
		record(s, ada, third.Str("data.secret")).Want(201)

		// An overlap does not extend the life of a key.
		s.Advance(30*apptest.Day - 2*time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		fourth := rotate(third.Str("data.id"), apptest.Object{"overlap_minutes": 10_080}).Want(201)
		s.Advance(2 * time.Hour)
		record(s, ada, third.Str("data.secret")).WantRefused(401, "")
		record(s, ada, fourth.Str("data.secret")).Want(201)
		ada.Token = s.LogIn("ada@example.com")

		forEver, _ := makeKey(s, ada, "usage.read")
		rotate(forEver, apptest.Object{"overlap_minutes": 0}).Want(201).WantAt("data.expires_at", nil)
		id, secret := makeKey(s, ada, "usage.write")
		for _, minutes := range []any{-1, 10_081, "5", 1.5, nil} {
			rotate(id, apptest.Object{"overlap_minutes": minutes}).WantInvalid("overlap_minutes")
		}
		s.Call("DELETE", ada.Path("/api-keys/"+id), ada.Token, nil).Want(204)
		rotate(id, nil).WantRefused(409, "api_key_revoked")
		record(s, ada, secret).WantRefused(401, "")
		expired := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.WithChanges(usageWrite, apptest.Object{"expires_in_days": 1})).Want(201)
		s.Advance(apptest.Day)
		ada.Token = s.LogIn("ada@example.com")
		record(s, ada, expired.Str("data.secret")).WantRefused(401, "")
		rotate(expired.Str("data.id"), nil).WantRefused(409, "api_key_revoked")
	})
}

func TestRevokingKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		id, secret := makeKey(s, ada, "usage.write")
		_, kept := makeKey(s, ada, "usage.write")
		for range 3 {
			record(s, ada, secret).Want(201)
		}
		s.Call("DELETE", ada.Path("/api-keys/"+id), ada.Token, nil).Want(204)
		record(s, ada, secret).WantRefused(401, "")
		list := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200)
		revoked := list.Str("data.1.revoked_at")
		s.Call("DELETE", ada.Path("/api-keys/"+id), ada.Token, nil).Want(204)
		s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200).WantAt("data.1.revoked_at", revoked)
		record(s, ada, kept).Want(201)

		s.Advance(90*apptest.Day - time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		if got := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200).Column("id"); len(got) != 2 {
			t.Errorf("after less than 90 days: %v", got)
		}
		s.Advance(2 * time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		if got := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200).Column("id"); len(got) != 1 || got[0] == id {
			t.Errorf("after more than 90 days: %v", got)
		}
		want := []string{"api_key.revoked", "api_key.created", "api_key.created"}
		var got []string
		for _, action := range s.AuditLog(map[string][]string{"filter[tenant]": {ada.Tenant}}).Actions() {
			if strings.HasPrefix(action, "api_key.") {
				got = append(got, action)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Concurrent requests cannot exceed the limit. At the limit a key can still be rotated. Ended keys
// do not count.
func TestAtMostFiftyKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		for range 44 {
			makeKey(s, ada, "usage.read")
		}
		statuses := make(chan int, 12)
		for i := range 12 {
			go func() {
				r := s.NewRequest("POST", ada.Path("/api-keys"), ada.Token, apptest.WithChanges(usageWrite, apptest.Object{"name": fmt.Sprint(i)}))
				statuses <- s.Do(r).Status
			}()
		}
		count := map[int]int{}
		for range 12 {
			count[<-statuses]++
		}
		if count[201] != 6 || count[422] != 6 {
			t.Errorf("created and rejected: %v", count)
		}
		s.Call("POST", ada.Path("/api-keys"), ada.Token, usageWrite).WantInvalid("name")
		makeKey(s, other, "usage.read")
		one := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200).Str("data.0.id")
		fresh := s.Call("POST", ada.Path("/api-keys/"+one+"/rotate"), ada.Token, apptest.Object{"overlap_minutes": 10}).Want(201).Str("data.id")
		s.Call("POST", ada.Path("/api-keys"), ada.Token, usageWrite).WantInvalid("name")
		s.Call("DELETE", ada.Path("/api-keys/"+fresh), ada.Token, nil).Want(204)
		s.Call("DELETE", ada.Path("/api-keys/"+one), ada.Token, nil).Want(204)
		makeKey(s, ada, "usage.read")
		s.Call("POST", ada.Path("/api-keys"), ada.Token, usageWrite).WantInvalid("name")
	})
}

// The tenant's audit log records changes of keys, without secrets.
func TestTrailOfKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		made := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "First", "scopes": []string{"usage.read"}}).Want(201)
		of := ada.Path("/api-keys/" + made.Str("data.id"))
		s.Call("PATCH", of, ada.Token, apptest.Object{"name": "Second"}).Want(200)
		rotated := s.Call("POST", of+"/rotate", ada.Token, apptest.Object{"overlap_minutes": 10}).Want(201)
		s.Call("DELETE", ada.Path("/api-keys/"+rotated.Str("data.id")), ada.Token, nil).Want(204)
		trail := s.Call("GET", ada.Path("/audit-logs"), ada.Token, nil).Want(200)
		var got []string
		for _, action := range trail.Actions() {
			if strings.HasPrefix(action, "api_key.") {
				got = append(got, action)
			}
		}
		for _, want := range []string{"api_key.created", "api_key.updated", "api_key.rotated", "api_key.revoked"} {
			if !slices.Contains(got, want) {
				t.Errorf("%v lacks %s", got, want)
			}
		}
		renamed := s.Call("GET", ada.Path("/audit-logs?filter[action]=api_key.updated"), ada.Token, nil).Want(200)
		renamed.WantAt("data.0.before.name", "First").WantAt("data.0.after.name", "Second").WantAt("data.0.resource_id", made.Str("data.id"))
		for _, secret := range []string{made.Str("data.secret"), rotated.Str("data.secret")} {
			if strings.Contains(trail.Text, secret) {
				t.Error("a secret is in the audit log")
			}
		}
	})
}

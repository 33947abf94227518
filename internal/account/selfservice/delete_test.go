package selfservice_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func deleteAccount(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("DELETE", "/api/v1/user", token, apptest.Object{"current_password": password})
}

func TestDeletingTheAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, id := s.Join(ada, "Bob Builder", "bob@example.com", "admin")
		secret := s.Call("POST", ada.Path("/api-keys"), bob, apptest.Object{"name": "Key", "scopes": []string{"usage.read"}}).Want(201).Str("data.secret")
		s.Call("POST", ada.Path("/team/invitations"), bob, apptest.Object{"email": "coy@example.com", "role": "member"}).Want(201)
		s.Call("PUT", ada.Path("/usage/api-calls/cap"), bob, apptest.Object{"limit": 50}).Want(200).WantAt("data.cap_by.name", "Bob Builder")
		other := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "bob@example.com", "password": password}).Want(200)
		s.Call("POST", "/api/v1/push-subscriptions", bob, apptest.Object{
			"endpoint": "https://push.example.com/bob", "keys": apptest.Object{
				"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": "tBHItJI5svbpez7KI4CCXg",
			},
		}).Want(201)
		admin := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{"user_id": id, "tenant_id": ada.Tenant}).Want(200)
		s.Call("PUT", ada.Path("/usage/storage-gb/cap"), admin, apptest.Object{"limit": 5}).Want(200)
		deleteAccount(s, admin).As("while impersonating").WantRefused(400, "")
		s.Call("GET", "/api/v1/user/export", admin, nil).As("while impersonating").Want(200)
		for what, body := range map[string]apptest.Object{"wrong": {"current_password": "wrong horse"}, "missing": {}} {
			s.Call("DELETE", "/api/v1/user", bob, body).As(what).WantInvalid("current_password")
		}
		deleteAccount(s, ada.Token).As("owner of a tenant with other members").WantRefused(409, "OWNS_TENANT")

		if a := deleteAccount(s, bob).Want(204); a.Text != "" {
			t.Errorf("%q", a.Text)
		}
		me(s, bob).WantRefused(401, "")
		me(s, other.Str("accessToken")).WantRefused(401, "")
		s.Refresh(other.Str("refreshToken")).WantRefused(401, "INVALID_REFRESH_TOKEN")
		s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "bob@example.com", "password": password}).WantRefused(401, "INVALID_CREDENTIALS")
		s.Call("GET", "/api/v1/admin/impersonation/status", admin, nil).WantRefused(400, "")
		for _, table := range []string{"credentials", "oauth_identities", "oauth_codes", "push_subscriptions", "password_resets", "email_verifications", "memberships", "former_memberships"} {
			if n := s.CountRows("SELECT count(*) FROM "+table+" WHERE user_id = $1", id); n != 0 {
				t.Errorf("%s: %d rows", table, n)
			}
		}
		if n := s.CountRows("SELECT count(*) FROM users WHERE id = $1 AND name = '' AND email NOT LIKE '%bob%' AND password_hash IS NULL AND avatar_hash IS NULL", id); n != 1 {
			t.Error("the row still contains personal data")
		}
		// The keys that Bob created remain, without his name.
		s.Call("GET", ada.Path("/usage"), secret, nil).Want(200)
		keys := s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200)
		if keys.At("data.0.created_by") != nil {
			t.Errorf("%s", keys.Text)
		}
		for _, path := range []string{"/team/members", "/team/invitations", "/api-keys"} {
			if a := s.Call("GET", ada.Path(path), ada.Token, nil).Want(200); strings.Contains(a.Text, "Builder") || strings.Contains(a.Text, "bob@example.com") {
				t.Errorf("%s: %s", path, a.Text)
			}
		}

		// So does the cap that he has set.
		quotas := s.Call("GET", ada.Path("/usage/quotas"), ada.Token, nil).Want(200)
		quotas.WantAt("data.meters.0.cap", 50.0).WantAt("data.meters.0.cap_by.id", float64(id)).WantAt("data.meters.0.cap_by.name", "")
		if n := s.CountRows("SELECT count(*) FROM usage_streams WHERE CAST(cap_by AS text) LIKE '%Builder%'"); n != 0 {
			t.Errorf("%d caps still contain the name", n)
		}
		if n := s.CountRows("SELECT count(*) FROM usage_streams WHERE CAST(cap_by AS text) LIKE '%Sandbox Admin%'"); n != 1 {
			t.Errorf("%d caps contain the name of the admin who acted as Bob, want 1", n)
		}

		// The email can be registered again, which creates a new account.
		again := s.RegisterAlone("Bob again", "bob@example.com")
		if s.UserID(again) == id {
			t.Error("the deleted account works again")
		}

		// A tenant without other members is deleted with its owner.
		s.Call("DELETE", ada.Path("/team/invitations/"+s.Call("GET", ada.Path("/team/invitations"), ada.Token, nil).Str("data.0.id")), ada.Token, nil).Want(200)
		s.BuyPlan(ada, "starter")
		deleteAccount(s, ada.Token).As("with a subscription").WantRefused(409, "OWNS_TENANT")
		s.Cancel(ada, true).Want(200)
		s.AwaitNotifications()
		deleteAccount(s, ada.Token).Want(204)
		if n := s.CountRows("SELECT count(*) FROM tenants WHERE id = $1 AND deleted_at IS NOT NULL", ada.Tenant); n != 1 {
			t.Error("the tenant was not deleted")
		}
		s.Call("GET", ada.Path("/usage"), secret, nil).As("the tenant's key").WantRefused(401, "")
	})
}

// The name of a deleted user is removed from the changes of plan that wait, from stored operations, and
// from a cap that is older than the audit trail of a former tenant.
func TestDeletingTheAuthorOfPlanChanges(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		ada.ReplaceCard(apptest.CardConfirms)
		bob, id := s.Join(ada.Owner, "Bob Builder", "bob@example.com", "admin")
		actingIn := func(o apptest.Owner) apptest.Owner {
			o.Token = bob
			return o
		}
		s.Call("PUT", ada.Path("/usage/api-calls/cap"), bob, apptest.Object{"limit": 50}).Want(200)
		s.ChangePlan(actingIn(ada.Owner), "team", nil).Want(200).WantAt("data.subscription.pending_change.by.name", "Bob Builder").
			WantAt("data.subscription.pending_change.kind", "payment")
		s.Call("POST", ada.Path("/leave"), bob, nil).Want(204)
		apptest.Exec(t, s.DB(), "DELETE FROM audit_logs WHERE tenant_id = $1", ada.Tenant)

		carl := s.NewCustomer("carl")
		carl.Buy(s.PlanID(carl.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		s.Call("POST", carl.Path("/team/invitations"), carl.Token, apptest.Object{"email": "bob@example.com", "role": "admin"}).Want(201)
		s.Call("POST", "/api/v1/invitations/"+s.InvitationToken("bob@example.com", 2)+"/accept", bob, nil).Want(200)
		s.ChangePlan(actingIn(carl.Owner), "team", apptest.Object{"when": "period_end"}).Want(200).
			WantAt("data.subscription.pending_change.by.name", "Bob Builder").WantAt("data.subscription.pending_change.kind", "scheduled")

		deleteAccount(s, bob).Want(204)
		for _, o := range []*apptest.Customer{ada, carl} {
			s.Subscription(o.Owner).WantAt("data.pending_change.by", apptest.Object{"type": "user", "id": float64(id), "name": ""})
		}
		s.AwaitJobs()
		for _, place := range []string{
			"usage_streams WHERE CAST(cap_by AS text)", "subscriptions WHERE CAST(pending_by AS text)", "subscriptions WHERE CAST(scheduled_change AS text)",
			"psp_operations WHERE CAST(origin AS text)", "psp_operations WHERE CAST(request AS text)",
		} {
			if n := s.CountRows("SELECT count(*) FROM " + place + " LIKE '%Builder%'"); n != 0 {
				t.Errorf("%s contains the name %d times", place, n)
			}
		}
	})
}

// A user who deletes the account while joining or creating a tenant is not a member afterwards, and
// no tenant loses its owner.
func TestDeletingWhileJoining(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for round := range dbtest.Rounds(3, 30) {
			email := "user" + string(rune('a'+round)) + "@example.com"
			token := s.RegisterAlone("User", email)
			_, invitation := s.Invite(ada, email, "member")
			id := s.UserID(token)
			heir, heirID := s.Join(ada, "Heir", "heir"+email, "member")
			var wg sync.WaitGroup
			for _, call := range []func(){
				func() { s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil) },
				func() { s.Call("POST", "/api/v1/tenants", token, apptest.Object{"name": "Own"}) },
				func() { deleteAccount(s, token) },
				func() { deleteAccount(s, heir) },
				func() {
					s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, apptest.Object{"user_id": heirID, "current_password": password})
				},
			} {
				wg.Go(call)
			}
			wg.Wait()
			if n := s.CountRows("SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.deleted_at IS NOT NULL"); n != 0 {
				t.Fatalf("round %d: %d deleted users are members", round, n)
			}
			if n := s.CountRows(`SELECT count(*) FROM memberships m JOIN roles r ON r.id = m.role_id
				WHERE m.tenant_id = $1 AND r.tenant_id IS NULL AND r.name = 'owner'`, ada.Tenant); n != 1 {
				t.Fatalf("round %d: %d owners", round, n)
			}
			if s.CountRows("SELECT count(*) FROM users WHERE id = $1 AND deleted_at IS NOT NULL", id) == 0 {
				deleteAccount(s, token) // rejected while the user was an owner
			}
			if s.CountRows("SELECT count(*) FROM users WHERE id = $1 AND deleted_at IS NULL", heirID) == 1 {
				s.Call("POST", ada.Path("/transfer-ownership"), heir, apptest.Object{"user_id": s.UserID(ada.Token), "current_password": password})
			}
		}
	})
}

func TestExportingTheAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "admin")
		s.Call("POST", ada.Path("/team/invitations"), bob, apptest.Object{"email": "secret-friend@example.com", "role": "member"}).Want(201)
		secret := s.Call("POST", ada.Path("/api-keys"), bob, apptest.Object{"name": "Key", "scopes": []string{"usage.read"}}).Want(201).Str("data.secret")
		changeEmail(s, bob, "new@example.com").Want(202)
		a := s.Call("GET", "/api/v1/user/export", bob, nil).Want(200)
		if got := a.Header.Get("Content-Disposition") + " " + a.Header.Get("Content-Type"); got != `attachment; filename="account.json" application/json` {
			t.Error(got)
		}
		var kept map[string]any
		if err := json.Unmarshal([]byte(a.Text), &kept); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for key, value := range kept {
			if list, ok := value.([]any); ok {
				counts[key] = len(list)
			}
		}
		if counts["audit_log"] < 3 {
			t.Errorf("%d changes", counts["audit_log"])
		}
		delete(counts, "audit_log")
		want := map[string]int{
			"tenants": 1, "logins": 1, "known_browsers": 1, "identities": 0, "push_subscriptions": 0, "email_verifications": 1,
			"invitations_received": 1, "invitations_sent": 1, "api_keys_created": 1, "impersonations": 0, "request_log": 0,
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Error(diff)
		}
		a.WantAt("account.email", "bob@example.com").WantAt("account.has_password", true).WantAt("tenants.0.role", "admin").
			WantAt("email_verifications.0.email", "new@example.com")
		for _, not := range []string{"secret-friend", "ada@example.com", "argon2", secret, bob, "token_hash"} {
			if strings.Contains(a.Text, not) {
				t.Errorf("got %q", not)
			}
		}
	})
}

package selfservice_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// delegate logs in at the sandbox's identity provider and returns the response with the token.
func delegate(s *apptest.Server, email string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": delegatedCode(s, email)}).Want(200)
}

// delegatedCode logs in at the sandbox's identity provider and returns the one-time code.
func delegatedCode(s *apptest.Server, email string) string {
	s.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(method, address string, form url.Values) apptest.Reply {
		s.T.Helper()
		r, err := http.NewRequestWithContext(s.T.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			s.T.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return s.DoWith(client, r)
	}
	page := open("GET", s.URL+"/api/v1/auth/oauth/sandbox/redirect", nil).Want(302).Header.Get("Location")
	form := url.Values{"email": {email}, "name": {"Delegated"}, "email_verified": {"true"}}
	for _, field := range hidden.FindAllStringSubmatch(open("GET", page, nil).Want(200).Text, -1) {
		form.Set(field[1], strings.ReplaceAll(field[2], "&amp;", "&"))
	}
	back := open("POST", page, form).Header.Get("Location")
	end, err := url.Parse(open("GET", back, nil).Want(302).Header.Get("Location"))
	if err != nil {
		s.T.Fatal(err)
	}
	return end.Query().Get("code")
}

// resetMail requests a password reset and returns the mailed token.
func resetMail(s *apptest.Server, email string) (token string) {
	s.T.Helper()
	s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": email}).Want(200)
	apptest.Eventually(s.T, "the mail for the reset", func() bool {
		for _, mail := range s.Mails(email) {
			if found := resetLink.FindStringSubmatch(mail["text"].(string)); found != nil {
				token = found[1]
			}
		}
		return token != ""
	})
	return token
}

// keptOf returns the export of a user's data.
func keptOf(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/user/export", token, nil).Want(200)
}

// Credentials and links of a deleted account never work, even after its email is registered again.
// The new account starts without data of the old one.
func TestAccountDeletionRemovesAllData(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob := s.RegisterAlone("Bob Builder", "bob@example.com")
		_, invitation := s.Invite(ada, "bob@example.com", "admin")
		s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", bob, nil).Want(200)
		s.Call("PATCH", "/api/v1/user", bob, apptest.Object{"locale": "fr"}).Want(200)
		login := apptest.Object{"email": "bob@example.com", "password": password}
		old := s.Call("POST", "/api/v1/auth/login", "", login).Want(200)
		browser := s.Frontend()
		browser.Send("GET", "/csrf-cookie", nil).Want(204)
		browser.Send("POST", "/api/v1/auth/login", login).Want(200)
		browser.Send("GET", "/api/v1/auth/me", nil).Want(200)
		reset := resetMail(s, "bob@example.com")
		changeEmail(s, bob, "robert@example.com").Want(202)
		verification := links(s, "robert@example.com", 1)[0]
		id := s.UserID(bob)

		deleteAccount(s, bob).Want(204)
		dead := func(when string) {
			t.Helper()
			me(s, bob).As("token "+when).WantRefused(401, "")
			me(s, old.Str("accessToken")).As("another token "+when).WantRefused(401, "")
			s.Refresh(old.Str("refreshToken")).As("refresh "+when).WantRefused(401, "INVALID_REFRESH_TOKEN")
			browser.Send("GET", "/api/v1/auth/me", nil).As("session "+when).WantRefused(401, "")
			s.Call("POST", "/api/v1/auth/login", "", login).As("login "+when).WantRefused(401, "INVALID_CREDENTIALS")
			verify(s, verification).As("verification "+when).WantRefused(400, "")
			if a := s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
				"email": "bob@example.com", "token": reset, "password": password, "password_confirmation": password,
			}); a.Status != 400 {
				t.Errorf("reset %s: %d %s", when, a.Status, a.Text)
			}
		}
		dead("afterwards")
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("bob@example.com", apptest.Object{
			"create_tenant": false, "name": "Robert", "password": "battery staple", "password_confirmation": "battery staple",
		})).Want(201)
		dead("after the email was registered again")
		fresh := a.Str("accessToken")
		if s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", fresh, nil).Status < 400 {
			t.Error("the invitation that was accepted works again")
		}
		s.Call("GET", ada.Path("/usage"), fresh, nil).As("the former tenant").WantRefused(403, "")
		wantFresh(s, fresh, id)
	})
}

// wantFresh checks that Robert's account lacks the data of the previous account with his email.
func wantFresh(s *apptest.Server, token string, formerID int64) {
	s.T.Helper()
	kept := keptOf(s, token).WantAt("account.name", "Robert").WantAt("account.locale", nil).WantAt("account.email_verified_at", nil)
	if kept.At("account.id") == float64(formerID) || strings.Contains(kept.Text, "Builder") || strings.Contains(kept.Text, "account.deleted") {
		s.T.Errorf("the deleted account works again: %s", kept.Text)
	}
	for _, list := range []string{"tenants", "identities", "push_subscriptions", "invitations_received", "invitations_sent", "api_keys_created", "impersonations"} {
		kept.WantAt(list, []any{})
	}
	if logins, _ := kept.At("logins").([]any); len(logins) != 1 {
		s.T.Errorf("logins: %v", logins)
	}
}

// A user without a password can delete the account without one. The next login at the provider
// creates a new account.
func TestDeletingADelegatedAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := delegate(s, "deb@example.com")
		token := first.Str("accessToken")
		kept := keptOf(s, token).WantAt("account.has_password", false).WantAt("identities.0.provider", "sandbox").WantAt("tenants.0.role", "owner")
		kept.Str("identities.0.subject")
		s.Call("DELETE", "/api/v1/user", token, apptest.Object{}).Want(204)
		me(s, token).WantRefused(401, "")
		again := delegate(s, "deb@example.com").WantAt("isNewUser", true)
		if again.At("user.id") == first.At("user.id") || again.At("user.tenants.0.id") == first.At("user.tenants.0.id") {
			t.Errorf("the deleted account works again: %s", again.Text)
		}
		if got := keptOf(s, again.Str("accessToken")); len(got.At("tenants").([]any)) != 1 || len(got.At("identities").([]any)) != 1 {
			t.Errorf("%s", got.Text)
		}
	})
}

// A rejected deletion changes nothing. Deletion succeeds once the other members have left and the
// subscription has ended, but not while its cancellation is only scheduled.
func TestDeletingAnOwnersAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		s.BuyPlan(ada, "starter")
		before := keptOf(s, ada.Token)
		refused := func(when string) {
			t.Helper()
			deleteAccount(s, ada.Token).As(when).WantRefused(409, "OWNS_TENANT")
		}
		refused("with a member and a subscription")
		after := keptOf(s, ada.Token)
		for _, part := range []string{"account", "tenants", "audit_log"} {
			if diff := cmp.Diff(before.At(part), after.At(part)); diff != "" {
				t.Errorf("the refusal has changed %s: %s", part, diff)
			}
		}
		s.Call("POST", ada.Path("/leave"), bob, nil).Want(204)
		refused("with a subscription")
		s.Cancel(ada, false).Want(200)
		refused("with a subscription until the period's end")
		s.AwaitNotifications()
		s.Cancel(ada, true).Want(200)
		s.AwaitNotifications()
		s.Call("DELETE", "/api/v1/user", ada.Token, apptest.Object{"current_password": "Correct horse"}).WantInvalid("current_password")
		deleteAccount(s, ada.Token).Want(204)
		me(s, ada.Token).WantRefused(401, "")
		me(s, bob).As("former member").Want(200)
	})
}

// The export contains all personal data and no credentials.
func TestExportHasEverythingButSecrets(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "admin")
		secrets := []string{bob, password, "BNcRdreALRFXTkOOUHK1EtK2", "tBHItJI5svbpez7KI4CCXg", resetMail(s, "bob@example.com"), s.InvitationToken("bob@example.com", 1)}
		s.Call("PATCH", "/api/v1/user", bob, apptest.Object{"name": "Bob Builder", "locale": "it"}).Want(200)
		changeEmail(s, bob, "robert@example.com").Want(202)
		secrets = append(secrets, links(s, "robert@example.com", 1)[0])
		s.Call("POST", "/api/v1/push-subscriptions", bob, apptest.Object{
			"endpoint": "https://push.example.com/bob", "keys": apptest.Object{
				"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": secrets[3],
			},
		}).Want(201)
		key := s.Call("POST", ada.Path("/api-keys"), bob, apptest.Object{"name": "Bob's key", "scopes": []string{"usage.read"}}).Want(201)
		other := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "bob@example.com", "password": password}).Want(200)
		secrets = append(secrets, key.Str("data.secret"), other.Str("accessToken"), other.Str("refreshToken"))
		admin := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{"user_id": id, "tenant_id": ada.Tenant}).Want(200)
		s.Call("POST", "/api/v1/admin/impersonation/stop", admin, nil).Want(200)

		kept := keptOf(s, bob)
		for path, want := range map[string]any{
			"account.id": float64(id), "account.name": "Bob Builder", "account.locale": "it", "account.is_platform_admin": false, "account.avatar": nil,
			"tenants.0.id": ada.Tenant, "tenants.0.deleted_at": nil, "push_subscriptions.0.endpoint": "https://push.example.com/bob",
			"email_verifications.0.email": "robert@example.com", "invitations_received.0.status": "accepted",
			"api_keys_created.0.id": key.At("data.id"), "api_keys_created.0.name": "Bob's key",
		} {
			kept.WantAt(path, want)
		}
		kept.TimeAt("account.last_login_at")
		kept.TimeAt("known_browsers.0.last_login_at")
		kept.TimeAt("known_browsers.0.previous_login_at")
		for list, n := range map[string]int{"logins": 2, "impersonations": 2, "known_browsers": 1} {
			if got, _ := kept.At(list).([]any); len(got) != n {
				t.Errorf("%s: %v", list, got)
			}
		}
		for _, column := range []string{
			"password_hash FROM users WHERE id = $1", "min(token_hash) FROM credentials WHERE user_id = $1",
			"token_hash FROM email_verifications WHERE user_id = $1", "token_hash FROM password_resets WHERE user_id = $1",
		} {
			var hash string
			if err := s.DB().Conn(t.Context()).QueryRowContext(t.Context(), "SELECT "+column, id).Scan(&hash); err != nil || hash == "" {
				t.Fatalf("%s: %v", column, err)
			}
			secrets = append(secrets, hash)
		}
		for _, secret := range secrets {
			if strings.Contains(kept.Text, secret) {
				t.Errorf("got %q", secret)
			}
		}
	})
}

// A long list is exported page by page and each entry once, even if the last page is full or many
// entries have the same time.
func TestExportOfMuch(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		id := s.UserID(ada.Token)
		first := keptOf(s, ada.Token)
		had, _ := first.At("audit_log").([]any)
		at := func(i int) time.Time { return s.Now().Truncate(time.Hour).Add(time.Duration(i/700) * time.Hour) }
		for _, total := range []int{500, 1000, 1001} {
			for i := s.CountRows("SELECT count(*) FROM audit_logs WHERE actor_id = $1", id); i < total; i++ {
				apptest.Exec(t, s.DB(), `INSERT INTO audit_logs (actor_id, action, resource, resource_id, ip, user_agent, created_at)
					VALUES ($1, 'api_key.created', 'api_key', $2, '', '', $3)`, id, fmt.Sprint(i), at(i))
			}
			for i := s.CountRows("SELECT count(*) FROM invitations WHERE inviter_id = $1", id); i < total; i++ {
				apptest.Exec(t, s.DB(), `INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
					SELECT $1, $2, $3, id, $4, 'revoked', $3, 7, $5, $5, $5 FROM roles WHERE tenant_id IS NULL AND name = 'member'`,
					uuid.New(), ada.Tenant, fmt.Sprintf("friend%d@example.com", i), id, at(i))
			}
			for i := s.CountRows("SELECT count(*) FROM request_logs WHERE user_id = $1", id); i < total; i++ {
				apptest.Exec(t, s.DB(), `INSERT INTO request_logs (tenant_id, is_hidden, at, method, route, path, status, duration_ms, user_id, ip)
					VALUES ($1, false, $2, 'GET', '/api/v1/user', $3, 404, 1, $4, '')`, ada.Tenant, at(i), fmt.Sprint(i), id)
			}
			kept := keptOf(s, ada.Token)
			for name, key := range map[string]string{"audit_log": "resource_id", "invitations_sent": "id", "request_log": "path"} {
				seen := map[any]bool{}
				list, _ := kept.At(name).([]any)
				for _, one := range list {
					seen[one.(map[string]any)[key]] = true
				}
				if len(list) != total || len(seen) < total-len(had) {
					t.Errorf("%s: %d entries, %d of them different, want %d", name, len(list), len(seen), total)
				}
			}
		}
	})
}

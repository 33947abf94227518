package onboarding_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// adminTenants is the path of the tenants in the admin API.
const adminTenants = "/api/v1/admin/tenants"

// newKey creates a platform key and returns its secret.
func newKey(s *apptest.Server, scopes ...string) string {
	s.T.Helper()
	body := apptest.Object{"name": "Backend", "scopes": scopes}
	return s.Call("POST", "/api/v1/admin/api-keys", s.Admin(), body).Want(201).Str("data.secret")
}

// provisionAll creates the tenants concurrently and returns the replies.
func provisionAll(s *apptest.Server, key string, bodies ...apptest.Object) []apptest.Reply {
	s.T.Helper()
	replies := make([]apptest.Reply, len(bodies))
	var all sync.WaitGroup
	for i, body := range bodies {
		r := s.NewRequest("POST", adminTenants, key, body)
		all.Go(func() { replies[i] = s.Do(r) })
	}
	all.Wait()
	return replies
}

// countStatus counts the replies with a status.
func countStatus(replies []apptest.Reply, status int) (n int) {
	for _, a := range replies {
		if a.Status == status {
			n++
		}
	}
	return n
}

func TestProvisionTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write", "tenants.read")
		made := s.Call("POST", adminTenants, key, apptest.Object{
			"name": "Analytical Engines", "slug": "engines_1", "external_id": "cus-1", "metadata": apptest.Object{"crm": apptest.Object{"id": 7}, "region": "eu"},
			"owner":      apptest.Object{"email": "Ada@Example.com", "name": "Ada", "external_id": "usr-1", "locale": "fr"},
			"legal_name": "Engines Ltd", "address": "1 Dorset Street\nFloor 2", "city": "Roma", "postal_code": "00100", "country": "IT",
			"vat_number": "IT12345678901", "billing_email": "bills@example.com", "currency": "usd",
		}).Want(201)
		for path, want := range map[string]any{
			"name": "Analytical Engines", "slug": "engines_1", "external_id": "cus-1", "legal_name": "Engines Ltd", "city": "Roma", "country": "IT",
			"metadata": map[string]any{"crm": map[string]any{"id": float64(7)}, "region": "eu"}, "vat_number": "IT12345678901",
			"owner.email": "ada@example.com", "owner.name": "Ada", "owner.external_id": "usr-1", "member_count": float64(1), "subscription_status": nil,
		} {
			made.WantAt("data."+path, want)
		}
		made.TimeAt("data.onboarding_completed_at") // the onboarding is complete
		shown := s.Call("GET", adminTenants+"/"+made.Str("data.id"), key, nil).Want(200)
		shown.WantAt("data", made.At("data"))
		if n := s.CountRows(`SELECT count(*) FROM tenants WHERE id = $1 AND preferred_currency = 'USD'`, made.Str("data.id")); n != 1 {
			t.Error("the currency is not the preferred one")
		}

		// Only the name is required.
		least := s.Call("POST", adminTenants, key, apptest.Object{"name": "Least & Co"}).Want(201)
		least.WantAt("data.slug", "least-co").WantAt("data.external_id", nil).WantAt("data.metadata", map[string]any{}).
			WantAt("data.owner", nil).WantAt("data.member_count", float64(0))
		s.Call("POST", adminTenants, key, apptest.Object{"name": "Least & Co"}).Want(201) // a derived slug never conflicts
		s.Call("POST", adminTenants, s.Admin(), apptest.Object{"name": "By a person", "owner": nil, "external_id": nil}).Want(201)

		entry := s.AuditLog(map[string][]string{"filter[action]": {"tenant.created"}}).Want(200)
		keyID := s.Call("GET", "/api/v1/admin/api-keys", s.Admin(), nil).Want(200).Str("data.0.id")
		found := false
		for i := range entry.Column("id") {
			e := entry.At("data").([]any)[i].(map[string]any)
			if after, _ := e["after"].(map[string]any); after["external_id"] == "cus-1" {
				found = e["api_key_id"] == keyID && e["tenant_id"] == made.Str("data.id") && after["owner_external_id"] == "usr-1"
			}
		}
		if !found {
			t.Errorf("no audit log entry of the API key: %s", entry.Text)
		}
	})
}

func TestProvisionRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write", "tenants.read")
		s.Call("POST", adminTenants, key, apptest.Object{
			"name": "First", "slug": "first", "external_id": "Cus-1", "owner": apptest.Object{"email": "ada@example.com", "external_id": "usr-1"},
		}).Want(201)
		tenants, users := s.CountRows(`SELECT count(*) FROM tenants`), s.CountRows(`SELECT count(*) FROM users`)
		big := strings.Repeat("x", 16<<10)
		for name, tt := range map[string]struct {
			change apptest.Object
			fields []string
		}{
			"no name":             {apptest.Object{"name": nil}, []string{"name"}},
			"long name":           {apptest.Object{"name": strings.Repeat("x", 256)}, []string{"name"}},
			"slug taken":          {apptest.Object{"slug": "first"}, []string{"slug"}},
			"slug wrong":          {apptest.Object{"slug": "a b"}, []string{"slug"}},
			"external_id taken":   {apptest.Object{"external_id": "Cus-1"}, []string{"external_id"}},
			"external_id long":    {apptest.Object{"external_id": strings.Repeat("x", 256)}, []string{"external_id"}},
			"external_id number":  {apptest.Object{"external_id": 5}, []string{"external_id"}},
			"metadata list":       {apptest.Object{"metadata": []any{}}, []string{"metadata"}},
			"metadata large":      {apptest.Object{"metadata": apptest.Object{"a": big}}, []string{"metadata"}},
			"owner without email": {apptest.Object{"owner": apptest.Object{"name": "Eve"}}, []string{"owner.email"}},
			"owner's email":       {apptest.Object{"owner": apptest.Object{"email": "nobody"}}, []string{"owner.email"}},
			"owner's locale":      {apptest.Object{"owner": apptest.Object{"email": "eve@example.com", "locale": "de"}}, []string{"owner.locale"}},
			"owner's ID taken":    {apptest.Object{"owner": apptest.Object{"email": "eve@example.com", "external_id": "usr-1"}}, []string{"owner.external_id"}},
			"owner's ID long":     {apptest.Object{"owner": apptest.Object{"email": "eve@example.com", "external_id": strings.Repeat("x", 256)}}, []string{"owner.external_id"}},
			"country":             {apptest.Object{"country": "ZZ"}, []string{"country"}},
			"vat number":          {apptest.Object{"country": "DE", "vat_number": "1"}, []string{"vat_number"}},
			"currency":            {apptest.Object{"currency": "XXX"}, []string{"currency"}},
			"plan":                {apptest.Object{"plan_slug": "nowhere", "currency": "EUR"}, []string{"plan_slug"}},
			"several": {
				apptest.Object{"name": nil, "slug": "first", "external_id": "Cus-1", "owner": apptest.Object{"email": "x", "external_id": "usr-1"}, "plan_slug": "starter"},
				[]string{"name", "slug", "external_id", "owner.email", "owner.external_id", "currency"},
			},
		} {
			s.Call("POST", adminTenants, key, apptest.WithChanges(apptest.Object{"name": "Next"}, tt.change)).As(name).WantInvalid(tt.fields...)
		}
		taken := apptest.Object{"name": "Next", "owner": apptest.Object{"email": "ada@example.com"}}
		s.Call("POST", adminTenants, key, taken).WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
		if s.CountRows(`SELECT count(*) FROM tenants`) != tenants || s.CountRows(`SELECT count(*) FROM users`) != users {
			t.Error("a refused request created something")
		}
		// External IDs are case-sensitive. The external ID of a deleted tenant can be used again.
		other := s.Call("POST", adminTenants, key, apptest.Object{"name": "Next", "external_id": "cus-1"}).Want(201).Str("data.id")
		s.Call("DELETE", adminTenants+"/"+other, s.Admin(), nil).Want(204)
		s.Call("POST", adminTenants, key, apptest.Object{"name": "Next", "external_id": "cus-1"}).Want(201)

		// An admin with restricted permissions needs tenants.manage.
		admin := s.Admin()
		apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = $1 WHERE id = $2`, `["tenants.view"]`, s.UserID(admin))
		s.Call("POST", adminTenants, admin, apptest.Object{"name": "Next"}).WantRefused(403, "")
	})
}

var resetLink = regexp.MustCompile(`/reset-password\?\S*token=([A-Za-z0-9]{64})`)

// ownerLink waits for the only mail to a new owner and returns its subject and the token in it.
func ownerLink(s *apptest.Server, email string) (subject, token string) {
	s.T.Helper()
	apptest.Eventually(s.T, "the mail to "+email, func() bool { return len(s.Mails(email)) == 1 })
	mail := s.Mails(email)[0]
	link := resetLink.FindStringSubmatch(mail["text"].(string))
	if link == nil {
		link = []string{"", ""}
		s.T.Errorf("no link in %v", mail)
	}
	return mail["subject"].(string), link[1]
}

func reset(s *apptest.Server, email, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
		"email": email, "token": token, "password": "correct horse", "password_confirmation": "correct horse",
	})
}

// A new owner gets one mail, in the owner's language. Its link is valid as long as an invitation.
// Using the link verifies the email, and the user still owns the tenant.
func TestNewOwnerSetsAPassword(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		for locale, subject := range map[string]string{
			"en": "Set up your", "fr": "Activez votre compte", "es": "Active su cuenta", "it": "Attivi il Suo account",
		} {
			email := "grace.h-" + locale + "@example.com"
			made := s.Call("POST", adminTenants, key, apptest.Object{"name": "Compilers", "owner": apptest.Object{"email": email, "locale": locale}}).Want(201)
			made.WantAt("data.owner.name", "grace.h-"+locale)
			got, token := ownerLink(s, email)
			if !strings.HasPrefix(got, subject) {
				t.Errorf("%s: the subject is %q", locale, got)
			}
			s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "correct horse"}).WantRefused(401, "INVALID_CREDENTIALS")
			reset(s, email, token).Want(200)
			reset(s, email, token).WantRefused(400, "")
			login := s.LogIn(email)
			me := s.Call("GET", "/api/v1/auth/me", login, nil).Want(200)
			me.WantAt("user.email_verified", true).WantAt("user.locale", locale).WantAt("user.tenants.0.id", made.Str("data.id"))
			s.Call("GET", "/api/v1/tenant", login, nil).Want(200).WantAt("data.id", made.Str("data.id")).WantAt("data.user_role", "owner")
		}
	})
}

func TestLifetimeOfTheOwnersLink(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		for email, tt := range map[string]struct {
			after  time.Duration
			status int
		}{
			"late@example.com": {7*24*time.Hour - time.Minute, http.StatusOK}, "too-late@example.com": {7*24*time.Hour + time.Minute, http.StatusBadRequest},
		} {
			s.Call("POST", adminTenants, key, apptest.Object{"name": "Compilers", "owner": apptest.Object{"email": email}}).Want(201)
			_, token := ownerLink(s, email)
			s.Advance(tt.after)
			if a := reset(s, email, token); a.Status != tt.status {
				t.Errorf("%s: %d %s", email, a.Status, a.Text)
			}
		}
		// A link requested later gives access to the tenant too.
		s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "too-late@example.com"}).Want(200)
		var token string
		apptest.Eventually(t, "the second mail", func() bool {
			mails := s.Mails("too-late@example.com")
			if len(mails) == 2 {
				token = resetLink.FindStringSubmatch(mails[0]["text"].(string))[1]
			}
			return len(mails) == 2
		})
		reset(s, "too-late@example.com", token).Want(200)
		s.Call("GET", "/api/v1/tenant", s.LogIn("too-late@example.com"), nil).Want(200).WantAt("data.name", "Compilers")
	})
}

// An account without a tenant becomes the owner, keeps its name and, if its email is verified, gets
// no mail.
func TestOwnerWithAnAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		alone := s.RegisterAlone("Ada Lovelace", "ada@example.com")
		s.VerifyEmail(alone, "ada@example.com")
		before := len(s.Mails("ada@example.com"))
		owner := apptest.Object{"email": "ADA@example.com", "name": "Somebody", "external_id": "usr-1", "locale": "it"}
		made := s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines", "owner": owner}).Want(201)
		made.WantAt("data.owner.name", "Ada Lovelace").WantAt("data.owner.external_id", "usr-1")
		s.Call("GET", "/api/v1/tenant", alone, nil).Want(200).WantAt("data.id", made.Str("data.id")).WantAt("data.user_role", "owner")
		if n := len(s.Mails("ada@example.com")); n != before {
			t.Errorf("%d mails, want %d", n, before)
		}
	})
}

// A person may have registered the owner's email beforehand. The account becomes the owner, and the
// owner gets the mail. Using its link ends the other person's password and logins, verifies the
// email and keeps the tenant.
func TestOwnerWithAnUnverifiedAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		for email, provision := range map[string]func(owner apptest.Object) string{
			"post@example.com": func(owner apptest.Object) string {
				return s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines", "owner": owner}).Want(201).Str("data.id")
			},
			"patch@example.com": func(owner apptest.Object) string {
				id := s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines"}).Want(201).Str("data.id")
				s.Call("PATCH", adminTenants+"/"+id, key, apptest.Object{"owner": owner}).Want(200)
				return id
			},
		} {
			squatter := s.RegisterAlone("Mallory", email)
			id := provision(apptest.Object{"email": email, "locale": "it"})
			s.Call("GET", "/api/v1/tenant", squatter, nil).Want(200).WantAt("data.id", id)
			subject, token := ownerLink(s, email)
			if !strings.HasPrefix(subject, "Attivi il Suo account") {
				t.Errorf("the subject is %q", subject)
			}
			s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
				"email": email, "token": token, "password": "a new password", "password_confirmation": "a new password",
			}).Want(200)

			s.Call("GET", "/api/v1/auth/me", squatter, nil).Want(401)
			s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "correct horse"}).WantRefused(401, "INVALID_CREDENTIALS")
			login := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "a new password"}).Want(200).Str("accessToken")
			s.Call("GET", "/api/v1/auth/me", login, nil).Want(200).WantAt("user.email_verified", true)
			s.Call("GET", "/api/v1/tenant", login, nil).Want(200).WantAt("data.id", id).WantAt("data.user_role", "owner")
		}
	})
}

// If several concurrent requests have the same external ID or the same owner, one succeeds and the
// others create nothing.
func TestConcurrentProvisioning(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		const n = 6
		same := make([]apptest.Object, n)
		for i := range same {
			same[i] = apptest.Object{"name": "Same ID", "external_id": "cus-1", "owner": apptest.Object{"email": "owner" + string(rune('a'+i)) + "@example.com"}}
		}
		replies := provisionAll(s, key, same...)
		if countStatus(replies, 201) != 1 || countStatus(replies, 422) != n-1 {
			t.Errorf("%v", replies)
		}
		if found := s.CountRows(`SELECT count(*) FROM users WHERE email LIKE 'owner_@example.com'`); found != 1 {
			t.Errorf("%d owners", found)
		}
		for i := range same {
			same[i] = apptest.Object{"name": "Same owner", "owner": apptest.Object{"email": "ada@example.com"}}
		}
		replies = provisionAll(s, key, same...)
		if countStatus(replies, 201) != 1 || countStatus(replies, 409) != n-1 {
			t.Errorf("%v", replies)
		}
		if found := s.CountRows(`SELECT count(*) FROM tenants WHERE name = 'Same owner'`); found != 1 {
			t.Errorf("%d tenants", found)
		}
		ownerLink(s, "ada@example.com")
		for i := range same {
			same[i] = apptest.Object{"name": "Same user ID", "owner": apptest.Object{"email": "user" + string(rune('a'+i)) + "@example.com", "external_id": "usr-1"}}
		}
		if replies = provisionAll(s, key, same...); countStatus(replies, 201) != 1 || countStatus(replies, 422) != n-1 {
			t.Errorf("%v", replies)
		}
	})
}

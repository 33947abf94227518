package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A login with a code proves an address that was never verified: the password, the logins and the
// codes of the account end. The user stays in the tenant under the same conditions as after a
// password reset.
func TestEmailCodeProvesTheAddress(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for email, isKept := range map[string]bool{"silent@example.com": false, "says@example.com": true, "paid@example.com": true, "joined@example.com": true} {
			o := s.Register(email, true)
			subscribe(s, o.Token, "https://push.example.com/"+email).Want(201)
			more := apptest.Object{}
			switch email {
			case "says@example.com":
				more["keep_tenant"] = true
			case "paid@example.com":
				s.BuyPlan(o, "starter")
			case "joined@example.com":
				s.Join(o, "Grace", "grace@example.com", "member")
			}
			request, code := requestCode(s, email)
			login := enterCode(s, request, code, more).Want(200)
			if tenants := login.At("user.tenants").([]any); (len(tenants) == 1) != isKept {
				t.Errorf("%s: %s", email, login.Text)
			}
			token := login.Str("accessToken")
			s.Call("GET", "/api/v1/auth/me", o.Token, nil).As(email).Want(401)
			s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": apptest.AdaLogin["password"]}).WantRefused(401, "INVALID_CREDENTIALS")
			export := s.Call("GET", "/api/v1/user/export", token, nil).Want(200).WantAt("account.has_password", false)
			export.TimeAt("account.email_verified_at")
			s.Call("GET", "/api/v1/push-subscriptions", token, nil).Want(200).WantAt("data", []any{})

			request, code = requestCode(s, email) // now an ordinary login
			enterCode(s, request, code).Want(200)
			s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		}
	}, allMethods)
}

// A wrong code does not verify the address.
func TestWrongCodeProvesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		request, code := requestCode(s, "ada@example.com")
		enterCode(s, request, otherThan(code)).Want(401)
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200).WantAt("currentTenant.id", o.Tenant)
		s.LogIn("ada@example.com")
	}, allMethods)
}

// A registration without a password mails a code and issues no credential. The first login with the
// code verifies the address, and the user keeps the tenant.
func TestRegistrationWithoutAPassword(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		askForCode(s, email).Want(202) // does not count: no mail was sent
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(email, apptest.Object{"password": nil, "password_confirmation": nil, "tenant_name": "Engines"})).Want(201)
		a.WantAt("user.email", email).WantAt("user.tenants.0.name", "Engines").TimeAt("expires_at")
		if a.At("accessToken") != nil || a.At("refreshToken") != nil || s.CountRows("SELECT count(*) FROM credentials c JOIN users u ON u.id = c.user_id WHERE u.email = $1", email) != 0 {
			t.Errorf("a credential: %s", a.Text)
		}
		s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).WantRefused(401, "INVALID_CREDENTIALS")
		code := awaitCode(s, email, 1)
		login := enterCode(s, a.Str("request_id"), code).Want(200).WantAt("user.tenants.0.id", a.Str("user.tenants.0.id"))
		token := login.Str("accessToken")
		s.Call("GET", "/api/v1/user/export", token, nil).Want(200).WantAt("account.has_password", false).TimeAt("account.email_verified_at")
		enterCode(s, a.Str("request_id"), code).WantRefused(401, "INVALID_CREDENTIALS")
		if n := s.CountAudited(apptest.Owner{Tenant: a.Str("user.tenants.0.id")}, "email.verified"); n != 1 {
			t.Errorf("%d entries of the verification", n)
		}
		for _, m := range s.Mails(email) {
			if m["subject"] == "New sign-in to your account" {
				t.Error("the first login was mailed")
			}
		}
		s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(email, apptest.Object{"password": nil, "password_confirmation": nil})).WantInvalid("email")
	}, allMethods, withLimits)
}

// The user also keeps the tenant if the first login uses the code of a later request.
func TestRegistrationWithoutAPasswordAndALaterCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(email, apptest.Object{"password": nil, "password_confirmation": nil})).Want(201)
		first := awaitCode(s, email, 1)
		request, code := requestCode(s, email)
		enterCode(s, a.Str("request_id"), first).WantRefused(401, "INVALID_CREDENTIALS")
		enterCode(s, request, code).Want(200).WantAt("user.tenants.0.id", a.Str("user.tenants.0.id"))
	}, allMethods)
}

// In cookie mode, a registration without a password starts no session, and only the browser that
// registered can use the code.
func TestRegistrationWithoutAPasswordInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		f, other := s.Frontend(), s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		other.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		session := f.Cookie("tenantry_session")
		a := f.Send("POST", "/api/v1/auth/register", apptest.Registration(email, apptest.Object{"password": nil, "password_confirmation": nil, "create_tenant": false})).Want(201)
		if f.Cookie("tenantry_session") != session {
			t.Error("the registration has started a session")
		}
		f.Send("GET", "/api/v1/auth/me", nil).Want(401)
		body := apptest.Object{"request_id": a.Str("request_id"), "code": awaitCode(s, email, 1)}
		other.Send("POST", "/api/v1/auth/email-code/login", body).WantRefused(401, "INVALID_CREDENTIALS")
		f.Send("POST", "/api/v1/auth/email-code/login", body).Want(200).WantAt("user.tenants", []any{})
		f.Send("GET", "/api/v1/auth/me", nil).Want(200)
	}, allMethods)
}

// A password and its confirmation must be given together. Without email codes, a registration needs
// both.
func TestPasswordOfARegistration(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]apptest.Option{"on": {allMethods}, "off": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				register := func(email string, change apptest.Object) apptest.Reply {
					return s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(email, change))
				}
				register("ada@example.com", apptest.Object{"password_confirmation": nil}).WantInvalid("password_confirmation")
				register("ada@example.com", apptest.Object{"password": nil}).WantInvalid("password")
				register("ada@example.com", apptest.Object{"password_confirmation": "other horse"}).WantInvalid("password_confirmation")
				register("ada@example.com", apptest.Object{"password": "short", "password_confirmation": "short"}).WantInvalid("password")
				register("nonsense", apptest.Object{"password": nil}).WantInvalid("email", "password")
				if name == "off" {
					register("ada@example.com", apptest.Object{"password": nil, "password_confirmation": nil}).WantInvalid("password", "password_confirmation")
					register("ada@example.com", apptest.Object{"password": "", "password_confirmation": ""}).WantInvalid("password", "password_confirmation")
				}
				register("ada@example.com", nil).Want(201).Str("accessToken")
			}, options...)
		})
	}
}

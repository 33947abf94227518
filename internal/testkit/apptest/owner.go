package apptest

import (
	"maps"
	"regexp"
)

// Owner is a registered user who owns a tenant.
type Owner struct {
	Token, Tenant string
}

// Path returns the path of a resource of the tenant, such as /subscription/cancel.
func (o Owner) Path(below string) string { return "/api/v1/tenant/" + o.Tenant + below }

// password is the password of all users that tests register.
const password = "correct horse"

// Registration returns the body that registers Ada with an email address. change replaces values;
// nil removes a key.
func Registration(email string, change Object) Object {
	body := Object{"name": "Ada", "email": email, "password": password, "password_confirmation": password}
	maps.Copy(body, change)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	return body
}

// BillingDetails is the body that completes the setup of a tenant.
var BillingDetails = Object{
	"legal_name": "Analytical Engines Ltd", "address": "12 St James Square", "city": "London",
	"postal_code": "SW1Y 4JH", "country": "GB", "billing_email": "billing@example.com",
}

// Register creates an account with a tenant. onboarded sets the tenant's [BillingDetails], without
// which most routes reject requests.
func (s *Server) Register(email string, onboarded bool) Owner {
	s.T.Helper()
	token := s.Call("POST", "/api/v1/auth/register", "", Registration(email, nil)).Want(201).Str("accessToken")
	o := Owner{Token: token, Tenant: s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).Str("currentTenant.id")}
	if onboarded {
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", token, BillingDetails).Want(200)
	}
	return o
}

var verificationLink = regexp.MustCompile(`/verify-email\?token=([A-Za-z0-9]{64})`)

// VerifyEmail verifies the email of a user with the link from a mail.
func (s *Server) VerifyEmail(token, email string) {
	s.T.Helper()
	s.Call("POST", "/api/v1/user/email/verification", token, nil).Want(202)
	Eventually(s.T, "the mail that verifies "+email, func() bool {
		for _, mail := range s.Mails(email) {
			if found := verificationLink.FindStringSubmatch(mail["text"].(string)); found != nil {
				s.Call("POST", "/api/v1/auth/verify-email", token, Object{"token": found[1]}).Want(200)
				return true
			}
		}
		return false
	})
}

// RegisterAlone creates an account without a tenant and returns its token.
func (s *Server) RegisterAlone(name, email string) string {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/register", "", Registration(email, Object{"name": name, "create_tenant": false})).
		Want(201).Str("accessToken")
}

// AdaLogin is the body that logs ada@example.com in.
var AdaLogin = Object{"email": "ada@example.com", "password": password}

// LogIn logs in a user that the test has registered, and returns the token.
func (s *Server) LogIn(email string) string {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/login", "", Object{"email": email, "password": password}).Want(200).Str("accessToken")
}

// Refresh gets new tokens with a refresh token.
func (s *Server) Refresh(token string) Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/refresh", "", Object{"refresh_token": token})
}

// AdminLogin is the body that logs the platform admin in.
var AdminLogin = Object{"email": "admin@tenantry.test", "password": "sandbox-admin"}

// Admin logs the platform admin in and returns the token.
func (s *Server) Admin() string {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/login", "", AdminLogin).Want(200).Str("accessToken")
}

// UserID returns the id of the token's user.
func (s *Server) UserID(token string) int64 {
	s.T.Helper()
	return int64(s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).At("user.id").(float64))
}

// Impersonate starts to impersonate a tenant's owner, with the token of a platform admin.
func (s *Server) Impersonate(token string, target Owner) Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/admin/impersonation/start", token, Object{
		"user_id": s.UserID(target.Token), "tenant_id": target.Tenant,
	})
}

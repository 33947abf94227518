package app_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

type object = apptest.Object

// allowEmailCodes is an option of the server of story.
func allowEmailCodes(s *settings.Settings) {
	s.LoginMethods = append(s.EnabledLoginMethods(), settings.EmailCodeLogin)
}

// story plays the first weeks of a customer, and the work of an admin at the same time.
func story(s *apptest.Server) {
	get := func(token string, paths ...string) {
		for _, path := range paths {
			s.Call("GET", path, token, nil).Want(200)
		}
	}
	get("", "/api/v1/settings", "/api/v1/batch?url=/api/v1/settings&url=/api/v1/currencies", "/api/v1/catalog/products", "/api/v1/catalog/plans", "/api/v1/catalog/features", "/api/v1/catalog/packs", "/api/v1/currencies",
		"/api/v1/auth/oauth/providers", "/healthz", "/readyz")
	registered := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
	s.Refresh(registered.Str("refreshToken")).Want(200)
	ada := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
	o := apptest.Owner{Token: ada, Tenant: s.Call("GET", "/api/v1/auth/me", ada, nil).Want(200).Str("currentTenant.id")}
	s.Call("POST", "/api/v1/auth/forgot-password", "", object{"email": "ada@example.com"}).Want(200)
	s.Call("PATCH", "/api/v1/onboarding/complete-setup", ada, apptest.BillingDetails).Want(200)
	s.Call("POST", "/api/v1/auth/token", ada, object{"tenant_id": o.Tenant}).Want(200)
	get("", "/.well-known/jwks.json")
	get(ada, "/api/v1/onboarding/status", "/api/v1/tenant", "/api/v1/user/sessions", "/api/v1/user/export", "/api/v1/push-subscriptions", "/api/v1/studio/access")
	s.Call("PATCH", "/api/v1/user", ada, object{"name": "Ada Lovelace", "locale": "fr"}).Want(200)
	s.Call("PATCH", "/api/v1/tenant", ada, object{"name": "Analytical Engines", "billing_email": "bills@example.com"}).Want(200)
	s.BuyPlan(o, "starter")
	get(ada, o.Path("/subscription"), o.Path("/subscription/seats"), o.Path("/plans"), o.Path("/entitlements"), o.Path("/team/members"), o.Path("/team/roles"),
		o.Path("/team/stats"), o.Path("/roles"), o.Path("/roles/permissions"), o.Path("/usage"), o.Path("/usage/quotas"), o.Path("/usage/cost-estimate"), o.Path("/search?q=ada"))
	_, bob := s.Invite(o, "bob@example.com", "member")
	get(ada, o.Path("/team/invitations"))
	s.Join(o, "Eve", "eve@example.com", "member")
	s.CreateRole(o, "Billing", "billing.manage")
	s.PreviewChange(o, "team", 1)
	event := object{"meter_code": "api-calls", "quantity": 5, "idempotency_key": "request-81", "metadata": object{"region": "eu"}}
	s.Call("POST", o.Path("/usage"), ada, event).Want(201)
	s.Call("POST", o.Path("/usage"), ada, event).Want(409)
	s.Call("POST", o.Path("/usage/batch"), ada, object{"events": []any{object{"meter_code": "api-calls", "quantity": 2}}}).Want(200)
	get(ada, o.Path("/usage/api-calls"), o.Path("/usage/series?meter_code=api-calls&interval=day"), o.Path("/audit-logs"), o.Path("/timeline"))
	s.Call("PUT", o.Path("/usage/api-calls/cap"), ada, object{"limit": 5000}).Want(200)
	limit := "/api/v1/admin/tenants/" + o.Tenant + "/limits"
	s.Call("PUT", limit+"/api-calls", s.Admin(), object{"type": "quota", "value": 20000, "reason": "Pilot until the contract is signed"}).Want(200)
	grants := "/api/v1/admin/tenants/" + o.Tenant + "/grants"
	grant := s.Call("POST", grants, s.Admin(), object{"feature_code": "api-calls", "amount": 1000, "reason": "Compensation for the outage"}).Want(201).Str("data.id")
	get(s.Admin(), limit, grants, "/api/v1/admin/tenants/"+o.Tenant+"/usage/quotas", "/api/v1/admin/tenants/"+o.Tenant+"/usage/series?meter_code=api-calls&interval=day")
	get(ada, o.Path("/grants"))
	work := object{"meter_code": "api-calls", "quantity": 20, "idempotency_key": "report-12"}
	reservation := o.Path("/usage/reservations/") + s.Call("POST", o.Path("/usage/reservations"), ada, work).Want(201).Str("data.id")
	s.Call("POST", o.Path("/usage"), ada, event).Want(409)
	get(ada, o.Path("/usage/quotas"))
	s.Call("POST", reservation+"/settle", ada, object{"quantity": 12}).Want(201)
	work["idempotency_key"] = "report-13"
	s.Call("DELETE", o.Path("/usage/reservations/")+s.Call("POST", o.Path("/usage/reservations"), ada, work).Want(201).Str("data.id"), ada, nil).Want(204)
	s.Call("DELETE", grants+"/"+grant, s.Admin(), nil).Want(204)
	credit := "/api/v1/admin/tenants/" + o.Tenant + "/credit"
	s.Call("POST", credit, s.Admin(), object{"amount_cents": 500, "currency": "EUR", "reason": "Compensation for an outage"}).Want(201)
	s.Call("POST", credit, s.Admin(), object{"amount_cents": -500, "currency": "EUR", "reason": "Given by mistake"}).Want(201)
	get(s.Admin(), credit)
	key := s.Call("POST", o.Path("/api-keys"), ada, object{"name": "Metering", "scopes": []any{"usage.write"}}).Want(201).Str("data.id")
	get(ada, o.Path("/api-keys"))
	s.Call("POST", o.Path("/api-keys/"+key+"/rotate"), ada, object{"overlap_minutes": 60}).Want(201)
	hook := s.Call("POST", o.Path("/webhook-endpoints"), ada, object{"url": s.URL + "/sandbox/hooks/in/shop", "events": []any{"invoice.paid"}}).Want(201).Str("data.id")
	get(ada, o.Path("/request-logs"), o.Path("/webhook-endpoints"), o.Path("/webhook-endpoints/"+hook), o.Path("/webhook-endpoints/"+hook+"/deliveries"))
	s.Call("PATCH", o.Path("/webhook-endpoints/"+hook), ada, object{"description": "The shop"}).Want(200)
	s.Invoices(o, 1)
	s.Cancel(o, false).Want(200)
	s.Resume(o).Want(200)
	s.Call("POST", o.Path("/checkout"), ada, apptest.WithChanges(apptest.ReturnURLs, object{"plan_id": s.PlanID(o, "team"), "currency": "EUR"})).Want(422)
	administration(s, o)
	packs(s, o)
	promotionCodes(s, o)
	people(s, o, bob)
	members(s, o)
	machines(s, o)
	prices(s)
	tenants(s, o)
	creditNotes(s)
	signOn(s)
	emailCodes(s)
	farewell(s, payments(s))
	trials(s)
	contracts(s)
	acting(s)
}

// creditNotes credits a part of an invoice to a card whose refunds fail later.
func creditNotes(s *apptest.Server) {
	c := s.NewCustomer("hedy")
	s.BuyPlanWith(c.Owner, "starter", apptest.CardRefundsFail)
	invoice := s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
	path := "/api/v1/admin/tenants/" + c.Tenant
	credit := object{"amount_cents": 500, "settlement": "refund", "reason": "order_change", "memo": "One seat less"}
	s.Call("POST", path+"/invoices/"+invoice+"/credit-notes/preview", s.Admin(), credit).Want(200)
	note := s.Call("POST", path+"/invoices/"+invoice+"/credit-notes", s.Admin(), credit).Want(201).Str("data.id")
	for _, read := range []string{"/credit-notes", "/credit-notes/" + note, "/credit-notes/" + note + "/pdf"} {
		s.Call("GET", c.Path(read), c.Token, nil).Want(200)
	}
	s.Call("GET", path+"/credit-notes/"+note, s.Admin(), nil).Want(200)
	s.Call("GET", path+"/credit-notes/"+note+"/pdf", s.Admin(), nil).Want(200)
	s.Advance(time.Minute)
	apptest.Eventually(s.T, "the failed refund", func() bool {
		return s.Call("GET", c.Path("/credit-notes/"+note), c.Token, nil).Want(200).At("data.refund_status") == "failed"
	})
	s.Call("POST", path+"/credit-notes/"+note+"/retry-refund", s.Admin(), nil).Want(200)
}

// emailCodes registers a user without a password, who logs in with a code.
func emailCodes(s *apptest.Server) {
	const email = "ida@example.com"
	s.Call("POST", "/api/v1/auth/register", "", object{"name": "Ida", "email": email, "create_tenant": false}).Want(201)
	awaitCode(s, email, 1) // mails can overtake each other
	request := s.Call("POST", "/api/v1/auth/email-code", "", object{"email": email}).Want(202).Str("data.request_id")
	code := awaitCode(s, email, 2)
	s.Call("POST", "/api/v1/auth/email-code/login", "", object{"request_id": request, "code": code}).Want(200)
}

// awaitCode waits for the given number of mails with login codes and returns the latest code.
func awaitCode(s *apptest.Server, email string, mails int) string {
	var codes []string // newest first
	apptest.Eventually(s.T, fmt.Sprintf("%d codes", mails), func() bool {
		codes = nil
		for _, m := range s.Mails(email) {
			codes = append(codes, regexp.MustCompile(`\b[0-9]{8}\b`).FindAllString(m["text"].(string), 1)...)
		}
		return len(codes) == mails
	})
	return codes[0]
}

// signOn plays a tenant that verifies a domain and connects its issuer.
func signOn(s *apptest.Server) {
	o := s.Register("owner@lovelace.example", true)
	call := func(method, path string, body any) apptest.Reply { return s.Call(method, o.Path(path), o.Token, body) }
	made := call("POST", "/domains", object{"domain": "lovelace.example"}).Want(201)
	domain, record := "/domains/"+made.Str("data.id"), made.Str("data.verification_record.value")
	call("POST", domain+"/verify", nil).Want(422)
	s.Call("PUT", "/sandbox/dns", "", object{"name": made.Str("data.verification_record.name"), "values": []any{record}}).Want(200)
	call("POST", domain+"/verify", nil).Want(200)
	call("PATCH", domain, object{"auto_join": "on"}).Want(200)
	call("GET", "/domains", nil).Want(200)
	call("PUT", "/sso", object{
		"issuer": s.URL + "/sandbox/idp/lovelace", "client_id": "tenantry", "client_secret": "sandbox-secret", "provision_members": true,
	}).Want(200)
	call("POST", "/sso/test", nil).Want(200)
	start := s.Call("POST", "/api/v1/auth/sso", "", object{"email": "byron@lovelace.example"}).Want(200).Str("data.url")
	consent(s, strings.TrimPrefix(start, s.URL), "byron@lovelace.example")
	call("GET", "/sso", nil).Want(200)
	call("DELETE", "/sso", nil).Want(204)
	call("DELETE", domain, nil).Want(204)
}

// administration plays the admin's part of the story.
func administration(s *apptest.Server, o apptest.Owner) {
	k := s.CatalogAdmin()
	product, feature := k.CreateProduct("storage"), k.CreateFeature("backups")
	plan := k.CreatePlan(product, "storage-s", object{"trial_days": 14})
	k.AdminCall("PUT", "/plans/"+plan+"/prices", object{"prices": []any{apptest.Price("EUR", 1900)}}).Want(200)
	k.AdminCall("PUT", "/plans/"+plan+"/entitlements", object{
		"entitlements": []any{object{"feature_id": feature, "type": "quota", "value": 30}},
	}).Want(200)
	k.AdminCall("PATCH", "/plans/"+plan, object{"sort_order": 5}).Want(200)
	k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201)
	k.AdminCall("POST", "/meters", object{
		"code": "exports", "name": "Exports", "aggregation_type": "count", "reset_interval": "monthly", "quota_enforcement": "soft",
	}).Want(201)
	k.AdminCall("POST", "/currencies/bulk", object{"codes": []any{"CHF", "EUR", "XXX"}}).Want(200)
	for _, path := range []string{
		"/products", "/products/" + product, "/plans", "/plans/" + plan, "/plans/" + plan + "/entitlements", "/plans/" + plan + "/psp-price-status",
		"/features", "/features/" + feature, "/currencies", "/meters", "/tenants", "/tenants/" + o.Tenant, "/tenants/" + o.Tenant + "/members",
		"/tenants/" + o.Tenant + "/invitations", "/tenants/" + o.Tenant + "/subscriptions", "/tenants/" + o.Tenant + "/timeline", "/settings", "/brand/mail", "/brand/invoice", "/stats", "/stats/series?figure=mrr&interval=month", "/activity", "/audit-logs", "/request-logs", "/impersonation/logs", "/api-keys", "/webhook-endpoints",
		"/invoices", "/credit-notes", "/subscriptions", "/users", "/webhook-deliveries", "/search?q=ada",
		"/analytics?currency=EUR", "/analytics/movements?kind=new&currency=EUR&month=" + s.Now().Format("2006-01"), "/analytics/cohorts?currency=EUR", "/rates",
	} {
		k.AdminCall("GET", path, nil).Want(200)
	}
	today := s.Now().Format(time.DateOnly)
	k.AdminCall("PUT", "/rates/"+today, object{"rates": object{"USD": 1.0874}}).WantRefused(409, "no_base_currency")
	k.AdminCall("DELETE", "/rates/"+today, nil).Want(204)
	s.Impersonate(k.Token, o).Want(200)
	s.Call("GET", "/api/v1/admin/impersonation/status", k.Token, nil).Want(200)
	s.Call("POST", "/api/v1/admin/impersonation/stop", k.Token, nil).Want(200)
}

// people registers users, verifies them, and changes their accounts.
func people(s *apptest.Server, o apptest.Owner, invitation string) {
	call := func(method, path, token string, body any) apptest.Reply {
		return s.Call(method, "/api/v1"+path, token, body)
	}
	call("GET", "/invitations/"+invitation, "", nil).Want(200)
	call("POST", "/invitations/"+invitation+"/accept-with-registration", "", apptest.Registration("bob@example.com", object{"name": "Bob"})).Want(201)
	password := apptest.AdaLogin["password"]
	call("POST", "/user/email/verification", o.Token, nil).Want(202)
	call("POST", "/auth/verify-email", "", object{"token": mailed(s, "ada@example.com", "verify-email")}).Want(200)
	call("POST", "/auth/forgot-password", "", object{"email": "bob@example.com"}).Want(200)
	call("POST", "/auth/reset-password", "", object{
		"email": "bob@example.com", "token": mailed(s, "bob@example.com", "reset-password"), "password": password, "password_confirmation": password,
	}).Want(200)
	bob := s.LogIn("bob@example.com")
	call("PUT", "/user/password", bob, object{"current_password": password, "password": "a new staple", "password_confirmation": "a new staple"}).Want(204)
	bob = call("POST", "/auth/login", "", object{"email": "bob@example.com", "password": "a new staple"}).Want(200).Str("accessToken")
	apptest.Exec(s.T, s.DB(), `INSERT INTO oauth_identities (id, provider, subject, user_id, email, created_at)
		SELECT $1, 'google', '1', id, email, created_at FROM users WHERE email = 'bob@example.com'`, uuid.New())
	identity := call("GET", "/user/identities", bob, nil).Want(200).Str("data.0.id")
	call("DELETE", "/user/identities/"+identity, bob, object{"current_password": "a new staple"}).Want(204)
	call("POST", "/user/email", bob, object{"email": "robert@example.com", "current_password": "a new staple"}).Want(202)
	upload(s, bob)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		s.T.Fatal(err)
	}
	const endpoint = "https://push.example.com/send/1"
	call("POST", "/push-subscriptions", bob, object{"endpoint": endpoint, "keys": object{
		"p256dh": base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), "auth": base64.RawURLEncoding.EncodeToString(make([]byte, 16)),
	}}).Want(201)
	call("DELETE", "/push-subscriptions", bob, object{"endpoint": endpoint}).Want(204)
	secondFactors(s, bob, "a new staple")
	call("POST", "/auth/logout", bob, nil).Want(200)
	delegated(s, "guest@example.com")
	call("GET", "/tenant", o.Token, nil).Want(200)
}

// secondFactors adds an authenticator app and a passkey to an account, and logs in with them.
func secondFactors(s *apptest.Server, token, password string) {
	call := func(method, path, token string, body any) apptest.Reply {
		return s.Call(method, "/api/v1"+path, token, body)
	}
	secret := call("POST", "/user/factors/totp", token, object{"current_password": password}).Want(201).Str("data.secret")
	code := func() string {
		s.Advance(30 * time.Second)
		return factortest.Code(s.T, secret, s.Now())
	}
	call("POST", "/user/factors/totp/confirm", token, object{"code": code()}).Want(200)
	call("GET", "/user/factors", token, nil).Want(200)
	o := call("POST", "/user/passkeys/options", token, object{"current_password": password, "code": code()}).Want(200)
	key := factortest.New(s.T, s.URL)
	credential := key.Register(o.At("data.options").(object))
	passkey := call("POST", "/user/passkeys", token, object{"challenge_id": o.Str("data.challenge_id"), "name": "MacBook", "credential": credential}).Want(201).Str("data.id")
	call("PATCH", "/user/passkeys/"+passkey, token, object{"name": "Office"}).Want(200)
	call("POST", "/user/recovery-codes", token, object{"current_password": password, "code": code()}).Want(200)
	login := object{"email": "bob@example.com", "password": password}
	challenge := call("POST", "/auth/login", "", login).Want(403).Str("challenge")
	call("POST", "/auth/mfa/passkey-options", "", object{"challenge": challenge}).Want(200)
	call("POST", "/auth/mfa", "", object{"challenge": challenge, "code": code()}).Want(200)
	l := call("POST", "/auth/passkey/options", "", nil).Want(200)
	call("POST", "/auth/passkey", "", object{"challenge_id": l.Str("data.challenge_id"), "credential": key.Assert(l.At("data.options").(object))}).Want(200)
	a := call("POST", "/user/passkeys/assertion-options", token, nil).Want(200)
	assertion := object{"challenge_id": a.Str("data.challenge_id"), "credential": key.Assert(a.At("data.options").(object))}
	call("DELETE", "/user/passkeys/"+passkey, token, object{"current_password": password, "assertion": assertion}).Want(204)
	call("DELETE", "/user/factors/totp", token, object{"current_password": password, "code": code()}).Want(204)
}

// mailed returns the token in the latest mail to a user that links to a page.
func mailed(s *apptest.Server, to, page string) (token string) {
	s.T.Helper()
	link := regexp.MustCompile(`/` + page + `\?[^\s]*\btoken=([A-Za-z0-9_-]+)`)
	apptest.Eventually(s.T, "the mail with the page "+page, func() bool {
		for _, m := range s.Mails(to) {
			if found := link.FindStringSubmatch(m["text"].(string)); found != nil {
				token = found[1]
			}
		}
		return token != ""
	})
	return token
}

// upload sets a user's avatar.
func upload(s *apptest.Server, token string) {
	s.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("avatar", "me.png")
	if err != nil {
		s.T.Fatal(err)
	}
	if err := png.Encode(part, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		s.T.Fatal(err)
	}
	if err := form.Close(); err != nil {
		s.T.Fatal(err)
	}
	r := s.NewRequest("POST", "/api/v1/user/avatar", token, body.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	s.Do(r).Want(200)
}

// hiddenField matches a hidden form field of the sandbox's identity provider.
var hiddenField = regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`)

// delegated logs a user in with the sandbox's identity provider.
func delegated(s *apptest.Server, email string) {
	s.T.Helper()
	consent(s, "/api/v1/auth/oauth/sandbox/redirect", email)
}

// consent logs a user in with the issuer of the sandbox behind a path.
func consent(s *apptest.Server, start, email string) {
	s.T.Helper()
	began := s.Call("GET", start, "", nil).Want(302)
	at := func(address string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			s.T.Fatal(err)
		}
		return s.NewRequest("GET", u.RequestURI(), "", nil)
	}
	fields := url.Values{"email": {email}, "name": {"Grace"}, "email_verified": {"true"}, "decision": {"allow"}}
	for _, field := range hiddenField.FindAllStringSubmatch(s.Do(at(began.Header.Get("Location"))).Want(200).Text, -1) {
		fields.Set(field[1], html.UnescapeString(field[2]))
	}
	form, _, _ := strings.Cut(began.Header.Get("Location"), "?")
	back := at(s.Submit(form, fields).Header.Get("Location"))
	back.Header.Set("Cookie", began.Header.Get("Set-Cookie"))
	to, err := url.Parse(s.Do(back).Want(302).Header.Get("Location"))
	if err != nil {
		s.T.Fatal(err)
	}
	s.Call("POST", "/api/v1/auth/oauth/exchange", "", object{"code": to.Query().Get("code")}).Want(200)
}

// members makes an owner's changes to members, roles and invitations.
func members(s *apptest.Server, o apptest.Owner) {
	call := func(method, path string, body any) apptest.Reply { return s.Call(method, o.Path(path), o.Token, body) }
	role := fmt.Sprintf("/roles/%d", s.CreateRole(o, "Support", "billing.manage"))
	call("PATCH", role, object{"name": "Help desk", "permissions": []any{"team.manage"}}).Want(200)
	call("DELETE", role, nil).Want(200)
	invitation, _ := s.Invite(o, "grace@example.com", "member")
	s.Advance(2 * time.Hour) // the resend limit has passed
	o.Token = s.LogIn("ada@example.com")
	call("POST", "/team/invitations/"+invitation+"/resend", nil).Want(200)
	call("DELETE", "/team/invitations/"+invitation, nil).Want(200)
	eve := s.LogIn("eve@example.com")
	member := fmt.Sprintf("/team/members/%d", s.UserID(eve))
	call("PATCH", member+"/role", object{"role_id": s.RoleID(o, "admin")}).Want(200)
	call("DELETE", member, nil).Want(200)
	s.Call("POST", "/api/v1/tenants", s.LogIn("eve@example.com"), object{"name": "Second Thoughts"}).Want(201)
}

// machines uses the API keys and webhook endpoints of a tenant and of the platform.
func machines(s *apptest.Server, o apptest.Owner) {
	ada := s.LogIn("ada@example.com")
	admin := s.Admin()
	for token, at := range map[string]string{ada: o.Path(""), admin: "/api/v1/admin"} {
		scopes := []any{"usage.read"}
		if token == admin {
			scopes = []any{"tenants.read"}
		}
		key := at + "/api-keys/" + s.Call("POST", at+"/api-keys", token, object{"name": "Reports", "scopes": scopes}).Want(201).Str("data.id")
		s.Call("PATCH", key, token, object{"name": "Monthly reports"}).Want(200)
		s.Call("POST", key+"/rotate", token, object{"overlap_minutes": 60}).Want(201)
		made := s.Call("POST", at+"/webhook-endpoints", token, object{"url": s.URL + "/sandbox/hooks/in/reports", "events": []any{"tenant.updated"}})
		hook := at + "/webhook-endpoints/" + made.Want(201).Str("data.id")
		s.Call("GET", hook, token, nil).Want(200)
		s.Call("PATCH", hook, token, object{"description": "Reports"}).Want(200)
		s.Call("POST", hook+"/test", token, nil).Want(202)
		var delivery string
		apptest.Eventually(s.T, "the delivery", func() bool {
			list := s.Call("GET", hook+"/deliveries", token, nil).Want(200)
			if list.At("data.0.status") == "delivered" {
				delivery = list.Str("data.0.id")
			}
			return delivery != ""
		})
		s.Call("GET", hook+"/deliveries/"+delivery, token, nil).Want(200)
		s.Call("GET", "/api/v1/admin/webhook-deliveries/"+delivery, admin, nil).Want(200)
		s.Call("POST", "/api/v1/admin/webhook-deliveries/"+delivery+"/resend", admin, nil).Want(202)
		s.Call("POST", hook+"/deliveries/"+delivery+"/resend", token, nil).Want(202)
		s.Call("POST", hook+"/replay", token, object{"since": s.Now().Add(-apptest.Day)}).Want(202)
		s.Call("POST", hook+"/rotate-secret", token, nil).Want(200)
	}
}

// prices makes an admin's changes to the catalog and to price links.
func prices(s *apptest.Server) {
	k := s.CatalogAdmin()
	first := func(kind string) string { return kind + "/" + k.AdminCall("GET", kind, nil).Want(200).Str("data.0.id") }
	k.AdminCall("POST", "/currencies", object{"code": "SEK", "name": "Krona", "symbol": "kr", "minor_units": 2}).Want(201)
	k.AdminCall("GET", "/currencies/catalog", nil).Want(200)
	k.AdminCall("PATCH", "/currencies/SEK", object{"is_active": false}).Want(200)
	k.AdminCall("PATCH", first("/products"), object{"description": object{"en": "Everything for teams"}}).Want(200)
	k.AdminCall("PATCH", first("/features"), object{"description": object{"en": "How many backups are kept"}}).Want(200)
	meter := first("/meters")
	k.AdminCall("GET", meter, nil).Want(200)
	k.AdminCall("PATCH", meter, object{"unit_label": "calls"}).Want(200)
	plan := "/plans/" + k.CreatePricedPlan(k.CreateProduct("film-archive"), "archive", map[string]int{"EUR": 1900})
	price := plan + "/prices/" + k.AdminCall("GET", plan, nil).Want(200).Str("data.prices.0.id")
	product := s.AtProvider("POST", "/products", "name", "Archive").Str("id")
	k.AdminCall("POST", price+"/psp-unlink", nil)
	k.AdminCall("POST", price+"/psp-create", object{"product_id": product, "nickname": "Archive, monthly"}).Want(200)
	k.AdminCall("POST", price+"/psp-unlink", nil).Want(200)
	k.AdminCall("POST", price+"/psp-link", object{"psp_price_id": s.NewProviderPrice("unit_amount", "1900")}).Want(200)
	k.AdminCall("POST", plan+"/prices/psp-import", object{"psp_price_id": s.NewProviderPrice("currency", "usd")}).Want(201)
}

// tenants makes an admin's changes to a tenant.
func tenants(s *apptest.Server, o apptest.Owner) {
	k := s.CatalogAdmin()
	o.Token = s.LogIn("ada@example.com")
	k.AdminCall("POST", "/tenants", object{
		"name": "Difference Engines", "external_id": "customer-42", "metadata": object{"region": "eu"}, "plan_slug": "free", "currency": "EUR",
		"owner": object{"email": "charles@example.com", "name": "Charles Babbage", "locale": "en", "external_id": "user-7"},
	}).Want(201)
	at := "/tenants/" + o.Tenant
	k.AdminCall("GET", "/tenants/search-with-roles?search=analytical", nil).Want(200)
	k.AdminCall("PATCH", at, object{"name": "Analytical Engines Ltd"}).Want(200)
	k.AdminCall("PATCH", fmt.Sprintf("%s/members/%d", at, s.UserID(o.Token)), object{"name": "Ada Lovelace"}).Want(200)
	invitation := k.AdminCall("POST", at+"/invitations", object{"email": "grace@example.com", "role": "member"}).Want(201).Str("data.id")
	s.Advance(2 * time.Hour)
	k.Token, o.Token = s.Admin(), s.LogIn("ada@example.com")
	k.AdminCall("POST", at+"/invitations/"+invitation+"/resend", nil).Want(200)
	k.AdminCall("DELETE", at+"/invitations/"+invitation, nil).Want(200)
	bob := fmt.Sprintf("%s/members/%d", at, s.UserID(s.Call("POST", "/api/v1/auth/login", "", object{
		"email": "bob@example.com", "password": "a new staple",
	}).Want(200).Str("accessToken")))
	k.AdminCall("PATCH", bob+"/role", object{"role_id": s.RoleID(o, "admin")}).Want(200)
	k.AdminCall("DELETE", bob, nil).Want(200)
}

// payments plays a customer whose card fails and who then changes the plan.
func payments(s *apptest.Server) *apptest.Customer {
	s.Call("POST", "/api/v1/onboarding/start", "", apptest.Registration("owner@example.com", object{
		"name": "Grace", "tenant_name": "Compilers", "plan_slug": "starter", "currency": "EUR",
	})).Want(201)
	s.Call("POST", "/api/v1/onboarding/retry-checkout", s.LogIn("owner@example.com"), object{"plan_slug": "starter", "currency": "EUR"}).Want(200)
	c := s.NewCustomer("grace")
	s.BuyPlanWith(c.Owner, "starter", apptest.CardFailsAtRenewal)
	s.Call("POST", c.Path("/docs/billing/portal"), c.Token, object{"return_url": s.URL + "/billing"}).Want(200)
	s.Advance(32 * apptest.Day)
	c.LogInAgain()
	invoice := "/invoices/" + s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).Str("data.0.id")
	s.Call("GET", c.Path(invoice), c.Token, nil).Want(200).WantAt("data.status", "open")
	s.Call("POST", c.Path(invoice+"/pay"), c.Token, nil).WantRefused(422, "payment_failed")
	s.Call("GET", c.Path("/billing/failed-payment"), c.Token, nil).Want(200).WantAt("data.decline_code", "generic_decline")
	s.Call("GET", c.Path("/billing/payment-method"), c.Token, nil).Want(200).WantAt("data.last4", "0341")
	s.Call("GET", c.Path("/credit"), c.Token, nil).Want(200).WantAt("data.balance.amount_cents", 0.0)
	s.Call("GET", c.Path("/invoices/summary"), c.Token, nil).Want(200)
	k := s.CatalogAdmin()
	k.AdminCall("GET", "/tenants/"+c.Tenant+"/billing", nil).Want(200)
	k.AdminCall("GET", "/plans/"+s.PlanID(c.Owner, "starter")+"/customers", nil).Want(200)
	c.ReplaceCard(apptest.CardPays)
	s.Call("POST", c.Path(invoice+"/pay"), c.Token, nil).Want(200)
	s.PreviewChange(c.Owner, "team", 1).Want(200)
	s.ChangePlan(c.Owner, "team", object{"quantity": 1}).Want(200)
	return c
}

// farewell deletes tenants and accounts.
func farewell(s *apptest.Server, c *apptest.Customer) {
	k := s.CatalogAdmin()
	proof := object{"current_password": apptest.AdaLogin["password"]}
	c.ReplaceCard(apptest.CardFailsAtRenewal)
	s.Advance(32 * apptest.Day)
	c.LogInAgain()
	k.Token = s.Admin()
	invoice := s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).Str("data.0.id")
	k.AdminCall("POST", "/tenants/"+c.Tenant+"/invoices/"+invoice+"/void", nil).Want(200)
	subscription := k.AdminCall("GET", "/tenants/"+c.Tenant+"/subscriptions", nil).Want(200).Str("data.0.id")
	k.AdminCall("POST", "/tenants/"+c.Tenant+"/subscriptions/"+subscription+"/cancel", object{"immediately": true, "reason": "Asked for by mail"}).Want(200)
	s.AwaitNotifications()
	heir, id := s.Join(c.Owner, "Bob", "heir@example.com", "admin")
	s.Call("POST", c.Path("/transfer-ownership"), c.Token, apptest.WithChanges(proof, object{"user_id": id})).Want(200)
	k.AdminCall("POST", "/tenants/"+c.Tenant+"/transfer-ownership", object{"user_id": s.UserID(c.Token)}).Want(200)
	k.AdminCall("POST", "/tenants/"+c.Tenant+"/transfer-ownership", object{"user_id": id}).Want(200)
	s.Call("DELETE", "/api/v1/user", c.LogIn(c.Email), proof).Want(204)
	s.Call("DELETE", c.Path(""), heir, proof).Want(204)
	k.AdminCall("POST", "/tenants/"+c.Tenant+"/restore", nil).Want(200)
}

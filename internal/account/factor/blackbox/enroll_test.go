package blackbox_test

import (
	"encoding/base32"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

func TestAuthenticatorApp(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := &person{Owner: s.Register("ada@example.com", true), s: s, email: "ada@example.com"}
		ada.call("POST", "/user/factors/totp", object{"code": 1}).WantRefused(403, "EMAIL_NOT_VERIFIED") // before validation
		verify(s, ada.email)
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data", object{
			"has_password": true, "totp": nil, "passkeys": []any{}, "recovery_codes": nil, "mfa_enabled": false,
		})
		ada.call("POST", "/user/factors/totp", nil).WantInvalid("current_password")
		ada.call("POST", "/user/factors/totp", object{"current_password": "wrong"}).WantInvalid("current_password")
		ada.call("POST", "/user/factors/totp/confirm", object{"code": "123456"}).WantInvalid("code") // without an enrollment
		ada.call("DELETE", "/user/factors/totp", nil).WantRefused(404, "")
		ada.call("POST", "/user/recovery-codes", ada.confirmed(nil)).WantRefused(409, "MFA_NOT_ENABLED")

		first := ada.call("POST", "/user/factors/totp", ada.confirmed(nil)).Want(201).Str("data.secret")
		second := ada.call("POST", "/user/factors/totp", ada.confirmed(nil)).Want(201)
		secret := second.Str("data.secret")
		if key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret); err != nil || len(key) != 20 {
			t.Errorf("the secret is %s", secret)
		}
		u, err := url.Parse(second.Str("data.otpauth_url"))
		if err != nil || u.Scheme != "otpauth" || u.Query().Get("secret") != secret || u.Query().Get("issuer") != "Tenantry" || !strings.Contains(u.Path, ada.email) {
			t.Errorf("the URL is %v, %v", u, err)
		}
		if svg := second.Str("data.qr_svg"); !strings.HasPrefix(svg, "<svg") || strings.Contains(svg, secret) {
			t.Errorf("the QR code is %s", svg)
		}
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.totp", nil).WantAt("data.mfa_enabled", false)
		ada.login(nil).Want(200) // an unconfirmed app is not a factor
		ada.call("DELETE", "/user/factors/totp", ada.confirmed(nil)).WantRefused(404, "")
		for _, code := range []string{"", "12345", factortest.Code(t, first, s.Now()), factortest.Code(t, secret, s.Now().Add(-2*step))} {
			ada.call("POST", "/user/factors/totp/confirm", object{"code": code}).WantInvalid("code")
		}
		code := factortest.Code(t, secret, s.Now())
		codes, _ := ada.call("POST", "/user/factors/totp/confirm", object{"code": code}).Want(200).At("data.recovery_codes").([]any)
		if len(codes) != 10 {
			t.Fatalf("the recovery codes are %v", codes)
		}
		ada.secret = secret
		ada.keep(codes)
		ada.call("POST", "/user/factors/totp/confirm", object{"code": factortest.Code(t, secret, s.Now().Add(step))}).WantInvalid("code")
		state := ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.mfa_enabled", true).WantAt("data.recovery_codes.remaining", 10.0).WantAt("data.totp.last_used_at", nil)
		state.TimeAt("data.totp.created_at")
		if strings.Contains(state.Text, secret) || strings.Contains(state.Text, ada.codes[0]) {
			t.Error("a secret is shown again")
		}
		ada.call("POST", "/user/factors/totp", object{"current_password": password}).WantInvalid("code")
		ada.call("POST", "/user/factors/totp", object{"current_password": password, "code": code}).WantInvalid("code") // used for the enrollment
		ada.call("POST", "/user/factors/totp", ada.confirmed(nil)).WantRefused(409, "TOTP_ALREADY_ENABLED")
		ada.call("DELETE", "/user/factors/totp", object{"current_password": password, "code": ada.codes[0]}).Want(204)
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.mfa_enabled", false).WantAt("data.recovery_codes", nil)
		ada.login(nil).Want(200)
		checkTrail(t, ada, "factor.added", "recovery_code.used", "factor.removed")
	})
}

// checkTrail checks that the trail of the user's tenant has each action once, without secrets.
func checkTrail(t *testing.T, p *person, actions ...string) {
	t.Helper()
	for _, action := range actions {
		a := p.s.Call("GET", p.Path("/audit-logs?filter[action]="+action), p.Token, nil).Want(200)
		if list, _ := a.At("data").([]any); len(list) != 1 {
			t.Errorf("%s: %s", action, a.Text)
		}
		for _, secret := range append(p.codes, p.secret) {
			if secret != "" && strings.Contains(a.Text, secret) {
				t.Errorf("the audit log contains the secret %s", secret)
			}
		}
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		old := ada.codes
		codes, _ := ada.call("POST", "/user/recovery-codes", ada.confirmed(nil)).Want(200).At("data.recovery_codes").([]any)
		ada.codes = nil
		ada.keep(codes)
		complete(s, ada.challenge(), "recovery_code", old[0]).WantRefused(401, "INVALID_MFA_CODE")
		lower := strings.ToLower(strings.ReplaceAll(ada.codes[0], "-", " "))
		complete(s, ada.challenge(), "recovery_code", lower).Want(200)
		complete(s, ada.challenge(), "recovery_code", ada.codes[0]).WantRefused(401, "INVALID_MFA_CODE")
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.recovery_codes.remaining", 9.0)
		for _, code := range ada.codes[1:8] {
			complete(s, ada.challenge(), "recovery_code", code).Want(200)
		}
		apptest.Eventually(t, "a mail about few codes", func() bool { return hasMail(s, ada.email, "Few recovery codes left: 2") })
		for _, code := range ada.codes[8:] {
			complete(s, ada.challenge(), "recovery_code", code).Want(200)
		}
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.recovery_codes.remaining", 0.0)
		ada.login(nil).Want(403).WantAt("factors", []any{"totp"})
		a := ada.login(nil).Want(403)
		if left := a.TimeAt("expires_at").Sub(s.Now()); left < 4*time.Minute || left > 5*time.Minute {
			t.Errorf("the challenge lives for %v", left)
		}
		for _, subject := range []string{"A second factor was added to your account", "New recovery codes were generated"} {
			apptest.Eventually(t, subject, func() bool { return hasMail(s, ada.email, subject) })
		}
		for _, m := range s.Mails(ada.email) {
			for _, code := range append(ada.codes, ada.secret) {
				if strings.Contains(m["text"].(string), code) {
					t.Errorf("a mail has the secret %s", code)
				}
			}
		}
	})
}

func hasMail(s *apptest.Server, to, subject string) bool {
	s.T.Helper()
	for _, m := range s.Mails(to) {
		if m["subject"] == subject {
			return true
		}
	}
	return false
}

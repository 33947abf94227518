package sso_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

// After single sign-on, a user with a second factor must pass it, unless the login counts as a
// second factor. The methods of the login include single sign-on.
func TestSecondFactors(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		_, bob := s.Join(ada, "Bob", "bob@"+corp, "member")
		apptest.Exec(t, s.DB(), "UPDATE users SET mfa_enabled = true WHERE id = $1", bob)
		apptest.Exec(t, s.DB(), `INSERT INTO passkeys (id, user_id, name, credential_id, record, created_at)
			SELECT $1, id, 'Key', 'x', '{}', created_at FROM users WHERE id = $2`, apptest.NoSuchID, bob)
		exchange(s, signOn(s, id, as("bob@"+corp)).Get("code")).WantRefused(403, "MFA_REQUIRED")
		connection := s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200)
		if connection.At("data.last_login_at") != nil {
			t.Error("a login that waits for a factor counts as a login")
		}
		connect(s, ada, object{"counts_as_mfa": true})
		exchange(s, signOn(s, id, as("bob@"+corp)).Get("code")).Want(200)
		if n := s.CountRows("SELECT count(*) FROM credentials WHERE user_id = $1 AND methods = 'sso' AND mfa_passed", bob); n != 2 {
			t.Errorf("%d credentials", n)
		}

		// Such a login also satisfies the tenant's requirement if the user lacks a factor.
		s.Join(ada, "Carol", "carol@"+corp, "member")
		apptest.Exec(t, s.DB(), "UPDATE tenants SET require_mfa_from = created_at WHERE id = $1", ada.Tenant)
		s.Call("GET", ada.Path("/usage"), s.LogIn("carol@"+corp), nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		carol := enter(s, id, as("carol@"+corp)).Str("accessToken")
		s.Call("GET", ada.Path("/usage"), carol, nil).Want(200)
	})
}

// A login that waits for a second factor ends with its connection.
func TestChallengesEndWithTheConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		_, bob := s.Join(ada, "Bob", "bob@"+corp, "member")
		apptest.Exec(t, s.DB(), "UPDATE users SET mfa_enabled = true WHERE id = $1", bob)
		apptest.Exec(t, s.DB(), `INSERT INTO passkeys (id, user_id, name, credential_id, record, created_at)
			SELECT $1, id, 'Key', 'x', '{}', created_at FROM users WHERE id = $2`, apptest.NoSuchID, bob)
		challenge := exchange(s, signOn(s, id, as("bob@"+corp)).Get("code")).Want(403).Str("challenge")
		attempt := object{"challenge": challenge, "recovery_code": "00000-00000"}
		s.Call("POST", "/api/v1/auth/mfa", "", attempt).WantRefused(401, "INVALID_MFA_CODE")
		s.Call("DELETE", ada.Path("/sso"), ada.Token, nil).Want(204)
		s.Call("POST", "/api/v1/auth/mfa", "", attempt).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
	})
}

// A member whose single sign-on does not count as a second factor loses access to a tenant that
// requires one with the last factor. Neither adding the factor nor passing it makes the login count.
func TestLastFactorAfterSingleSignOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp, object{"provision_members": true})
		apptest.Exec(t, s.DB(), "UPDATE tenants SET require_mfa_from = created_at WHERE id = $1", ada.Tenant)
		first := enter(s, id, as("bob@"+corp)).Str("accessToken")
		codes := addAuthenticator(s, first)
		s.Call("GET", ada.Path("/usage"), first, nil).Want(200)
		if got := methods(s, first); !slices.Equal(got, []string{"sso"}) {
			t.Errorf("adding a factor counts as passing it: %v", got)
		}
		challenge := exchange(s, signOn(s, id, as("bob@"+corp)).Get("code")).Want(403).WantAt("code", "MFA_REQUIRED").Str("challenge")
		second := s.Call("POST", "/api/v1/auth/mfa", "", object{"challenge": challenge, "recovery_code": codes[0]}).Want(200).Str("accessToken")
		if got := methods(s, second); !slices.Equal(got, []string{"sso", "recovery_code", "mfa"}) {
			t.Errorf("methods %v", got)
		}
		s.Call("DELETE", "/api/v1/user/factors/totp", second, object{"code": codes[1]}).Want(204)
		for _, token := range []string{first, second} {
			s.Call("GET", ada.Path("/usage"), token, nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		}
	})
}

// addAuthenticator adds an authenticator app to an account without a password, and returns the
// recovery codes.
func addAuthenticator(s *apptest.Server, token string) []any {
	s.T.Helper()
	secret := s.Call("POST", "/api/v1/user/factors/totp", token, nil).Want(201).Str("data.secret")
	s.Advance(30 * time.Second)
	code := factortest.Code(s.T, secret, s.Now())
	return s.Call("POST", "/api/v1/user/factors/totp/confirm", token, object{"code": code}).Want(200).At("data.recovery_codes").([]any)
}

// methods returns the methods of a login in a token for backends.
func methods(s *apptest.Server, token string) []string {
	s.T.Helper()
	_, claims, _ := strings.Cut(s.Call("POST", "/api/v1/auth/token", token, nil).Want(200).Str("data.token"), ".")
	claims, _, _ = strings.Cut(claims, ".")
	text, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil {
		s.T.Fatal(err)
	}
	var read struct {
		AMR []string `json:"amr"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		s.T.Fatal(err)
	}
	return read.AMR
}

package sso_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
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

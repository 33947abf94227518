package blackbox_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

func TestPasskeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := &person{Owner: s.Register("ada@example.com", true), s: s, email: "ada@example.com"}
		ada.call("POST", "/user/passkeys/options", nil).WantRefused(403, "EMAIL_NOT_VERIFIED")
		verify(s, ada.email)
		ada.call("POST", "/user/passkeys/options", nil).WantInvalid("current_password")
		o := ada.call("POST", "/user/passkeys/options", ada.confirmed(nil)).Want(200)
		options := o.At("data.options").(object)
		handle, err := base64.RawURLEncoding.DecodeString(o.Str("data.options.user.id"))
		if err != nil || len(handle) < 16 || len(handle) > 64 {
			t.Errorf("the user handle is %v", o.At("data.options.user.id"))
		}
		for path, want := range map[string]any{
			"rp": object{"name": "Tenantry", "id": "localhost"}, "user.name": "ada@example.com", "excludeCredentials": []any{},
			"authenticatorSelection": object{"residentKey": "preferred", "userVerification": "preferred"}, "attestation": "none", "timeout": 300000.0,
			"pubKeyCredParams": []any{object{"type": "public-key", "alg": -7.0}, object{"type": "public-key", "alg": -8.0}, object{"type": "public-key", "alg": -257.0}},
		} {
			if diff := cmp.Diff(want, (apptest.Reply{T: t, Body: options}).At(path)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
		key := factortest.New(t, s.URL)
		key.Synced = true
		add := func(challenge, name string, credential object) apptest.Reply {
			return ada.call("POST", "/user/passkeys", object{"challenge_id": challenge, "name": name, "credential": credential})
		}
		challenge, credential := o.Str("data.challenge_id"), key.Register(options)
		ada.call("POST", "/user/passkeys", object{}).WantInvalid("challenge_id", "name", "credential")
		add(apptest.NoSuchID, "MacBook", credential).WantInvalid("credential")
		add("none", "MacBook", credential).WantInvalid("credential")
		add(challenge, "MacBook", object{"id": "x"}).WantInvalid("credential")
		elsewhere := factortest.New(t, "https://evil.example")
		add(challenge, "MacBook", elsewhere.Register(options)).WantInvalid("credential")
		eve := register(s, "eve@example.com")
		eve.call("POST", "/user/passkeys", object{"challenge_id": challenge, "name": "X", "credential": credential}).WantInvalid("credential")
		added := add(challenge, "MacBook", credential).Want(201).WantAt("data.name", "MacBook").WantAt("data.synced", true).WantAt("data.last_used_at", nil)
		codes, _ := added.At("recovery_codes").([]any)
		if len(codes) != 10 {
			t.Errorf("the recovery codes are %v", codes)
		}
		ada.keep(codes)
		add(challenge, "MacBook", credential).WantInvalid("credential") // used

		confirm := object{"current_password": password, "assertion": ada.assertion(key)}
		again := ada.call("POST", "/user/passkeys/options", confirm).Want(200)
		if again.Str("data.options.user.id") != o.Str("data.options.user.id") || again.Str("data.options.excludeCredentials.0.id") != credential["id"] {
			t.Errorf("the second options are %s", again.Text)
		}
		ada.call("POST", "/user/passkeys/options", confirm).WantInvalid("assertion") // used
		add(again.Str("data.challenge_id"), "Twice", key.Register(again.At("data.options").(object))).WantInvalid("credential")
		ids := ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.mfa_enabled", true)
		ids.TimeAt("data.passkeys.0.last_used_at")
		path := "/user/passkeys/" + added.Str("data.id")
		ada.call("PATCH", path, object{"name": ""}).WantInvalid("name")
		ada.call("PATCH", path, object{"name": "Office"}).Want(200).WantAt("data.name", "Office")
		eve.call("PATCH", path, object{"name": ""}).WantRefused(404, "")
		eve.call("DELETE", path, eve.confirmed(nil)).WantRefused(404, "")
		ada.call("DELETE", path, object{"current_password": password}).WantInvalid("code")
		ada.call("DELETE", path, object{"current_password": password, "code": ada.codes[0]}).Want(204)
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.mfa_enabled", false).WantAt("data.recovery_codes", nil).WantAt("data.passkeys", []any{})
		checkTrail(t, ada, "factor.added", "factor.renamed", "factor.removed")
	})
}

// Every offered algorithm works, and the challenge of one ceremony does not work for another.
func TestPasskeyAlgorithmsAndChallenges(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		for _, algorithm := range []int{factortest.ES256, factortest.EdDSA, factortest.RS256} {
			key := factortest.NewWith(t, s.URL, algorithm)
			a := ada.addKey(key, "key").Want(201)
			if a.At("recovery_codes") != nil {
				t.Errorf("more recovery codes: %s", a.Text)
			}
			passkeyLogin(s, key).Want(200)
		}
		key := ada.addPasskey("key")
		o := ada.call("POST", "/user/passkeys/assertion-options", nil).Want(200)
		if list, _ := o.At("data.options.allowCredentials").([]any); len(list) != 4 || o.At("data.options.rpId") != "localhost" || o.At("data.options.userVerification") != "preferred" {
			t.Errorf("the options are %s", o.Text)
		}
		s.Call("POST", "/api/v1/auth/passkey", "", object{"challenge_id": o.Str("data.challenge_id"), "credential": key.Assert(o.At("data.options").(object))}).
			WantRefused(401, "INVALID_CREDENTIALS")
		l := s.Call("POST", "/api/v1/auth/passkey/options", "", nil).Want(200)
		body := object{"challenge_id": l.Str("data.challenge_id"), "credential": key.Assert(l.At("data.options").(object))}
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "assertion": body}).WantInvalid("assertion")
		s.Call("POST", "/api/v1/auth/passkey", "", body).Want(200)
		s.Call("POST", "/api/v1/auth/passkey", "", body).WantRefused(401, "INVALID_CREDENTIALS") // used
		expired := ada.assertion(key)
		s.Advance(5*60*1e9 + 1)
		ada.Token = complete(s, ada.challenge(), "code", ada.code()).Want(200).Str("accessToken")
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "assertion": expired}).WantInvalid("assertion")
	})
}

// A sign counter that does not grow means that the passkey was cloned.
func TestClonedPasskeyIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		key := factortest.New(t, s.URL)
		key.Counter = 5
		ada.addKey(key, "key").Want(201)
		clone := *key
		passkeyLogin(s, key).Want(200)
		passkeyLogin(s, &clone).WantRefused(401, "INVALID_CREDENTIALS")
		passkeyLogin(s, key).Want(200)
	})
}

func TestAtMostTwentyPasskeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		key := ada.addPasskey("1")
		bodies := make([]object, 21)
		for i := range bodies {
			o := ada.call("POST", "/user/passkeys/options", object{"current_password": password, "assertion": ada.assertion(key)}).Want(200)
			bodies[i] = object{"challenge_id": o.Str("data.challenge_id"), "name": "key", "credential": factortest.New(t, s.URL).Register(o.At("data.options").(object))}
		}
		created, refused := race(len(bodies), func(i int) int { return ada.call("POST", "/user/passkeys", bodies[i]).Status })
		if created[201] != 19 || created[422] != 2 {
			t.Errorf("%v %v", created, refused)
		}
		o := ada.call("POST", "/user/passkeys/options", object{"current_password": password, "assertion": ada.assertion(key)}).Want(200)
		ada.call("POST", "/user/passkeys", object{
			"challenge_id": o.Str("data.challenge_id"), "name": "22", "credential": factortest.New(t, s.URL).Register(o.At("data.options").(object)),
		}).WantInvalid("name")
	})
}

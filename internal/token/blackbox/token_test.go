package token_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

const (
	tokenPath = "/api/v1/auth/token"
	keysPath  = "/.well-known/jwks.json"
)

// keySet returns the published keys.
func keySet(s *apptest.Server) jose.JSONWebKeySet {
	s.T.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(s.Call("GET", keysPath, "", nil).Want(200).Text), &set); err != nil {
		s.T.Fatal(err)
	}
	return set
}

// verify checks the signature of a token against the published keys. It returns the claims and the
// ID of the key.
func verify(s *apptest.Server, token string) (claims object, keyID string) {
	s.T.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		s.T.Fatal(err)
	}
	if err := parsed.Claims(keySet(s), &claims); err != nil {
		s.T.Fatal(err)
	}
	return claims, parsed.Headers[0].KeyID
}

// claimsOf returns the claims of a new token for a caller.
func claimsOf(s *apptest.Server, caller string) object {
	s.T.Helper()
	claims, _ := verify(s, s.Call("POST", tokenPath, caller, nil).Want(200).Str("data.token"))
	return claims
}

// without returns claims without some of them.
func without(claims object, names ...string) object {
	claims = maps.Clone(claims)
	maps.DeleteFunc(claims, func(name string, _ any) bool { return slices.Contains(names, name) })
	return claims
}

func TestClaims(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		id := strconv.FormatInt(s.UserID(ada.Token), 10)
		issued := s.Call("POST", tokenPath, ada.Token, nil).Want(200)
		claims, _ := verify(s, issued.Str("data.token"))
		features := object{}
		for _, row := range s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).At("data").([]any) {
			row := row.(object)
			if features[row["key"].(string)] = any(true); row["limit"] != nil {
				features[row["key"].(string)] = row["limit"]
			}
		}
		if len(features) < 2 {
			t.Fatalf("the plan has only the features %v", features)
		}
		me := s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200)
		tenant := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)
		want := object{
			"iss": s.URL, "aud": s.URL, "sub": id, "tid": ada.Tenant, "tenant_name": me.At("currentTenant.name"), "role": "owner",
			"permissions": tenant.At("data.user_permissions"), "plan": "starter", "features": features, "amr": []any{"pwd"},
			"sid": s.Call("GET", "/api/v1/user/sessions", ada.Token, nil).Want(200).At("data.0.id"),
		}
		if diff := cmp.Diff(want, without(claims, "iat", "exp")); diff != "" {
			t.Error(diff)
		}
		iat, exp := claims["iat"].(float64), claims["exp"].(float64)
		if at := issued.TimeAt("data.expires_at"); exp-iat != 300 || float64(at.Unix()) != exp || at.Nanosecond() != 0 {
			t.Errorf("from %v to %v, which is %v", iat, exp, at)
		}
		if age := float64(clock.System().Now().Unix()) - iat; math.Abs(age) > 60 {
			t.Errorf("the token is %v seconds old", age)
		}

		// A member has the role's permissions.
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		if claims := claimsOf(s, bob); claims["role"] != "member" || claims["sub"] == id || len(claims["permissions"].([]any)) >= len(want["permissions"].([]any)) {
			t.Errorf("a member: %v", claims)
		}
		// A change takes effect with the next token.
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/api-calls", s.Admin(), object{"type": "quota", "value": 12345, "reason": "Pilot"}).Want(200)
		if features := claimsOf(s, bob)["features"].(object); features["api-calls"] != 12345.0 {
			t.Errorf("after an override: %v", features)
		}
	})
}

// Without a tenant, the claims about it are null or empty. Onboarding is not required.
func TestClaimsWithoutTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		alone := claimsOf(s, s.RegisterAlone("Eve", "eve@example.com"))
		want := object{"tid": nil, "tenant_name": nil, "role": nil, "permissions": []any{}, "plan": nil, "features": object{}, "amr": []any{"pwd"}}
		if diff := cmp.Diff(want, without(alone, "iss", "aud", "sub", "sid", "iat", "exp")); diff != "" {
			t.Error(diff)
		}
		fresh := s.Register("fresh@example.com", false)
		if claims := claimsOf(s, fresh.Token); claims["tid"] != fresh.Tenant || claims["role"] != "owner" {
			t.Errorf("before the onboarding: %v", claims)
		}
	}, func(s *settings.Settings) { s.DemoDefaultPlan = "" })
}

func TestAudience(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		if claims := claimsOf(s, s.RegisterAlone("Eve", "eve@example.com")); claims["aud"] != "shop" || claims["iss"] != s.URL {
			t.Errorf("claims: %v", claims)
		}
	}, func(s *settings.Settings) { s.TokenAudience = "shop" })
}

func TestTenantOfToken(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		mine, other := s.Register("mine@example.com", true), s.Register("other@example.com", true)
		for _, body := range []any{nil, "", object{}, object{"tenant_id": nil}, object{"tenant_id": ""}, object{"tenant_id": mine.Tenant}, object{"tenant_id": strings.ToUpper(mine.Tenant)}} {
			s.Call("POST", tokenPath, mine.Token, body).Want(200)
		}
		alone := s.RegisterAlone("Eve", "eve@example.com")
		s.Call("POST", tokenPath, alone, object{"tenant_id": nil}).Want(200)
		s.Call("POST", tokenPath, alone, object{"tenant_id": mine.Tenant}).WantInvalid("tenant_id")
		for _, wrong := range []any{other.Tenant, apptest.NoSuchID, "x", 1, true, []any{mine.Tenant}} {
			s.Call("POST", tokenPath, mine.Token, object{"tenant_id": wrong}).WantInvalid("tenant_id")
		}
	})
}

// Users can request a token with an access token or a session. API keys cannot.
func TestCallersOfTokens(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Call("POST", tokenPath, "", nil).WantRefused(401, "")
		for _, path := range []string{ada.Path("/api-keys"), "/api/v1/admin/api-keys"} {
			caller := ada.Token
			if strings.Contains(path, "admin") {
				caller = s.Admin()
			}
			key := s.Call("POST", path, caller, object{"name": "Backend", "scopes": []any{"entitlements.read"}}).Want(201).Str("data.secret")
			s.Call("POST", tokenPath, key, nil).WantRefused(403, "insufficient_scope")
			s.Call("POST", tokenPath, key, object{"tenant_id": 1}).WantRefused(403, "insufficient_scope")
		}
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		f.Fetch("POST", tokenPath, "", nil).Want(419)
		claims, _ := verify(s, f.Send("POST", tokenPath, nil).Want(200).Str("data.token"))
		if sessions := f.Fetch("GET", "/api/v1/user/sessions", "", nil).Want(200); !slices.Contains(sessions.Column("id"), claims["sid"]) {
			t.Errorf("session %v is not in %s", claims["sid"], sessions.Text)
		}
	})
}

// A token for backends is not a credential of the service itself, even if it describes a platform
// admin.
func TestTokenIsNoCredential(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		token := s.Call("POST", tokenPath, ada.Token, nil).Want(200).Str("data.token")
		s.WantNoCredential(ada.Tenant, token)
		s.Refresh(token).WantRefused(401, "INVALID_REFRESH_TOKEN")
		s.Refresh(strings.Repeat("x", 65)).WantInvalid("refresh_token")
		admin := s.Call("POST", tokenPath, s.Admin(), nil).Want(200).Str("data.token")
		s.Call("GET", "/api/v1/admin/tenants", admin, nil).WantRefused(401, "")
		s.Refresh(admin).WantRefused(401, "INVALID_REFRESH_TOKEN")
	})
}

// A refresh keeps the methods and the ID of the login.
func TestMethods(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		login := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
		first := claimsOf(s, login.Str("accessToken"))
		apptest.Exec(t, s.DB(), "UPDATE credentials SET methods = 'oauth otp', mfa_passed = true WHERE user_id = $1", s.UserID(login.Str("accessToken")))
		later := claimsOf(s, s.Refresh(login.Str("refreshToken")).Want(200).Str("accessToken"))
		if got := later["amr"]; !cmp.Equal(got, []any{"oauth", "otp", "mfa"}) || later["sid"] != first["sid"] {
			t.Errorf("amr %v, sid %v, was %v", got, later["sid"], first["sid"])
		}
	})
}

// While impersonating, a token describes the target and names the admin. It ends with the
// impersonation.
func TestTokenOfImpersonation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		admin := s.Admin()
		own := claimsOf(s, admin)
		target := claimsOf(s, ada.Token)
		s.Impersonate(admin, ada).Want(200)
		claims := claimsOf(s, admin)
		same := []string{"act", "sid", "iat", "exp"}
		if diff := cmp.Diff(without(target, same...), without(claims, same...)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(any(object{"sub": own["sub"]}), claims["act"]); diff != "" || target["act"] != nil || claims["exp"].(float64)-claims["iat"].(float64) != 300 {
			t.Errorf("%v\n%s", claims, diff)
		}
		s.Advance(58 * time.Minute) // the impersonation ends in two minutes
		claims = claimsOf(s, admin)
		if left := claims["exp"].(float64) - claims["iat"].(float64); left > 120 || left < 60 {
			t.Errorf("the token ends in %v seconds", left)
		}
	})
}

// If a tenant requires a second factor, members without a second factor cannot use the route.
func TestRequiredFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		apptest.Exec(t, s.DB(), "UPDATE tenants SET require_mfa_from = $1 WHERE id = $2", s.Now().Add(-time.Hour), ada.Tenant)
		s.Call("POST", tokenPath, ada.Token, nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		s.Call("POST", tokenPath, other.Token, nil).Want(200)
		s.Call("POST", tokenPath, s.RegisterAlone("Eve", "eve@example.com"), nil).Want(200)
		admin := s.Admin()
		s.Impersonate(admin, ada).Want(200)
		s.Call("POST", tokenPath, admin, nil).Want(200)
	})
}

package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// fakeRig returns a rig with a fake provider on SQLite only, because a provider's response is
// checked before the database is queried.
func fakeRig(t *testing.T, kind func(*fakeOIDC) func(string) []oauth.Provider) (*fakeOIDC, *rig) {
	t.Helper()
	f := newFakeOIDC(t)
	return f, newRig(t, dbtest.New(t, sqldb.SQLite), clock.NewFixed(fakeNow), kind(f))
}

func plain(f *fakeOIDC) func(string) []oauth.Provider { return f.provider }
func entra(f *fakeOIDC) func(string) []oauth.Provider { return f.entra }

var verified = map[string]any{"email": "ada@example.com", "email_verified": true}

// and adds claims to the claims of a user with a verified email.
func and(claims map[string]any) map[string]any {
	all := map[string]any{"email": "ada@example.com", "email_verified": true}
	for k, v := range claims {
		all[k] = v
	}
	return all
}

func TestOAuthIDTokensThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	f, r := fakeRig(t, plain)
	for name, claims := range map[string]map[string]any{
		"another issuer":      {"iss": "https://evil.test"},
		"another audience":    {"aud": "somebody else"},
		"made for another":    {"aud": []string{"tenantry", "other"}, "azp": "other"},
		"without an audience": {"aud": []string{"tenantry", "other"}},
		"expired":             {"exp": fakeNow.Unix() - 1},
		"without an end":      {"exp": nil},
		"another nonce":       {"nonce": "another"},
		"no nonce":            {"nonce": nil},
		"no subject":          {"sub": nil},
		"an odd subject":      {"sub": "1\x00"},
		"another's at_hash":   {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
		"claims of odd types": {"email": 5},
	} {
		if got := f.login(r.browser(), and(claims)); got.Get("error") != "provider_error" {
			t.Errorf("%s: redirected with %v, want provider_error", name, got)
		}
	}
	good := f.signer
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, signer := range map[string]jose.SigningKey{
		"another key":          {Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: other, KeyID: "1"}},
		"another key, unknown": {Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: other, KeyID: "2"}},
		"the client secret":    {Algorithm: jose.HS256, Key: []byte(strings.Repeat("hush", 8))},
	} {
		f.mu.Lock()
		f.signer = signer
		f.mu.Unlock()
		if got := f.login(r.browser(), verified); got.Get("error") != "provider_error" {
			t.Errorf("signed with %s: redirected with %v, want provider_error", name, got)
		}
	}
	f.mu.Lock()
	f.signer = good
	f.mu.Unlock()
	for name, token := range map[string]func(w http.ResponseWriter) bool{
		"a refusal":   func(w http.ResponseWriter) bool { http.Error(w, `{"error":"invalid_grant"}`, 400); return true },
		"no ID token": func(w http.ResponseWriter) bool { _, _ = w.Write([]byte(`{"access_token":"x"}`)); return true },
		"no JSON":     func(w http.ResponseWriter) bool { _, _ = w.Write([]byte(`<html>`)); return true },
		"a flood": func(w http.ResponseWriter) bool {
			_, _ = w.Write([]byte(`{"access_token":"` + strings.Repeat("x", 2<<20)))
			return true
		},
		"elsewhere": func(w http.ResponseWriter) bool {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		},
	} {
		f.mu.Lock()
		f.token = token
		f.mu.Unlock()
		if got := f.login(r.browser(), verified); got.Get("error") != "provider_error" {
			t.Errorf("token response %s: redirected with %v, want provider_error", name, got)
		}
	}
	if f.asked["/elsewhere"] > 0 {
		t.Error("the client secret was sent elsewhere")
	}
	if n := r.count(`SELECT count(*) FROM users`); n != 0 {
		t.Errorf("%d users", n)
	}
}

// The token request proves that it comes from the client that started the login.
func TestOAuthTokenRequest(t *testing.T) {
	t.Parallel()
	f, r := fakeRig(t, plain)
	if got := f.login(r.browser(), verified); got.Get("code") == "" {
		t.Fatalf("redirected with %v, want a code", got)
	}
	if len(f.form.Get("code_verifier")) < 43 || f.form.Get("client_secret") != "hush" || f.form.Get("code") != "fake-code" ||
		f.form.Get("redirect_uri") != r.url+oauth.Path+"fake/callback" {
		t.Errorf("the token request is %v", f.form)
	}
}

func TestOAuthClaims(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims, userInfo map[string]any
		want             string // an error code, or the user's name and picture
	}{
		"in the ID token":     {and(map[string]any{"name": "Ada", "picture": "https://pics.test/1"}), nil, "Ada https://pics.test/1"},
		"in the user info":    {nil, map[string]any{"sub": "1", "email": "ada@example.com", "email_verified": true, "name": "Ada", "picture": "https://pics.test/2"}, "Ada https://pics.test/2"},
		"true as a text":      {and(map[string]any{"email_verified": "true"}), nil, "ada "},
		"not verified":        {and(map[string]any{"email_verified": false}), nil, "email_unverified"},
		"nothing said":        {and(map[string]any{"email_verified": nil}), nil, "email_unverified"},
		"no email anywhere":   {nil, map[string]any{"sub": "1"}, "email_unverified"},
		"verified elsewhere":  {map[string]any{"email_verified": true}, map[string]any{"sub": "1", "email": "ada@example.com"}, "email_unverified"},
		"another's user info": {nil, map[string]any{"sub": "2", "email": "ada@example.com", "email_verified": true}, "provider_error"},
		"several audiences":   {and(map[string]any{"aud": []string{"tenantry", "other"}, "azp": "tenantry"}), nil, "ada "},
		"a picture inline":    {and(map[string]any{"picture": "data:image/png;base64,AAAA"}), nil, "ada "},
		"a picture from disk": {and(map[string]any{"picture": "file:///etc/passwd"}), nil, "ada "},
		"an endless picture":  {and(map[string]any{"picture": "https://pics.test/" + strings.Repeat("x", 2048)}), nil, "ada "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, r := fakeRig(t, plain)
			f.userInfo = c.userInfo
			told := f.login(r.browser(), c.claims)
			got := told.Get("error")
			if got == "" {
				user := r.exchange(told.Get("code")).session(t).User
				got = user.Name + " " + r.pictures.urls[user.ID]
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Linking an identity imports the picture. Later logins do not.
func TestOAuthLinkImportsThePicture(t *testing.T) {
	t.Parallel()
	dbEach(t, func(t *testing.T, f *fakeOIDC, r *rig) {
		user, _ := r.registered(t, "ada@example.com")
		f.login(r.browser(), and(map[string]any{"picture": "https://pics.test/1"}))
		f.login(r.browser(), and(map[string]any{"picture": "https://pics.test/2"}))
		if !cmp.Equal(r.pictures.urls, map[int64]string{user.ID: "https://pics.test/1"}) {
			t.Errorf("%v", r.pictures.urls)
		}
	})
}

// Concurrent callbacks of one identity with different emails create one user.
func TestOAuthIdentityHasOneUser(t *testing.T) {
	t.Parallel()
	dbEach(t, func(t *testing.T, _ *fakeOIDC, r *rig) {
		codes := atOnce(8, func(i int) string {
			code, err := r.oauth.Admit(t.Context(), "fake", "1", string(rune('a'+i))+"@example.com")
			if err != nil {
				t.Error(err)
			}
			return code
		})
		users := map[int64]bool{}
		for _, code := range codes {
			users[r.exchange(code).session(t).User.ID] = true
		}
		if len(users) != 1 || r.count(`SELECT count(*) FROM users`) != 1 || r.count(`SELECT count(*) FROM tenants`) != 1 {
			t.Errorf("%v of %d users", users, r.count(`SELECT count(*) FROM users`))
		}
	})
}

// If a provider is down, the browser is redirected with an error. Once it is up, logins work, and
// its discovery document is read once.
func TestOAuthProviderThatIsDown(t *testing.T) {
	t.Parallel()
	f, r := fakeRig(t, plain)
	f.down = true
	got := r.browser().get(r.url + oauth.Path + "fake/redirect")
	if got.status != 302 || got.location != oauthFrontend+"/oauth/callback?error=provider_error" || got.header.Get("Set-Cookie") != "" {
		t.Errorf("%d %s", got.status, got.location)
	}
	if log := r.log.String(); !strings.Contains(log, `"level":"WARN","msg":"delegated login failed","provider":"fake","reason":"provider_error"`) {
		t.Errorf("the log has %s", log)
	}
	f.mu.Lock()
	f.down = false
	f.asked = map[string]int{}
	f.mu.Unlock()
	for range 3 {
		if told := f.login(r.browser(), verified); told.Get("code") == "" {
			t.Errorf("redirected with %v, want a code", told)
		}
	}
	if n := f.asked["/.well-known/openid-configuration"]; n != 1 {
		t.Errorf("discovery was read %d times", n)
	}
	f.mu.Lock()
	f.down = true
	f.mu.Unlock()
	if told := f.login(r.browser(), verified); told.Get("error") != "provider_error" {
		t.Errorf("redirected with %v, want provider_error", told)
	}
}

func TestOAuthMicrosoft(t *testing.T) {
	t.Parallel()
	const (
		work     = "11111111-2222-4333-8444-555555555555"
		other    = "99999999-2222-4333-8444-555555555555"
		personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
	)
	for name, c := range map[string]struct {
		tenant string
		claims map[string]any
		want   string
	}{
		"domain owner known":           {work, map[string]any{"xms_edov": true}, ""},
		"as a number":                  {work, map[string]any{"xms_edov": "1"}, ""},
		"domain owner unknown":         {work, map[string]any{"xms_edov": false}, "email_unverified"},
		"without the claim":            {work, nil, "email_unverified"},
		"email_verified alone":         {work, map[string]any{"email_verified": true}, "email_unverified"},
		"personal account":             {personal, nil, ""},
		"another tenant's issuer":      {work, map[string]any{"xms_edov": true, "tid": other}, "provider_error"},
		"personal by its own word":     {work, map[string]any{"tid": personal}, "provider_error"},
		"no tenant":                    {work, map[string]any{"xms_edov": true, "tid": nil}, "provider_error"},
		"an invalid tenant ID":         {"common", map[string]any{"xms_edov": true}, "provider_error"},
		"the place of the tenant's id": {"{tenantid}", map[string]any{"xms_edov": true}, "provider_error"},
		"not Microsoft":                {work, map[string]any{"xms_edov": true, "iss": "https://evil.test/" + work + "/v2.0"}, "provider_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, r := fakeRig(t, entra)
			claims := map[string]any{"iss": f.url + "/" + c.tenant + "/v2.0", "tid": c.tenant, "email": "ada@example.com"}
			for k, v := range c.claims {
				claims[k] = v
			}
			if got := f.login(r.browser(), claims).Get("error"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if n := r.count(`SELECT count(*) FROM oauth_identities WHERE subject = $1`, c.tenant+"/1"); (n == 1) != (c.want == "") {
				t.Errorf("%d identities", n)
			}
		})
	}
}

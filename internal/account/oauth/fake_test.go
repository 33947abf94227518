package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// fakeOIDC is a provider whose responses a test controls.
type fakeOIDC struct {
	t      *testing.T
	url    string
	key    *ecdsa.PrivateKey
	signer jose.SigningKey // with the key, unless a test replaces it

	mu       sync.Mutex
	claims   map[string]any // of the next ID token; they override the valid claims
	userInfo map[string]any
	down     bool
	token    func(w http.ResponseWriter) bool // handles the token request if it returns true
	form     url.Values                       // the last token request
	asked    map[string]int                   // requests by path
}

func newFakeOIDC(t *testing.T) *fakeOIDC {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeOIDC{t: t, key: key, asked: map[string]int{}, signer: jose.SigningKey{
		Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"},
	}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fakeOIDC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.URL.Path]++
	if f.down {
		http.Error(w, "secret: out of order", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration", "/common/v2.0/.well-known/openid-configuration":
		answer = map[string]any{
			"issuer": f.url, "authorization_endpoint": f.url + "/authorize", "token_endpoint": f.url + "/token",
			"jwks_uri": f.url + "/jwks", "userinfo_endpoint": f.url + "/userinfo",
			"id_token_signing_alg_values_supported": []string{"ES256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		}
	case "/jwks":
		answer = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: f.key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}}
	case "/token":
		_ = r.ParseForm()
		f.form = r.PostForm
		if f.token != nil && f.token(w) {
			return
		}
		answer = map[string]any{"access_token": "fake-access", "token_type": "Bearer", "id_token": f.idToken()}
	case "/userinfo":
		if r.Header.Get("Authorization") != "Bearer fake-access" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		answer = f.userInfo
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *fakeOIDC) idToken() string {
	signer, err := jose.NewSigner(f.signer, nil)
	if err != nil {
		f.t.Error(err)
		return ""
	}
	token, err := jwt.Signed(signer).Claims(f.claims).Serialize()
	if err != nil {
		f.t.Error(err)
	}
	return token
}

// fakeNow is the time of the tests with a fake provider.
var fakeNow = time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)

// login performs a login. claims override the valid claims of the provider's ID token, and nil
// removes a claim.
func (f *fakeOIDC) login(b *browser, claims map[string]any) url.Values {
	f.t.Helper()
	to, err := url.Parse(b.start("fake"))
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[string]any{
		"iss": f.url, "aud": "tenantry", "nonce": to.Query().Get("nonce"), "sub": "1",
		"iat": fakeNow.Unix(), "exp": fakeNow.Add(time.Minute).Unix(),
	}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	f.mu.Lock()
	f.claims = all
	f.mu.Unlock()
	query := url.Values{"code": {"fake-code"}, "state": {to.Query().Get("state")}}
	return b.callback(b.rig.url + oauth.Path + "fake/callback?" + query.Encode())
}

// dbEach runs a test with a fake provider on both databases.
func dbEach(t *testing.T, f func(t *testing.T, fake *fakeOIDC, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		fake := newFakeOIDC(t)
		f(t, fake, newRig(t, db, clock.NewFixed(fakeNow), fake.provider))
	})
}

func (f *fakeOIDC) provider(string) []oauth.Provider {
	return []oauth.Provider{oauth.OIDCProvider("fake", f.url, "tenantry", "hush")}
}

// entra configures the fake provider as Microsoft.
func (f *fakeOIDC) entra(string) []oauth.Provider {
	p := oauth.MicrosoftProvider("tenantry", "hush")
	p.Name = "fake"
	p.Issuer = f.url + strings.TrimPrefix(p.Issuer, "https://login.microsoftonline.com")
	p.DiscoveryURL = f.url + strings.TrimPrefix(p.DiscoveryURL, "https://login.microsoftonline.com")
	return []oauth.Provider{p}
}

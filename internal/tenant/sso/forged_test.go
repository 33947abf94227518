package sso_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// fakeIssuer is an issuer whose responses a test controls. It builds its tokens by hand, and does
// not use the service's library for tokens.
type fakeIssuer struct {
	s               *apptest.Server
	owner           apptest.Owner
	url, connection string

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	token   string                      // the next ID token
	answers map[string]http.HandlerFunc // responses by path, which replace the valid ones
	asked   map[string]int              // requests by path
	form    url.Values                  // of the last token request
	extra   object                      // of the discovery document
}

const (
	discoveryPath = "/.well-known/openid-configuration"
	fakeSecret    = "the client secret"
)

// newFakeIssuer connects a tenant with a verified domain to a new issuer.
func newFakeIssuer(s *apptest.Server, keys ...jose.JSONWebKey) *fakeIssuer {
	s.T.Helper()
	f := &fakeIssuer{s: s, keys: keys, answers: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	server := httptest.NewServer(f)
	s.T.Cleanup(server.Close)
	f.url = server.URL
	f.owner = s.Register("ada@"+corp, true)
	verified(s, f.owner, corp)
	f.connection = connect(s, f.owner, object{"issuer": f.url, "client_id": "the-client", "client_secret": fakeSecret, "provision_members": true})
	return f
}

func (f *fakeIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.URL.Path]++
	if answer := f.answers[r.URL.Path]; answer != nil {
		answer(w, r)
		return
	}
	var body any
	switch r.URL.Path {
	case discoveryPath:
		document := object{"issuer": f.url, "authorization_endpoint": f.url + "/authorize", "token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys"}
		maps.Copy(document, f.extra)
		body = document
	case "/keys":
		body = jose.JSONWebKeySet{Keys: f.keys}
	case "/token":
		_ = r.ParseForm()
		f.form = r.PostForm
		body = object{"access_token": "a", "token_type": "Bearer", "id_token": f.token}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// answer replaces the response at a path. A nil handler restores the valid response.
func (f *fakeIssuer) answer(path string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = h
}

// describe changes the discovery document.
func (f *fakeIssuer) describe(extra object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.extra = extra
}

func (f *fakeIssuer) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path]
}

// claims returns valid claims for a nonce.
func (f *fakeIssuer) claims(nonce string) object {
	now := f.s.Now()
	return object{
		"iss": f.url, "aud": "the-client", "nonce": nonce, "sub": "b-1", "email": "bob@" + corp, "email_verified": true,
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
}

// login performs a login. makeToken receives valid claims and returns the ID token. changes
// override parameters of the callback. login returns the query of the frontend's page.
func (f *fakeIssuer) login(makeToken func(claims object) string, changes ...url.Values) url.Values {
	f.s.T.Helper()
	b := newBrowser(f.s)
	to, err := url.Parse(b.open("GET", startURL(f.s, f.connection), nil).Want(302).Header.Get("Location"))
	if err != nil {
		f.s.T.Fatal(err)
	}
	if to.Path == "/oauth/callback" { // the discovery failed
		return to.Query()
	}
	token := makeToken(f.claims(to.Query().Get("nonce")))
	f.mu.Lock()
	f.token = token
	f.mu.Unlock()
	query := url.Values{"code": {"c"}, "state": {to.Query().Get("state")}}
	for _, change := range changes {
		maps.Copy(query, change)
	}
	return b.finish(f.s.URL + "/api/v1/auth/sso/callback?" + query.Encode())
}

// refuses checks that a login ends with provider_error.
func (f *fakeIssuer) refuses(name string, makeToken func(claims object) string, changes ...url.Values) {
	f.s.T.Helper()
	if got := f.login(makeToken, changes...); got.Encode() != "error=provider_error" {
		f.s.T.Errorf("%s: the login ends with %v", name, got)
	}
}

// accepts checks that a login succeeds.
func (f *fakeIssuer) accepts(name string, makeToken func(claims object) string) {
	f.s.T.Helper()
	got := f.login(makeToken)
	if got.Get("code") == "" {
		f.s.T.Fatalf("%s: the login ends with %v", name, got)
	}
	exchange(f.s, got.Get("code")).Want(200)
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func toJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// jws returns a token in compact form.
func jws(header, claims object, sign func(input []byte) []byte) string {
	input := b64(toJSON(header)) + "." + b64(toJSON(claims))
	return input + "." + b64(sign([]byte(input)))
}

// signed returns a token maker whose header has the algorithm and key ID.
func signed(alg, kid string, sign func(input []byte) []byte) func(object) string {
	return func(claims object) string {
		header := object{"alg": alg, "typ": "JWT"}
		if kid != "" {
			header["kid"] = kid
		}
		return jws(header, claims, sign)
	}
}

// es signs with an elliptic curve key of any curve, and with the hash of ES256.
func es(key *ecdsa.PrivateKey) func([]byte) []byte {
	return func(input []byte) []byte {
		sum := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err)
		}
		size := (key.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	}
}

// rs signs with RSA, with the padding of RS256 or PS256.
func rs(key *rsa.PrivateKey, options crypto.SignerOpts) func([]byte) []byte {
	return func(input []byte) []byte {
		sum := sha256.Sum256(input)
		signature, err := key.Sign(rand.Reader, sum[:], options)
		if err != nil {
			panic(err)
		}
		return signature
	}
}

func hs(secret []byte) func([]byte) []byte {
	return func(input []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(input)
		return mac.Sum(nil)
	}
}

func newEC(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newRSA(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Only RS256 and ES256 with a key of the issuer are accepted (RFC 8725, sections 3.1 to 3.3).
func TestForgedSignatures(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ec, other, p384, enc := newEC(t, elliptic.P256()), newEC(t, elliptic.P256()), newEC(t, elliptic.P384()), newEC(t, elliptic.P256())
		strong, weak := newRSA(t, 2048), newRSA(t, 1024)
		public := jose.JSONWebKey{Key: ec.Public(), KeyID: "ec", Use: "sig"}
		f := newFakeIssuer(
			s, public, jose.JSONWebKey{Key: p384.Public(), KeyID: "p384"}, jose.JSONWebKey{Key: enc.Public(), KeyID: "enc", Use: "enc"},
			jose.JSONWebKey{Key: strong.Public(), KeyID: "rsa"}, jose.JSONWebKey{Key: weak.Public(), KeyID: "weak"},
		)
		der, err := x509.MarshalPKIXPublicKey(strong.Public())
		if err != nil {
			t.Fatal(err)
		}
		key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		f.accepts("ES256", signed("ES256", "ec", es(ec)))
		f.accepts("RS256", signed("RS256", "rsa", rs(strong, crypto.SHA256)))
		f.accepts("without a key ID", signed("ES256", "", es(ec)))
		pss := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
		nothing := func([]byte) []byte { return nil }
		for name, forge := range map[string]func(object) string{
			"none": signed("none", "", nothing), "none with a key ID": signed("none", "ec", nothing), "None": signed("None", "ec", nothing),
			"none with a signature": signed("none", "ec", es(ec)), "no algorithm": signed("", "ec", es(ec)), "no signature": signed("ES256", "ec", nothing),
			"HS256 with the client secret": signed("HS256", "", hs([]byte(fakeSecret))), "HS256 with the secret and a key ID": signed("HS256", "rsa", hs([]byte(fakeSecret))),
			"HS256 with the PEM key": signed("HS256", "rsa", hs(key)), "HS256 with the DER key": signed("HS256", "rsa", hs(der)),
			"HS256 with the JWK": signed("HS256", "ec", hs(toJSON(public))), "HS256 with an empty key": signed("HS256", "ec", hs(nil)),
			"another key": signed("ES256", "ec", es(other)), "another key without a key ID": signed("ES256", "", es(other)),
			"an unknown key ID": signed("ES256", "unknown", es(other)), "the right key with an unknown key ID": signed("ES256", "unknown", es(ec)),
			"the key ID of another key": signed("ES256", "rsa", es(ec)), "RS256 of an elliptic curve": signed("RS256", "ec", es(ec)),
			"1024 bits": signed("RS256", "weak", rs(weak, crypto.SHA256)), "1024 bits without a key ID": signed("RS256", "", rs(weak, crypto.SHA256)),
			"another curve": signed("ES256", "p384", es(p384)), "ES384": signed("ES384", "p384", es(p384)), "PS256": signed("PS256", "rsa", rs(strong, pss)),
			"a key for encryption": signed("ES256", "enc", es(enc)),
			"its own key": func(claims object) string {
				return jws(object{"alg": "ES256", "jwk": jose.JSONWebKey{Key: other.Public(), KeyID: "ec"}}, claims, es(other))
			},
			"its own URL of keys": func(claims object) string {
				return jws(object{"alg": "ES256", "kid": "x", "jku": "https://evil.example/keys"}, claims, es(other))
			},
			"a critical extension": func(claims object) string {
				return jws(object{"alg": "ES256", "kid": "ec", "crit": []any{"x"}, "x": 1}, claims, es(ec))
			},
			"two signatures": func(claims object) string {
				good := strings.Split(signed("ES256", "ec", es(ec))(claims), ".")
				one := object{"protected": good[0], "signature": good[2]}
				return string(toJSON(object{"payload": good[1], "signatures": []any{one, one}}))
			},
			"other claims": func(claims object) string {
				good := strings.Split(signed("ES256", "ec", es(ec))(claims), ".")
				claims["sub"] = "eve"
				return good[0] + "." + b64(toJSON(claims)) + "." + good[2]
			},
			"no token": func(object) string { return "" }, "no JWT": func(object) string { return "x.y.z" },
		} {
			f.refuses(name, forge)
		}
		s.Call("GET", f.owner.Path("/sso"), f.owner.Token, nil).Want(200).WantAt("data.last_error", "provider_error")
		if got := members(s, f.owner); got != 2 {
			t.Errorf("%d members", got)
		}
	})
}

// The claims must be for this login of this client, and name a person.
func TestForgedClaims(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ec := newEC(t, elliptic.P256())
		f := newFakeIssuer(s, jose.JSONWebKey{Key: ec.Public(), KeyID: "1"})
		sign := signed("ES256", "1", es(ec))
		with := func(changes object) func(object) string {
			return func(claims object) string { return sign(apptest.WithChanges(claims, changes)) }
		}
		now := s.Now()
		for name, changes := range map[string]object{
			"a list of one audience": {"aud": []any{"the-client"}}, "several audiences": {"aud": []any{"the-client", "x"}, "azp": "the-client"},
			"azp": {"azp": "the-client"}, "a long subject": {"sub": strings.Repeat("s", 255), "email": "long@" + corp}, "no email_verified": {"email_verified": apptest.Absent},
		} {
			f.accepts(name, with(changes))
		}
		before := members(s, f.owner)
		for name, changes := range map[string]object{
			"another issuer": {"iss": issuerOf(s, f.owner.Tenant)}, "the issuer with a slash": {"iss": f.url + "/"}, "no issuer": {"iss": apptest.Absent},
			"another audience": {"aud": "x"}, "other audiences": {"aud": []any{"x", "y"}}, "no audience": {"aud": apptest.Absent}, "an empty list": {"aud": []any{}},
			"several audiences without azp":  {"aud": []any{"the-client", "x"}},
			"several audiences, another azp": {"aud": []any{"the-client", "x"}, "azp": "x"}, "another azp": {"azp": "x"},
			"another nonce": {"nonce": "x"}, "no nonce": {"nonce": apptest.Absent}, "an empty nonce": {"nonce": ""},
			"expired": {"exp": now.Add(-time.Second).Unix()}, "no expiry": {"exp": apptest.Absent}, "an expiry of 0": {"exp": 0},
			"not yet valid": {"nbf": now.Add(time.Hour).Unix()},
			"no subject":    {"sub": apptest.Absent}, "an empty subject": {"sub": ""}, "a null subject": {"sub": nil}, "a number as the subject": {"sub": 7},
			"a subject of 256 bytes": {"sub": strings.Repeat("s", 256)}, "a huge subject": {"sub": strings.Repeat("s", 30_000)},
			"a subject with a control character": {"sub": "bob\x00"},
			"no email":                           {"email": apptest.Absent}, "an empty email": {"email": ""}, "no address": {"email": "bob"}, "a number as the email": {"email": 7}, "two addresses": {"email": "bob@" + corp + ",eve@" + corp},
			"the hash of another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
		} {
			f.refuses(name, with(changes))
		}
		if got := members(s, f.owner); got != before {
			t.Errorf("%d members, then %d", before, got)
		}
	})
}

// A valid token of one issuer does not log in at another, even if its endpoints and keys are the
// same.
func TestTokenOfAnotherIssuer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := newFakeIssuer(s)
		other := s.Call("GET", "/sandbox/idp/other"+discoveryPath, "", nil).Want(200)
		for _, endpoints := range [][]string{{"authorization_endpoint", "token_endpoint"}, {"authorization_endpoint", "token_endpoint", "jwks_uri"}} {
			extra := object{}
			for _, name := range endpoints {
				extra[name] = other.Str(name)
			}
			f.describe(extra)
			id := connect(s, f.owner, object{"issuer": f.url, "client_id": "tenantry"}) // the client of the other issuer
			b := newBrowser(s)
			back, err := url.Parse(b.consent(startURL(s, id), as("bob@"+corp, "b-1")))
			if err != nil {
				t.Fatal(err)
			}
			query := back.Query()
			query.Del("iss")
			back.RawQuery = query.Encode()
			if got := b.finish(back.String()); got.Encode() != "error=provider_error" {
				t.Errorf("%v: %v", endpoints, got)
			}
		}
	})
}

// Responses of the issuer are limited in size and time, and a response of another issuer is
// rejected (RFC 9207).
func TestAnswersOfIssuers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ec := newEC(t, elliptic.P256())
		f := newFakeIssuer(s, jose.JSONWebKey{Key: ec.Public(), KeyID: "1"})
		sign := signed("ES256", "1", es(ec))
		f.accepts("a good issuer", sign)
		if verifier := f.form.Get("code_verifier"); len(verifier) < 43 {
			t.Errorf("the code verifier is %q", verifier)
		}
		f.refuses("another iss", sign, url.Values{"iss": {"https://evil.example"}})
		f.refuses("an error", sign, url.Values{"error": {"server_error"}})
		f.refuses("no code", sign, url.Values{"code": {""}})
		large := strings.Repeat(" ", 64<<10) + "{}"
		answers := map[string]http.HandlerFunc{
			"too large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(large)) },
			"a redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, f.url+"/elsewhere", http.StatusTemporaryRedirect)
			},
			"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusInternalServerError) },
			"no JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
			"null":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("null")) },
		}
		if dbtest.IsLong() {
			answers["no answer in time"] = func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-time.After(12 * time.Second): // the client waits for 10 seconds
				}
			}
		}
		for name, h := range answers {
			for _, path := range []string{"/token", "/keys", discoveryPath} {
				s.Advance(time.Hour + time.Minute) // the documents are read again
				f.answer(path, h)
				f.refuses(path+": "+name, sign)
				f.answer(path, nil)
			}
		}
		if n := f.count("/elsewhere"); n != 0 {
			t.Errorf("%d redirects were followed", n)
		}
		f.accepts("the good issuer again", sign)

		// The discovery document is read again after an hour. Logins fail if the new document is
		// unsuitable.
		for name, extra := range map[string]object{
			"another issuer": {"issuer": "https://evil.example"}, "no keys": {"jwks_uri": ""}, "a private endpoint": {"token_endpoint": "https://10.0.0.1/token"},
			"an announced iss, which is absent": {"authorization_response_iss_parameter_supported": true},
		} {
			f.describe(extra)
			s.Advance(time.Hour + time.Minute)
			f.refuses(name, sign)
		}
		f.describe(object{"authorization_response_iss_parameter_supported": true})
		s.Advance(time.Hour + time.Minute)
		if got := f.login(sign, url.Values{"iss": {f.url}}); got.Get("code") == "" {
			t.Errorf("with the announced iss: %v", got)
		}
	})
}

// A token with an unknown key ID causes another request for the keys, at most once a minute.
func TestRotatedKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first, second := newEC(t, elliptic.P256()), newEC(t, elliptic.P256())
		f := newFakeIssuer(s, jose.JSONWebKey{Key: first.Public(), KeyID: "1"})
		f.accepts("the first key", signed("ES256", "1", es(first)))
		f.accepts("again", signed("ES256", "1", es(first)))
		if n := f.count("/keys"); n != 1 {
			t.Errorf("%d requests for the keys", n)
		}
		f.mu.Lock()
		f.keys = []jose.JSONWebKey{{Key: second.Public(), KeyID: "2"}}
		f.mu.Unlock()
		f.accepts("the second key", signed("ES256", "2", es(second)))
		for range 5 {
			f.refuses("an unknown key", signed("ES256", "3", es(second)))
		}
		if n := f.count("/keys"); n != 2 {
			t.Errorf("%d requests for the keys", n)
		}
		f.refuses("the former key", signed("ES256", "1", es(first)))
		s.Advance(time.Minute + time.Second)
		f.refuses("an unknown key", signed("ES256", "3", es(second)))
		if n := f.count("/keys"); n != 3 {
			t.Errorf("%d requests for the keys after a minute", n)
		}
	})
}

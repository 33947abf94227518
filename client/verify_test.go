package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantry/tenantry/client"
)

const tokenIssuer = "https://billing.example.com"

// issuer signs tokens and publishes a key set.
type issuer struct {
	t    *testing.T
	keys map[string]*ecdsa.PrivateKey

	mu      sync.Mutex
	fetched int
	err     error // of requests for the key set
	status  int
}

func newIssuer(t *testing.T, ids ...string) *issuer {
	t.Helper()
	i := &issuer{t: t, keys: map[string]*ecdsa.PrivateKey{}, status: http.StatusOK}
	for _, id := range ids {
		i.addKey(id)
	}
	return i
}

func (i *issuer) addKey(id string) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys[id] = key
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fetched++
	if r.URL.Path != "/.well-known/jwks.json" || r.Header.Get("Authorization") != "" {
		i.t.Errorf("request %s with %q", r.URL, r.Header.Get("Authorization"))
	}
	if i.err != nil {
		return nil, i.err
	}
	list := []map[string]string{{"kty": "RSA", "kid": "rsa", "n": "AQAB", "e": "AQAB"}, {"kty": "EC", "kid": "bad", "crv": "P-256", "x": "AA", "y": "AA"}}
	for id, key := range i.keys {
		point, _ := key.PublicKey.Bytes()
		list = append(list, map[string]string{"kty": "EC", "crv": "P-256", "kid": id, "x": encode(point[1:33]), "y": encode(point[33:])})
	}
	text, _ := json.Marshal(map[string]any{"keys": list})
	return &http.Response{StatusCode: i.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, nil
}

func (i *issuer) set(err error, status int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err, i.status = err, status
}

// wantFetches checks the number of requests for the key set.
func (i *issuer) wantFetches(n int) {
	i.t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.fetched != n {
		i.t.Errorf("%d requests for the key set, want %d", i.fetched, n)
	}
}

func (i *issuer) client(options ...client.Option) *client.Client {
	i.t.Helper()
	c, err := client.New(tokenIssuer+"/", append([]client.Option{client.WithAPIKey("secret"), client.WithHTTPClient(&http.Client{Transport: i})}, options...)...)
	if err != nil {
		i.t.Fatal(err)
	}
	return c
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// claims returns the claims of a token of a member, with changes. nil removes a claim.
func claims(change map[string]any) map[string]any {
	now := time.Now().Unix()
	c := map[string]any{
		"iss": tokenIssuer, "aud": tokenIssuer, "sub": "7", "tid": "t-1", "tenant_name": "Engines", "role": "owner",
		"permissions": []string{"team.invite"}, "plan": "starter", "features": map[string]any{"api-calls": 5000, "studio-access": true},
		"amr": []string{"pwd"}, "sid": "s-1", "iat": now, "exp": now + 300,
	}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// sign returns a token signed with a key. header replaces values of the header.
func (i *issuer) sign(id string, claims, header map[string]any) string {
	i.t.Helper()
	head := map[string]any{"alg": "ES256", "typ": "JWT", "kid": id}
	maps.Copy(head, header)
	headText, _ := json.Marshal(head)
	text, _ := json.Marshal(claims)
	signed := encode(headText) + "." + encode(text)
	hash := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.keys[id], hash[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return signed + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func TestVerifyToken(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, "a", "b")
	c := i.client()
	now := time.Now().UTC().Truncate(time.Second)
	got, err := c.VerifyToken(t.Context(), i.sign("a", claims(nil), nil))
	want := &client.Claims{
		Subject: "7", TenantID: "t-1", TenantName: "Engines", Role: "owner", Permissions: []string{"team.invite"}, Plan: "starter",
		Features: map[string]client.Feature{"api-calls": {Limit: new(int64(5000))}, "studio-access": {}}, Methods: []string{"pwd"}, SessionID: "s-1",
	}
	if err != nil || got.ExpiresAt.Sub(got.IssuedAt) != 5*time.Minute || got.IssuedAt.Sub(now).Abs() > 10*time.Second {
		t.Fatalf("%v, claims %+v", err, got)
	}
	want.IssuedAt, want.ExpiresAt = got.IssuedAt, got.ExpiresAt
	if !reflect.DeepEqual(got, want) || !got.Can("team.invite") || got.Can("team.manage") {
		t.Errorf("claims %+v", got)
	}
	for range 5 {
		if _, err := c.VerifyToken(t.Context(), i.sign("b", claims(nil), nil)); err != nil {
			t.Error(err)
		}
	}
	i.wantFetches(1)
	alone, err := c.VerifyToken(t.Context(), i.sign("a", claims(map[string]any{
		"tid": json.RawMessage("null"), "role": json.RawMessage("null"), "plan": json.RawMessage("null"), "permissions": []string{}, "features": map[string]any{},
		"act": map[string]any{"sub": "1"}, "aud": []string{"other", tokenIssuer},
	}), nil))
	if err != nil || alone.TenantID != "" || alone.Actor == nil || alone.Actor.Subject != "1" {
		t.Errorf("%v, claims %+v", err, alone)
	}
	named := i.client(client.WithIssuer("https://id.example.com/"), client.WithAudience("shop"))
	if _, err := named.VerifyToken(t.Context(), i.sign("a", claims(map[string]any{"iss": "https://id.example.com", "aud": "shop"}), nil)); err != nil {
		t.Error(err)
	}
	if _, err := named.VerifyToken(t.Context(), i.sign("a", claims(nil), nil)); !errors.Is(err, client.ErrInvalidToken) {
		t.Errorf("a token of another issuer: %v", err)
	}
}

func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, "a", "b")
	c := i.client()
	at := func(seconds int64) int64 { return time.Now().Unix() + seconds }
	good := i.sign("a", claims(nil), nil)
	parts := strings.Split(good, ".")
	other := strings.Split(i.sign("a", claims(map[string]any{"sub": "8"}), nil), ".")
	hash := encode([]byte(`{"alg":"HS256","kid":"a"}`))
	none := encode([]byte(`{"alg":"none","kid":"a"}`))
	for name, token := range map[string]string{
		"empty": "", "an access token": strings.Repeat("x", 43), "two parts": parts[0] + "." + parts[1], "four parts": good + ".x",
		"other claims": parts[0] + "." + other[1] + "." + parts[2], "no signature": parts[0] + "." + parts[1] + ".",
		"none": none + "." + parts[1] + ".", "HS256": hash + "." + parts[1] + "." + parts[2], "short": good[:len(good)-2],
		"not base64": parts[0] + "." + parts[1] + ".***", "not JSON": encode([]byte("x")) + "." + parts[1] + "." + parts[2],
		"another key's ID": i.sign("a", claims(nil), map[string]any{"kid": "b"}),
		"an unusable key":  i.sign("a", claims(nil), map[string]any{"kid": "bad"}),
		"without a key":    i.sign("a", claims(nil), map[string]any{"kid": ""}),
		"ES384":            i.sign("a", claims(nil), map[string]any{"alg": "ES384"}),
		"critical":         i.sign("a", claims(nil), map[string]any{"crit": []string{"exp"}}),
		"issuer":           i.sign("a", claims(map[string]any{"iss": "https://evil.example.com"}), nil),
		"no issuer":        i.sign("a", claims(map[string]any{"iss": nil}), nil),
		"audience":         i.sign("a", claims(map[string]any{"aud": "other"}), nil),
		"no audience":      i.sign("a", claims(map[string]any{"aud": nil}), nil),
		"no subject":       i.sign("a", claims(map[string]any{"sub": nil}), nil),
		"expired":          i.sign("a", claims(map[string]any{"exp": at(-61)}), nil),
		"no expiry":        i.sign("a", claims(map[string]any{"exp": nil}), nil),
		"from the future":  i.sign("a", claims(map[string]any{"iat": at(90), "exp": at(390)}), nil),
	} {
		if got, err := c.VerifyToken(t.Context(), token); !errors.Is(err, client.ErrInvalidToken) || got != nil {
			t.Errorf("%s: %v, claims %+v", name, err, got)
		}
	}
	for name, token := range map[string]string{
		"expired within the skew": i.sign("a", claims(map[string]any{"exp": at(-50)}), nil),
		"early within the skew":   i.sign("a", claims(map[string]any{"iat": at(50)}), nil),
	} {
		if _, err := c.VerifyToken(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An unknown key is looked up at most once a minute. Known keys work during an outage.
func TestKeySetOfClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t, "a")
		c := i.client()
		verify := func(id string) error {
			synctest.Wait()
			_, err := c.VerifyToken(t.Context(), i.sign(id, claims(nil), nil))
			synctest.Wait()
			return err
		}
		i.set(errors.New("connection refused"), http.StatusOK)
		if err := verify("a"); err == nil || errors.Is(err, client.ErrInvalidToken) {
			t.Errorf("without a key set: %v", err)
		}
		i.set(nil, http.StatusOK)
		if err := verify("a"); err != nil {
			t.Error(err)
		}
		i.wantFetches(2)
		for _, id := range []string{"b", "c"} { // rotated
			i.addKey(id)
		}
		if err := verify("c"); err != nil {
			t.Errorf("a new key: %v", err)
		}
		i.addKey("d")
		for range 3 {
			if err := verify("d"); !errors.Is(err, client.ErrInvalidToken) {
				t.Errorf("another new key within a minute: %v", err)
			}
		}
		i.wantFetches(3)
		time.Sleep(time.Minute)
		if err := verify("d"); err != nil {
			t.Errorf("after a minute: %v", err)
		}
		i.wantFetches(4)

		// The key set is loaded again every 5 minutes.
		time.Sleep(5 * time.Minute)
		if err := verify("a"); err != nil {
			t.Error(err)
		}
		i.wantFetches(5)
		delete(i.keys, "b")
		i.set(nil, http.StatusInternalServerError)
		for range 3 {
			time.Sleep(5 * time.Minute)
			if err := verify("a"); err != nil {
				t.Errorf("during an outage: %v", err)
			}
		}
		i.wantFetches(8)
		time.Sleep(24 * time.Hour)
		if err := verify("a"); client.StatusOf(err) != 500 {
			t.Errorf("after a day: %v", err)
		}
	})
}

// Concurrent callers share a request. A caller can stop waiting for it.
func TestKeySetIsLoadedOnce(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, "a")
	c := i.client()
	token := i.sign("a", claims(nil), nil)
	ended, end := context.WithCancel(t.Context())
	end()
	i.mu.Lock()
	if _, err := c.VerifyToken(ended, token); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := c.VerifyToken(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	i.mu.Unlock()
	wg.Wait()
	i.wantFetches(1)
}

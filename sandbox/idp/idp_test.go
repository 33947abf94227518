package idp_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/idp"
	"github.com/tenantry/tenantry/sandbox/theme"

	_ "modernc.org/sqlite" // the driver
)

const (
	callback = "https://api.example.com/callback"
	verifier = "a-verifier-of-at-least-forty-three-characters"
)

var start = time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)

type rig struct {
	t     *testing.T
	db    *sql.DB
	now   *testkit.Clock
	url   string
	idp   *idp.Provider
	serve http.Handler
}

func open(t *testing.T) *rig {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "sandbox.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t, db: db, now: testkit.NewClock(start)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.serve.ServeHTTP(w, req) }))
	t.Cleanup(server.Close)
	r.url = server.URL
	r.restart()
	return r
}

func (r *rig) restart() {
	r.t.Helper()
	p, err := idp.New(r.t.Context(), idp.Config{
		DB: r.db, Clock: r.now, PublicURL: "https://sandbox.example.com", BackURL: r.url,
		ClientID: "tenantry", ClientSecret: "hush", RedirectURIs: []string{callback},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.idp, r.serve = p, p.Handler()
}

func (r *rig) do(method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequest(method, idp.Path+path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.serve.ServeHTTP(w, req)
	return w
}

// request returns a valid authorization request with the given changes.
func request(changes ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	v := url.Values{
		"response_type": {"code"}, "client_id": {"tenantry"}, "redirect_uri": {callback}, "scope": {"openid email"},
		"state": {`s"<&`}, "nonce": {"n"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// code submits the consent form and returns the code.
func (r *rig) code() string {
	r.t.Helper()
	page := r.do("GET", "/authorize?"+request().Encode(), nil)
	form := url.Values{"email": {"ada@example.com"}, "name": {"Ada"}, "email_verified": {"true"}, "decision": {"allow"}}
	for _, field := range hidden.FindAllStringSubmatch(page.Body.String(), -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	to, err := url.Parse(r.do("POST", "/authorize", form).Header().Get("Location"))
	if err != nil || to.Query().Get("state") != `s"<&` || to.Query().Get("iss") != r.idp.Issuer() || to.Query().Get("code") == "" ||
		!strings.HasPrefix(to.String(), callback+"?") {
		r.t.Fatalf("form redirects to %v, %v", to, err)
	}
	return to.Query().Get("code")
}

// exchange returns a valid token request with the given changes.
func exchange(code string, changes ...string) url.Values {
	v := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
		"client_id": {"tenantry"}, "client_secret": {"hush"},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

type tokens struct {
	AccessToken string `json:"access_token"`
	IDToken     string `json:"id_token"`
	Error       string `json:"error"`
}

func (r *rig) token(form url.Values, headers ...string) (int, tokens) {
	r.t.Helper()
	w := r.do("POST", "/token", form, headers...)
	var got tokens
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Header().Get("Cache-Control") != "no-store" {
		r.t.Fatalf("%v in %s", err, w.Body)
	}
	return w.Code, got
}

// verify verifies an ID token like a client, with the published keys.
func (r *rig) verify(token string) (*oidc.IDToken, error) {
	r.t.Helper()
	ctx := oidc.InsecureIssuerURLContext(r.t.Context(), r.idp.Issuer())
	p, err := oidc.NewProvider(ctx, r.url+idp.Path)
	if err != nil {
		r.t.Fatal(err)
	}
	return p.Verifier(&oidc.Config{ClientID: "tenantry", Now: r.now.Now}).Verify(ctx, token)
}

func TestALoginEndsInTokens(t *testing.T) {
	t.Parallel()
	r := open(t)
	status, got := r.token(exchange(r.code()))
	if status != 200 {
		t.Fatalf("%d %+v", status, got)
	}
	token, err := r.verify(got.IDToken)
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Email    string
		Verified bool `json:"email_verified"`
		Name     string
	}
	if err := token.Claims(&claims); err != nil || claims.Email != "ada@example.com" || !claims.Verified || claims.Name != "Ada" ||
		token.Nonce != "n" || token.Subject == "" || token.VerifyAccessToken(got.AccessToken) != nil {
		t.Errorf("%+v %+v %v", token, claims, err)
	}
	info := r.do("GET", "/userinfo", nil, "Authorization: Bearer "+got.AccessToken)
	want := `{"sub":"` + token.Subject + `","email":"ada@example.com","email_verified":true,"name":"Ada"}`
	if strings.TrimSpace(info.Body.String()) != want {
		t.Errorf("user info %s, want %s", info.Body, want)
	}

	r.restart() // the key and the subject survive a restart
	if _, err := r.verify(got.IDToken); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	_, again := r.token(exchange(r.code()))
	if token2, err := r.verify(again.IDToken); err != nil || token2.Subject != token.Subject {
		t.Errorf("same email, but another subject: %v", err)
	}
	r.now.Set(start.Add(10*time.Minute + time.Second))
	if _, err := r.verify(got.IDToken); err == nil {
		t.Error("the expired token is still valid")
	}
	if got := r.do("GET", "/userinfo", nil, "Authorization: Bearer "+got.AccessToken); got.Code != 401 {
		t.Errorf("user info of an old token: %d", got.Code)
	}
}

func TestTheCheckboxDecides(t *testing.T) {
	t.Parallel()
	r := open(t)
	for value, want := range map[string]bool{"true": true, "on": true, "1": true, "": false, "false": false, "0": false} {
		to, err := url.Parse(r.do("POST", "/authorize", request("email", "ada@example.com", "email_verified", value)).Header().Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		_, got := r.token(exchange(to.Query().Get("code")))
		info := r.do("GET", "/userinfo", nil, "Authorization: Bearer "+got.AccessToken).Body.String()
		if strings.Contains(info, `"email_verified":true`) != want || !strings.Contains(info, "ada@example.com") {
			t.Errorf("%q: %s", value, info)
		}
	}
}

func TestClientSecretInTheHeader(t *testing.T) {
	t.Parallel()
	r := open(t)
	form := exchange(r.code())
	form.Del("client_id")
	form.Del("client_secret")
	basic := func(id, secret string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
	}
	for _, wrong := range []string{basic("tenantry", "else"), basic("else", "hush"), basic("tenantry", "%zz")} {
		if status, got := r.token(form, wrong); status != 401 || got.Error != "invalid_client" {
			t.Errorf("%s: %d %+v", wrong, status, got)
		}
	}
	if status, _ := r.token(form, basic("tenantry", "%68ush")); status != 200 {
		t.Errorf("an encoded secret: %d", status)
	}
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	r := open(t)
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"another secret":    {exchange(r.code(), "client_secret", "x"), "invalid_client"},
		"no client":         {exchange(r.code(), "client_id", ""), "invalid_client"},
		"another grant":     {exchange(r.code(), "grant_type", "password"), "unsupported_grant_type"},
		"another verifier":  {exchange(r.code(), "code_verifier", strings.Repeat("x", 43)), "invalid_grant"},
		"no verifier":       {exchange(r.code(), "code_verifier", ""), "invalid_grant"},
		"another redirect":  {exchange(r.code(), "redirect_uri", callback+"/"), "invalid_grant"},
		"unknown code":      {exchange("x"), "invalid_grant"},
		"token for a code":  {exchange(func() string { _, got := r.token(exchange(r.code())); return got.AccessToken }()), "invalid_grant"},
		"code used already": {exchange(func() string { code := r.code(); r.token(exchange(code)); return code }()), "invalid_grant"},
	} {
		if status, got := r.token(c.form); got.Error != c.want || status < 400 || got.IDToken != "" {
			t.Errorf("%s: %d %+v", name, status, got)
		}
	}
	code := r.code()
	r.now.Set(start.Add(time.Minute))
	if _, got := r.token(exchange(code)); got.Error != "invalid_grant" {
		t.Errorf("after a minute: %+v", got)
	}
	code = r.code()
	if got := r.do("GET", "/userinfo", nil, "Authorization: Bearer "+code); got.Code != 401 {
		t.Errorf("user info of a code: %d", got.Code)
	}
}

func TestUnknownRedirectsAreRejected(t *testing.T) {
	t.Parallel()
	r := open(t)
	for name, form := range map[string]url.Values{
		"another client":   request("client_id", "x"),
		"another redirect": request("redirect_uri", "https://evil.test/callback"),
		"a longer one":     request("redirect_uri", callback+".evil.test"),
	} {
		for _, got := range []*httptest.ResponseRecorder{r.do("GET", "/authorize?"+form.Encode(), nil), r.do("POST", "/authorize", form)} {
			if got.Code != 400 || got.Header().Get("Location") != "" || strings.Contains(got.Body.String(), "<form") {
				t.Errorf("%s: %d %v", name, got.Code, got.Header())
			}
		}
	}
}

func TestAuthorizeRefusals(t *testing.T) {
	t.Parallel()
	r := open(t)
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"a token at once": {request("response_type", "id_token"), "unsupported_response_type"},
		"without openid":  {request("scope", "email"), "invalid_scope"},
		"without PKCE":    {request("code_challenge", ""), "invalid_request"},
		"plain PKCE":      {request("code_challenge_method", "plain"), "invalid_request"},
	} {
		for _, got := range []*httptest.ResponseRecorder{r.do("GET", "/authorize?"+c.form.Encode(), nil), r.do("POST", "/authorize", c.form)} {
			to, err := url.Parse(got.Header().Get("Location"))
			if err != nil || got.Code != 303 || to.Query().Get("error") != c.want || to.Query().Get("code") != "" || to.Query().Get("state") == "" {
				t.Errorf("%s: %d %v %v", name, got.Code, to, err)
			}
		}
	}
	denied := request("decision", "deny")
	if to := r.do("POST", "/authorize", denied).Header().Get("Location"); !strings.Contains(to, "error=access_denied") {
		t.Errorf("refused: %s", to)
	}
	for _, email := range []string{"", "ada", "Ada <ada@example.com>"} {
		got := r.do("POST", "/authorize", request("email", email, "name", `"><b>`))
		if page := got.Body.String(); got.Code != 422 || !strings.Contains(page, "Enter a valid email address.") || strings.Contains(page, "<b>") ||
			!strings.Contains(page, `name="email_verified" type="checkbox" value="true">`) {
			t.Errorf("%q: %d %s", email, got.Code, page)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	r := open(t)
	page := r.do("GET", "/authorize?"+request().Encode(), nil)
	for _, want := range []string{
		`<form id="consent" method="post" action="/sandbox/idp/authorize">`, `name="email" type="email"`, `name="name" type="text"`,
		`name="email_verified" type="checkbox" value="true" checked>`, `<button class="btn" name="decision" value="deny" formnovalidate>`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("page does not contain %s\n%s", want, page.Body)
		}
	}
	for _, got := range []*httptest.ResponseRecorder{page, r.do("GET", "", nil)} {
		if policy := got.Header().Get("Content-Security-Policy"); got.Code != 200 || !strings.HasPrefix(policy, theme.Policy("")) || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", got.Code, got.Header())
		}
	}
}

func TestABrokenDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	r := open(t)
	_ = r.db.Close()
	for name, got := range map[string]*httptest.ResponseRecorder{
		"consent":  r.do("POST", "/authorize", request("email", "ada@example.com")),
		"token":    r.do("POST", "/token", exchange("x")),
		"userinfo": r.do("GET", "/userinfo", nil, "Authorization: Bearer x"),
	} {
		if got.Code != 500 || !strings.Contains(got.Body.String(), "server_error") {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	if _, err := idp.New(t.Context(), idp.Config{DB: r.db, Clock: r.now}); err == nil {
		t.Error("a provider opened on a closed database")
	}
}

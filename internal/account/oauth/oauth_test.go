package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
)

func TestOAuthListsConfiguredProviders(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		if got := r.browser().get(r.url + oauth.Path + "providers"); strings.TrimSpace(got.text) != `{"providers":["sandbox"]}` || got.status != 200 {
			t.Errorf("%d %s", got.status, got.text)
		}
		for _, path := range []string{"google/redirect", "google/callback?code=1&state=2", "SANDBOX/redirect"} {
			if got := r.browser().get(r.url + oauth.Path + path); got.status != 404 {
				t.Errorf("%s: %d %s", path, got.status, got.text)
			}
		}
	})
}

func TestOAuthRedirectBeginsAFlow(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		b := r.browser()
		got := b.get(r.url + oauth.Path + "sandbox/redirect")
		u, err := url.Parse(got.location)
		if err != nil || got.status != http.StatusFound || got.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %v", got.status, got.header, err)
		}
		q := u.Query()
		if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 ||
			len(q.Get("state")) < 22 || len(q.Get("nonce")) < 22 || q.Get("state") == q.Get("nonce") ||
			q.Get("redirect_uri") != r.url+oauth.Path+"sandbox/callback" || q.Get("scope") != "openid email profile" {
			t.Errorf("the request is %s", got.location)
		}
		cookie := got.header.Get("Set-Cookie")
		if !regexp.MustCompile(`^tenantry_oauth=[A-Z2-7]{26}; Path=/api/v1/auth; Max-Age=600; HttpOnly; SameSite=Lax$`).MatchString(cookie) {
			t.Errorf("the cookie is %s", cookie)
		}
		if again := b.get(r.url + oauth.Path + "sandbox/redirect").header.Get("Set-Cookie"); again != cookie {
			t.Errorf("second login of a browser replaced its key: %s", again)
		}
		var state, browser string
		if err := r.db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT state_hash, browser_hash FROM oauth_flows`).Scan(&state, &browser); err != nil {
			t.Fatal(err)
		}
		if state == q.Get("state") || strings.Contains(cookie, browser) {
			t.Error("a secret is stored in plain text")
		}
	})
}

// Rule 2 (c): a new user gets a verified account with a first tenant. Rule 2 (a): later logins of
// the same person get the same account, even if the email at the provider has changed.
func TestOAuthRegistersThenLogsIn(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		first := r.browser().login("sandbox", somebody("  Ada@Example.COM"))
		if !*first.IsNewUser || first.User.Email != "ada@example.com" || first.User.Name != "Ada Lovelace" ||
			len(first.User.Tenants) != 1 || first.User.Tenants[0].Name != "Ada Lovelace's Organization" || len(first.RefreshToken) != 64 {
			t.Errorf("%+v", first)
		}
		if r.me(first.AccessToken) != 200 {
			t.Error("the access token does not work")
		}
		if r.count(`SELECT count(*) FROM users WHERE email_verified_at IS NOT NULL AND password_hash IS NULL`) != 1 {
			t.Error("the new user is not verified, or has a password")
		}
		if _, err := r.db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE users SET email = 'new@example.com'`); err != nil {
			t.Fatal(err)
		}
		unverified := somebody("ada@example.com")
		unverified.Del("email_verified")
		again := r.browser().login("sandbox", unverified)
		if *again.IsNewUser || again.User.ID != first.User.ID || again.User.Email != "new@example.com" || r.count(`SELECT count(*) FROM users`) != 1 {
			t.Errorf("%+v", again)
		}
	})
}

// Rule 2 (b): an account with the same email is linked.
func TestOAuthLinksByEmail(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, now *clock.Fixed) {
		user, tokens := r.registered(t, "ada@example.com")
		if _, err := r.db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE users SET email_verified_at = $1`, now.Now()); err != nil {
			t.Fatal(err)
		}
		got := r.browser().login("sandbox", somebody("ADA@example.com"))
		if *got.IsNewUser || got.User.ID != user.ID || got.User.Name != "Ada" || len(got.User.Tenants) != 1 {
			t.Errorf("%+v", got)
		}
		if _, _, err := r.accounts.Login(t.Context(), "ada@example.com", "correct horse", account.Grant{}); err != nil {
			t.Errorf("the password of a verified account is gone: %v", err)
		}
		if r.me(tokens.Access) != 200 {
			t.Error("the tokens of a verified account are gone")
		}
	})
}

// A person who registered an email of another person loses access when the owner of the email logs
// in.
func TestOAuthTakesAnUnverifiedAccountFromItsRegistrant(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		user, tokens := r.registered(t, "ada@example.com")
		other, others := r.registered(t, "bob@example.com")
		got := r.browser().login("sandbox", somebody("ada@example.com"))
		if *got.IsNewUser || got.User.ID != user.ID || r.me(got.AccessToken) != 200 {
			t.Errorf("%+v", got)
		}
		if r.me(tokens.Access) != 401 {
			t.Error("the registrant's access token still works")
		}
		if _, _, err := r.accounts.Refresh(t.Context(), tokens.Refresh); err == nil {
			t.Error("the registrant's refresh token still works")
		}
		if _, _, err := r.accounts.Login(t.Context(), "ada@example.com", "correct horse", account.Grant{}); err == nil {
			t.Error("the registrant's password still works")
		}
		if r.count(`SELECT count(*) FROM users WHERE email_verified_at IS NOT NULL`) != 1 {
			t.Error("the email is not marked verified, or another is")
		}
		if r.me(others.Access) != 200 || r.count(`SELECT count(*) FROM users WHERE id = $1 AND password_hash IS NOT NULL`, other.ID) != 1 {
			t.Error("another user is hit")
		}
	})
}

func (r *rig) registered(t *testing.T, email string) (account.User, account.Tokens) {
	t.Helper()
	user, tokens, err := r.accounts.Register(t.Context(), account.Registration{Name: "Ada", Email: email, Password: "correct horse"}, account.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	return user, tokens
}

func TestOAuthRefusals(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, now *clock.Fixed) {
		unverified := somebody("mallory@example.com")
		unverified.Del("email_verified")
		denied := somebody("eve@example.com")
		denied.Set("decision", "deny")
		ready := func(b *browser) string { return b.consent(b.start("sandbox"), somebody("eve@example.com")) }
		for name, c := range map[string]struct {
			told func(b *browser) url.Values
			want string
		}{
			"email not verified": {func(b *browser) url.Values { return b.callback(b.consent(b.start("sandbox"), unverified)) }, "email_unverified"},
			"email not accepted": {func(b *browser) url.Values {
				return b.callback(b.consent(b.start("sandbox"), somebody("eve@localhost")))
			}, "email_unverified"},
			"consent denied": {func(b *browser) url.Values { return b.callback(b.consent(b.start("sandbox"), denied)) }, "access_denied"},
			"no state": {func(b *browser) url.Values {
				b.start("sandbox")
				return b.callback(r.url + oauth.Path + "sandbox/callback?code=1")
			}, "invalid_state"},
			"unknown state": {func(b *browser) url.Values {
				b.start("sandbox")
				return b.callback(r.url + oauth.Path + "sandbox/callback?code=1&state=ABCDEFGHIJKLMNOPQRSTUVWXYZ")
			}, "invalid_state"},
			"denied without a state": {func(b *browser) url.Values {
				return b.callback(r.url + oauth.Path + "sandbox/callback?error=access_denied")
			}, "invalid_state"},
			"state of another browser": {func(b *browser) url.Values {
				r.browserLike(b).start("sandbox")
				return r.browserLike(b).callback(ready(b))
			}, "invalid_state"},
			"another browser's own key": {func(b *browser) url.Values {
				other := r.browserLike(b)
				other.start("sandbox")
				return other.callback(ready(b))
			}, "invalid_state"},
			"replayed state": {func(b *browser) url.Values {
				at := ready(b)
				b.callback(at)
				return b.callback(at)
			}, "invalid_state"},
			"another nonce": {func(b *browser) url.Values {
				return b.callback(b.consent(with(b.t, b.start("sandbox"), "nonce", "another"), somebody("eve@example.com")))
			}, "provider_error"},
			"another challenge": {func(b *browser) url.Values {
				return b.callback(b.consent(with(b.t, b.start("sandbox"), "code_challenge", strings.Repeat("x", 43)), somebody("eve@example.com")))
			}, "provider_error"},
			"another code":   {func(b *browser) url.Values { return b.callback(with(b.t, ready(b), "code", "another")) }, "provider_error"},
			"no code":        {func(b *browser) url.Values { return b.callback(with(b.t, ready(b), "code", "")) }, "provider_error"},
			"another issuer": {func(b *browser) url.Values { return b.callback(with(b.t, ready(b), "iss", "https://evil.test")) }, "provider_error"},
			"another error": {func(b *browser) url.Values {
				return b.callback(with(b.t, ready(b), "error", "temporarily_unavailable"))
			}, "provider_error"},
		} {
			if got := c.told(r.browser()); !cmp.Equal(got, url.Values{"error": {c.want}}) {
				t.Errorf("%s: redirected with %v, want %s", name, got, c.want)
			}
		}
		b := r.browser()
		at := ready(b)
		now.Set(now.Now().Add(10 * time.Minute))
		if got := b.callback(at); got.Get("error") != "invalid_state" {
			t.Errorf("after ten minutes: %v", got)
		}
		if n := r.count(`SELECT count(*) FROM users`); n != 1 { // from the first, valid use in "replayed state"
			t.Errorf("%d users", n)
		}
	})
}

// browserLike returns another browser in the same test.
func (r *rig) browserLike(b *browser) *browser {
	other := r.browser()
	other.t = b.t
	return other
}

// with returns an address with the value of one parameter replaced.
func with(t *testing.T, address, key, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// A flow that another browser tries to finish remains valid.
func TestOAuthFlowBelongsToItsBrowser(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		b := r.browser()
		first, second := b.start("sandbox"), b.start("sandbox")
		at := b.consent(first, somebody("ada@example.com"))
		if got := r.browser().callback(at); got.Get("error") != "invalid_state" {
			t.Errorf("another browser: redirected with %v, want invalid_state", got)
		}
		if got := b.callback(at); got.Get("code") == "" {
			t.Errorf("same browser: redirected with %v, want a code", got)
		}
		if got := b.callback(b.consent(second, somebody("ada@example.com"))); got.Get("code") == "" {
			t.Errorf("second window: redirected with %v, want a code", got)
		}
	})
}

func TestOAuthExchange(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, now *clock.Fixed) {
		code := func() string {
			b := r.browser()
			return b.callback(b.consent(b.start("sandbox"), somebody("ada@example.com"))).Get("code")
		}
		used, old := code(), code()
		if parsed, err := uuid.Parse(used); err != nil || parsed.Version() != 4 {
			t.Errorf("code %s is not a random UUID", used)
		}
		if r.count(`SELECT count(*) FROM oauth_codes WHERE code_hash = $1`, used) != 0 {
			t.Error("the code is stored in plain text")
		}
		r.exchange(strings.ToUpper(used)).session(t)
		now.Set(now.Now().Add(time.Second))
		expired := code()
		now.Set(now.Now().Add(time.Second))
		good := code()
		now.Set(now.Now().Add(59 * time.Second))
		for name, code := range map[string]string{
			"used": used, "just expired": expired, "long expired": old, "unknown": uuid.NewString(), "no UUID": "x",
		} {
			got := r.exchange(code, "Accept-Language: fr")
			if got.status != 400 || !strings.Contains(got.text, `"code":"OAUTH_CODE_EXPIRED"`) || !strings.Contains(got.text, "connexion") {
				t.Errorf("%s: %d %s", name, got.status, got.text)
			}
		}
		r.exchange(good).session(t)
		if got := r.exchange(""); got.status != 422 {
			t.Errorf("no code: %d %s", got.status, got.text)
		}
	})
}

func TestOAuthCodeIsExchangedOnce(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		b := r.browser()
		code := b.callback(b.consent(b.start("sandbox"), somebody("ada@example.com"))).Get("code")
		statuses := map[int]int{}
		for _, got := range atOnce(20, func(int) int { return r.exchange(code).status }) {
			statuses[got]++
		}
		if !cmp.Equal(statuses, map[int]int{200: 1, 400: 19}) {
			t.Errorf("20 exchanges of one code: %v", statuses)
		}
		if n := r.count(`SELECT count(*) FROM credentials`); n != 2 {
			t.Errorf("%d credentials", n)
		}
	})
}

func TestOAuthConcurrentCallbacksMakeOneUser(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		const n = 10
		browsers, callbacks := make([]*browser, n), make([]string, n)
		for i := range n {
			browsers[i] = r.browser()
			callbacks[i] = browsers[i].consent(browsers[i].start("sandbox"), somebody("ada@example.com"))
		}
		users, news := map[int64]int{}, 0
		for _, told := range atOnce(n, func(i int) url.Values { return browsers[i].callback(callbacks[i]) }) {
			s := r.exchange(told.Get("code")).session(t)
			users[s.User.ID]++
			if *s.IsNewUser {
				news++
			}
		}
		if len(users) != 1 || news != 1 {
			t.Errorf("users %v, %d of them new", users, news)
		}
		for _, table := range []string{"users", "oauth_identities", "tenants", "memberships"} {
			if n := r.count(`SELECT count(*) FROM ` + table); n != 1 {
				t.Errorf("%d %s", n, table)
			}
		}
	})
}

// atOnce calls f n times concurrently.
func atOnce[T any](n int, f func(i int) T) []T {
	results := make([]T, n)
	begin := make(chan struct{})
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { <-begin; results[i] = f(i) })
	}
	close(begin)
	wait.Wait()
	return results
}

func TestOAuthPrune(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, now *clock.Fixed) {
		b := r.browser()
		b.callback(b.consent(b.start("sandbox"), somebody("ada@example.com")))
		b.start("sandbox")
		rows := `SELECT (SELECT count(*) FROM oauth_flows) * 10 + (SELECT count(*) FROM oauth_codes)`
		for _, step := range []struct {
			after time.Duration
			left  int
		}{{59 * time.Second, 11}, {time.Second, 10}, {9*time.Minute - time.Second, 10}, {time.Second, 0}} {
			now.Set(now.Now().Add(step.after))
			if err := r.oauth.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.count(rows); got != step.left {
				t.Errorf("%v later: %d left, want %d", step.after, got, step.left)
			}
		}
	})
}

// A failure while the user is created leaves no rows.
func TestOAuthIsAllOrNothing(t *testing.T) {
	t.Parallel()
	dbEach(t, func(t *testing.T, f *fakeOIDC, r *rig) {
		r.pictures.err = errors.New("secret: no queue")
		got := f.login(r.browser(), map[string]any{"sub": "1", "email": "ada@example.com", "email_verified": true, "picture": "https://pics.test/1.png"})
		if got.Get("error") != "server_error" {
			t.Errorf("redirected with %v, want server_error", got)
		}
		for _, table := range []string{"users", "oauth_identities", "tenants", "oauth_codes"} {
			if n := r.count(`SELECT count(*) FROM ` + table); n != 0 {
				t.Errorf("%d %s are left", n, table)
			}
		}
	})
}

func TestOAuthInCookieMode(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		b := r.browser()
		code := b.callback(b.consent(b.start("sandbox"), somebody("ada@example.com"))).Get("code")
		if got := r.exchange(code, "Origin: https://app.example.com"); got.status != 419 {
			t.Errorf("without a CSRF token: %d %s", got.status, got.text)
		}
		r.exchange(code).session(t) // the rejected request did not use up the code
	})
}

func TestOAuthLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		b := r.browser()
		start := b.get(r.url + oauth.Path + "sandbox/redirect")
		key, _, _ := strings.Cut(strings.TrimPrefix(start.header.Get("Set-Cookie"), "tenantry_oauth="), ";")
		at := b.consent(start.location, somebody("ada@example.com"))
		told := b.callback(at)
		s := r.exchange(told.Get("code")).session(t)
		failing := b.consent(b.start("sandbox"), somebody("ada@example.com"))
		b.callback(with(t, failing, "code", "stolen-code"))
		b.callback(with(t, failing, "code", "stolen-code"))
		log := r.log.String()
		if strings.Count(log, "delegated login failed") != 2 || !strings.Contains(log, "invalid_grant") {
			t.Errorf("the log does not say what failed: %s", log)
		}
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		for name, secret := range map[string]string{
			"key": key, "state": u.Query().Get("state"), "provider's code": u.Query().Get("code"), "code": told.Get("code"),
			"access token": s.AccessToken, "refresh token": s.RefreshToken, "client secret": "s%&cret", "refused code": "stolen-code",
			"email": "ada@example.com",
		} {
			if secret == "" || strings.Contains(log, secret) {
				t.Errorf("the %s (%q) is in the log", name, secret)
			}
		}
	})
}

func TestOAuthNamesAreUnique(t *testing.T) {
	t.Parallel()
	onSandbox(t, func(t *testing.T, r *rig, _ *clock.Fixed) {
		p := oauth.GitHubProvider("id", "secret")
		if _, err := oauth.NewService(oauth.Deps{DB: r.db, Clock: clock.System(), Accounts: r.accounts, Providers: []oauth.Provider{p, p}}); err == nil {
			t.Error("two providers with the same name are accepted")
		}
	})
}

var _ oauth.AvatarImporter = (*pictures)(nil)

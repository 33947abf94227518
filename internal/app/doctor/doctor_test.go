package doctor_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/emersion/go-smtp"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/app/doctor"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// find runs all checks and returns the findings with a name.
func find(t *testing.T, cfg doctor.Config, name string) []check.Finding {
	t.Helper()
	var found []check.Finding
	for _, f := range doctor.Run(t.Context(), cfg) {
		if f.Name == name {
			found = append(found, f)
		}
		if (f.Status == check.StatusOK) != (f.Fix == nil) && f.Status != check.StatusOK && f.Detail == "" {
			t.Errorf("%s failed without a detail and a fix", f.Name)
		}
	}
	return found
}

// wantFound checks that there is one finding with the name, that it has the status, and that its
// detail contains a text.
func wantFound(t *testing.T, cfg doctor.Config, name string, status check.Status, detail string) {
	t.Helper()
	found := find(t, cfg, name)
	if len(found) != 1 || found[0].Status != status || !strings.Contains(found[0].Detail, detail) {
		t.Errorf("%s: %+v, want %s with %q", name, found, status, detail)
	}
}

func absolute(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// checkSecretsKey checks the finding about the key file, without and with a secret in the database.
func checkSecretsKey(t *testing.T, cfg doctor.Config, db *sqldb.DB) {
	t.Helper()
	file := cfg.Settings.SecretsKey()
	wantFound(t, cfg, "secrets key", check.StatusOK, "does not exist yet")
	if _, err := secrets.Load(t.Context(), db, file); err != nil {
		t.Fatal(err)
	}
	wantFound(t, cfg, "secrets key", check.StatusOK, file+" belongs to this database")
	now := clock.System().Now()
	for _, statement := range []string{
		`INSERT INTO users (id, name, email, created_at, updated_at) VALUES (1, 'Ada', 'ada@example.com', $1, $1)`,
		`INSERT INTO user_totp (user_id, secret, created_at) VALUES (1, 'other.secret', $1)`,
	} {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement, now); err != nil {
			t.Fatal(err)
		}
	}
	wantFound(t, cfg, "secrets key", check.StatusError, file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantFound(t, cfg, "secrets key", check.StatusError, file)
	if _, err := os.Stat(file); err == nil {
		t.Error("the check created the file")
	}
}

func TestDatabaseChecks(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		address := dbtest.URL(t, dialect)
		db := dbtest.Open(t, address)
		folder := t.TempDir()
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		cfg := doctor.Config{Settings: settings.Settings{Data: folder, DatabaseURL: settings.Secret(address), DatabasePatience: dbtest.ConnTimeout}}
		wantFound(t, cfg, "data folder", check.StatusOK, "private")
		wantFound(t, cfg, "database", check.StatusOK, "schema is up to date")
		checkSecretsKey(t, cfg, db)
		if db.Dialect() == sqldb.Postgres {
			wantFound(t, cfg, "clock", check.StatusOK, "differ by")
		} else {
			wantFound(t, cfg, "integrity", check.StatusOK, "quick check passed")
			wantFound(t, cfg, "server", check.StatusOK, "no server")
		}
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		wantFound(t, cfg, "data folder", check.StatusWarning, "other users")
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`); err != nil {
			t.Fatal(err)
		}
		wantFound(t, cfg, "database", check.StatusWarning, "are pending")
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
			t.Fatal(err)
		}
		wantFound(t, cfg, "database", check.StatusError, "newer")
	}
	absent := settings.Settings{DatabaseURL: settings.Secret(sqldb.FileURL(filepath.Join(t.TempDir(), "t.db")))}
	wantFound(t, doctor.Config{Settings: absent}, "database", check.StatusWarning, "does not exist yet")
	away := settings.Settings{DatabaseURL: "postgres://nobody@127.0.0.1:1/x"}
	wantFound(t, doctor.Config{Settings: away}, "database", check.StatusError, "refused")
}

// The base currency must be active, and each other currency in use needs a rate of the last ten days.
func TestRateChecks(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		address := dbtest.URL(t, dialect)
		db := dbtest.Open(t, address)
		exec := func(statement string, args ...any) {
			t.Helper()
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		cfg := doctor.Config{Settings: settings.Settings{Data: t.TempDir(), DatabaseURL: settings.Secret(address), DatabasePatience: dbtest.ConnTimeout}}
		if found := find(t, cfg, "exchange rates"); len(found) != 0 {
			t.Errorf("without a base currency: %+v", found)
		}
		cfg.Settings.BaseCurrency = "CHF"
		wantFound(t, cfg, "TENANTRY_BASE_CURRENCY", check.StatusError, "CHF is not an active currency")
		cfg.Settings.BaseCurrency = "EUR"
		wantFound(t, cfg, "exchange rates", check.StatusOK, "current rate in EUR")
		product, plan, now := sqldb.NewID(), sqldb.NewID(), clock.System().Now()
		exec(`INSERT INTO products (id, slug, name, created_at, updated_at) VALUES ($1, 'p', '{}', $2, $2)`, product, now)
		exec(`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, created_at, updated_at)
			VALUES ($1, $2, 'p', '{}', 'flat', 'monthly', 'month', 1, $3, $3)`, plan, product, now)
		for _, currency := range []string{"EUR", "GBP", "USD"} {
			tenant := sqldb.NewID()
			exec(`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', $2, 'EUR', $3, $3)`, tenant, tenant.String(), now)
			exec(`INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
				billing_anchor, current_period_start, current_period_end, psp_subscription_id, sync_version, created_at, updated_at)
				VALUES ($1, $2, $3, 'active', $4, 100, 1, 'month', 1, $5, $5, $5, $6, 1, $5, $5)`, sqldb.NewID(), tenant, plan, currency, now, currency)
		}
		rate := func(currency string, age int) {
			exec(`INSERT INTO exchange_rates (base, day, currency, rate) VALUES ('EUR', $1, $2, '1.1')`, journal.DayOf(now.AddDate(0, 0, -age)), currency)
		}
		wantFound(t, cfg, "exchange rates", check.StatusWarning, "GBP, USD")
		rate("USD", 2)
		rate("GBP", 12)
		wantFound(t, cfg, "exchange rates", check.StatusWarning, "no rate of the last ten days: GBP")
		rate("GBP", 9)
		wantFound(t, cfg, "exchange rates", check.StatusOK, "current rate in EUR")
	}
}

// Browsers send cookies within one site and scheme. A page can read the cookies of its own host and
// of its parent domains.
func TestCookieChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public, frontend, domain string
		status                   check.Status
	}{
		{"https://example.com", "", "", check.StatusOK},
		{"https://example.com", "https://example.com", "", check.StatusOK},
		{"https://api.example.com", "https://app.example.com", "example.com", check.StatusOK},
		{"https://api.example.com", "https://app.example.com", "", check.StatusWarning},
		{"https://api.example.com", "https://app.example.com", "api.example.com", check.StatusWarning},
		{"https://api.example.com", "https://example.org", "", check.StatusError},
		{"https://a.github.io", "https://b.github.io", "", check.StatusError}, // github.io is a public suffix
		{"https://api.example.com", "http://api.example.com", "", check.StatusError},
		{"http://127.0.0.1:9", "http://127.0.0.1:3000", "", check.StatusOK},
		{"http://example.com", "", "", check.StatusWarning},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the URLs are examples and must not be requested
		s := settings.Settings{PublicURL: absolute(t, c.public), CookieDomain: c.domain}
		if c.frontend != "" {
			s.FrontendURL = absolute(t, c.frontend)
		}
		for _, f := range doctor.Run(ctx, doctor.Config{Settings: s}) {
			if f.Name == "cookies" && f.Status != c.status {
				t.Errorf("%s and %s with %q: %+v", c.public, c.frontend, c.domain, f)
			}
		}
	}
}

// Behind a proxy, the service sees the addresses of clients only if it trusts the proxy.
func TestProxyChecks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the URLs are examples and must not be requested
	for _, c := range []struct {
		public  string
		trusted []netip.Prefix
		want    check.Status // "" for no finding
	}{
		{"https://api.example.com", nil, check.StatusWarning},
		{"https://api.example.com", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, check.StatusOK},
		{"http://127.0.0.1:8080", nil, ""},
	} {
		var got check.Status
		for _, f := range doctor.Run(ctx, doctor.Config{Settings: settings.Settings{PublicURL: absolute(t, c.public), TrustedProxies: c.trusted}}) {
			if f.Name == "proxies" {
				got = f.Status
			}
		}
		if got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.public, c.trusted, got, c.want)
		}
	}
}

// Without a public URL, the redirect URI has the listening address.
func TestRedirectURI(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{"127.0.0.1:8080": "http://127.0.0.1:8080/api", ":8081": "http://localhost:8081/api", "0.0.0.0:80": "http://localhost:80/api"} {
		cfg := doctor.Config{Settings: settings.Settings{Addr: addr}, Logins: []oauth.Provider{{Name: "github"}}}
		wantFound(t, cfg, "login github", check.StatusOK, "register "+want+"/v1/auth/oauth/github/callback as")
	}
}

// The checks use a test server in place of the service and an identity provider, a mail server and
// Redis.
func TestOutsideChecks(t *testing.T) {
	t.Parallel()
	var outside *httptest.Server
	outside = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			_, _ = io.WriteString(w, `{"message":"ok"}`+"\n")
		case "/.well-known/openid-configuration":
			_, _ = io.WriteString(w, `{"issuer":"`+outside.URL+`","authorization_endpoint":"a","token_endpoint":"b","jwks_uri":"c"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer outside.Close()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	post := &post{}
	mails := smtp.NewServer(post)
	mails.Domain = "localhost"
	go func() { _ = mails.Serve(listener) }()
	defer mails.Close()
	redis := miniredis.RunT(t)
	s := settings.Settings{
		PublicURL: absolute(t, outside.URL), SMTPURL: settings.Secret("smtp://" + listener.Addr().String() + "?tls=none"), MailFrom: "a@example.com",
		RedisURL: settings.Secret("redis://" + redis.Addr()),
	}
	cfg := doctor.Config{Settings: s, Logins: []oauth.Provider{{Name: "acme", Issuer: outside.URL}, {Name: "broken", Issuer: outside.URL + "/other"}, {Name: "github"}}}
	wantFound(t, cfg, "public url", check.StatusOK, "reaches the service")
	wantFound(t, cfg, "mail", check.StatusOK, "accepts the login")
	wantFound(t, cfg, "redis", check.StatusOK, "reachable")
	wantFound(t, cfg, "login acme", check.StatusOK, outside.URL+"/api/v1/auth/oauth/acme/callback")
	wantFound(t, cfg, "login broken", check.StatusError, "404")
	wantFound(t, cfg, "login github", check.StatusOK, "redirect URI")
	if post.taken != 0 {
		t.Errorf("%d mails sent without --send-to", post.taken)
	}
	cfg.SendTo = "ops@example.com"
	wantFound(t, cfg, "mail", check.StatusOK, "accepted an email to ops@example.com")
	if post.taken != 1 {
		t.Errorf("%d test mails", post.taken)
	}
	unencrypted := cfg
	unencrypted.Settings.SMTPURL = settings.Secret("smtp://" + listener.Addr().String())
	if found := find(t, unencrypted, "mail"); len(found) != 1 || found[0].Status != check.StatusError || !strings.Contains(*found[0].Fix, "?tls=none") {
		t.Errorf("without STARTTLS: %+v", found)
	}
	redis.Close()
	cfg.Settings.PublicURL = absolute(t, outside.URL+"/elsewhere")
	cfg.Settings.SMTPURL = "smtp://127.0.0.1:1?tls=none"
	wantFound(t, cfg, "public url", check.StatusWarning, "404")
	wantFound(t, cfg, "mail", check.StatusError, "refused")
	wantFound(t, cfg, "redis", check.StatusError, "refused")
}

// post is a mail server that counts accepted mails.
type post struct{ taken int }

func (p *post) NewSession(*smtp.Conn) (smtp.Session, error) { return p, nil }
func (*post) Mail(string, *smtp.MailOptions) error          { return nil }
func (*post) Rcpt(string, *smtp.RcptOptions) error          { return nil }
func (p *post) Data(r io.Reader) error {
	p.taken++
	_, err := io.Copy(io.Discard, r)
	return err
}
func (*post) Reset()        {}
func (*post) Logout() error { return nil }

// A server locks its database; a sandbox server locks the sandbox.
func TestAServerIsNoticed(t *testing.T) {
	t.Parallel()
	address, folder := dbtest.URL(t, sqldb.SQLite), t.TempDir()
	u := absolute(t, address)
	cfg := doctor.Config{Settings: settings.Settings{Data: folder, DatabaseURL: settings.Secret(address), DatabasePatience: dbtest.ConnTimeout}}
	for sandboxed, file := range map[bool]string{false: sqldb.FilePath(u), true: filepath.Join(folder, settings.SandboxFile)} {
		cfg.Sandbox = sandboxed
		release, err := datadir.Lock(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		wantFound(t, cfg, "server", check.StatusOK, "a server is running")
		release()
		wantFound(t, cfg, "server", check.StatusOK, "no server")
	}
}

func TestSettingsChecks(t *testing.T) {
	t.Parallel()
	wrong := errors.Join(&settings.Error{Name: "TENANTRY_ADDR", Reason: "is wrong"}, errors.Join(&settings.Error{Name: "TENANTRY_DATA", Reason: "is not a folder"}))
	cfg := doctor.Config{SettingsError: wrong, Unknown: []settings.UnknownVariable{{Name: "TENANTRY_ADR", Nearest: "TENANTRY_ADDR"}}}
	wantFound(t, cfg, "TENANTRY_ADDR", check.StatusError, "is wrong")
	wantFound(t, cfg, "TENANTRY_DATA", check.StatusError, "is not a folder")
	wantFound(t, cfg, "TENANTRY_ADR", check.StatusWarning, "unknown setting")
	wantFound(t, doctor.Config{}, "settings", check.StatusOK, "valid for tenantry serve")
	wantFound(t, doctor.Config{Sandbox: true}, "stripe", check.StatusOK, "not needed")
	cfg.Provider = func(context.Context) ([]check.Finding, error) {
		return []check.Finding{{Name: "key", Status: check.StatusError, Detail: "it is revoked"}}, nil
	}
	wantFound(t, cfg, "stripe: key", check.StatusError, "it is revoked")
}

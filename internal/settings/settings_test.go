package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// reasons returns the reasons of wrong settings by name.
func reasons(err error) map[string]string {
	got := make(map[string]string)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return got
	}
	for _, err := range joined.Unwrap() {
		var setting *settings.Error
		if errors.As(err, &setting) {
			got[setting.Name] = setting.Reason
		}
	}
	return got
}

func TestDevNeedsNoSettings(t *testing.T) {
	t.Parallel()
	got, err := settings.DevFlags{}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("data")
	want := settings.Settings{
		Addr: "127.0.0.1:8080", Data: data, DatabaseURL: settings.Secret(sqldb.FileURL(filepath.Join(data, "tenantry.db"))),
		RateLimits: limit.Defaults(), InvoiceMode: settings.InvoicesByPSP, Invoices: plainInvoices, LogLevel: slog.LevelInfo, LogFormat: settings.LogText,
		Lifetimes: account.DefaultLifetimes(), OptionalMails: letters.OptionalMails(), DemoDefaultPlan: "free",
	}
	got.Sources = nil // tested in package sources
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsAreParsed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	flags := settings.ServeFlags{
		HTTPFlags: settings.HTTPFlags{
			Addr: ":0", PublicURL: "https://API.example.com/", FrontendURL: "https://example.com/app/", CookieDomain: ".Example.com",
			FirstPartyHosts: "Example.com, www.example.com:8443", TrustedProxies: "10.0.0.0/8,192.0.2.1, ::1,::ffff:192.0.2.2,10.1.2.3/16",
			RateLimits: "off", RedisURL: "rediss://u:p@redis:6380/1", MetricsAddr: "127.0.0.1:9464", StopDelay: "5s",
		},
		InvoiceFlags: settings.InvoiceFlags{
			InvoiceMode: "platform_managed", InvoiceNumberFormat: "{year}/{number}", TaxRates: "DE=19, FR=5.5",
			SellerName: "Engines", SellerAddress: "12 St James’s Square|London", SellerVATNumber: "GB1", SellerEmail: "a@example.com",
		},
		StoreFlags:    settings.StoreFlags{Data: data, DatabaseURL: "postgres://u:p@db/tenantry", DatabaseConns: "40", LogLevel: "WARN"},
		ExternalFlags: settings.ExternalFlags{MailFrom: "Tenantry <no-reply@example.com>"},
	}
	got, err := flags.Settings(env(map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY": "sk_test_1", "TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1,whsec_0", "TENANTRY_SMTP_URL": "smtp://u:p@mail",
	}))
	if err != nil {
		t.Fatal(err)
	}
	off := limit.Defaults()
	for group := range off {
		off[group] = 0
	}
	text := []string{got.PublicURL.String(), got.FrontendURL.String()}
	if diff := cmp.Diff([]string{"https://api.example.com", "https://example.com/app"}, text); diff != "" {
		t.Error(diff)
	}
	got.PublicURL, got.FrontendURL = nil, nil
	want := settings.Settings{
		OptionalMails: letters.DefaultOptionalMails(),
		Addr:          ":0", Data: data, DatabaseURL: "postgres://u:p@db/tenantry", DatabaseConns: 40,
		FirstPartyHosts: []string{"example.com", "www.example.com:8443"}, CookieDomain: "example.com",
		TrustedProxies: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128"),
			netip.MustParsePrefix("192.0.2.2/32"), netip.MustParsePrefix("10.1.0.0/16"),
		},
		RateLimits: off, RedisURL: "rediss://u:p@redis:6380/1", InvoiceMode: settings.InvoicesByPlatform, MetricsAddr: "127.0.0.1:9464",
		StopDelay: 5 * time.Second,
		Invoices: settings.Invoices{
			Numbers: "{year}/{number}", Taxes: map[string]int64{"DE": 190_000, "FR": 55_000},
			Seller: invoice.Seller{Name: "Engines", Lines: []string{"12 St James’s Square", "London"}, VATNumber: "GB1", Email: "a@example.com"},
		},
		StripeSecretKey: "sk_test_1", StripeWebhookSecrets: []settings.Secret{"whsec_1", "whsec_0"}, SMTPURL: "smtp://u:p@mail", Lifetimes: account.DefaultLifetimes(),
		MailFrom: "Tenantry <no-reply@example.com>",
		LogLevel: slog.LevelWarn, LogFormat: settings.LogJSON,
	}
	got.Sources = nil
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, reason string
		http         settings.HTTPFlags
		store        settings.StoreFlags
	}{
		{"TENANTRY_ADDR", `"8080" is not host:port`, settings.HTTPFlags{Addr: "8080"}, settings.StoreFlags{}},
		{"TENANTRY_ADDR", `"localhost:http" is not host:port`, settings.HTTPFlags{Addr: "localhost:http"}, settings.StoreFlags{}},
		{"TENANTRY_ADDR", `":65536" is not host:port`, settings.HTTPFlags{Addr: ":65536"}, settings.StoreFlags{}},
		{"TENANTRY_METRICS_ADDR", `"9464" is not host:port`, settings.HTTPFlags{MetricsAddr: "9464"}, settings.StoreFlags{}},
		{"TENANTRY_STOP_DELAY", `"5" is not a duration from 0s to 30s, such as 5s`, settings.HTTPFlags{StopDelay: "5"}, settings.StoreFlags{}},
		{"TENANTRY_STOP_DELAY", `"-1s" is not a duration from 0s to 30s, such as 5s`, settings.HTTPFlags{StopDelay: "-1s"}, settings.StoreFlags{}},
		{"TENANTRY_STOP_DELAY", `"31s" is not a duration from 0s to 30s, such as 5s`, settings.HTTPFlags{StopDelay: "31s"}, settings.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "not an absolute http or https URL", settings.HTTPFlags{PublicURL: "example.com"}, settings.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "not an absolute http or https URL", settings.HTTPFlags{PublicURL: "ftp://example.com"}, settings.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "not an absolute http or https URL", settings.HTTPFlags{PublicURL: "https://:443"}, settings.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "not an absolute http or https URL", settings.HTTPFlags{PublicURL: "https://a\nb"}, settings.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "the port must be from 1 to 65535", settings.HTTPFlags{PublicURL: "https://example.com:65536"}, settings.StoreFlags{}},
		{"TENANTRY_FRONTEND_URL", "the port must be from 1 to 65535", settings.HTTPFlags{FrontendURL: "https://example.com:0"}, settings.StoreFlags{}},
		{"TENANTRY_FIRST_PARTY_HOSTS", `"example.com:99999" is not a host or host:port`, settings.HTTPFlags{FirstPartyHosts: "example.com:99999"}, settings.StoreFlags{}},
		{"TENANTRY_REDIS_URL", limit.ErrRedisURL.Error(), settings.HTTPFlags{RedisURL: "redis://redis:99999"}, settings.StoreFlags{}},
		{"TENANTRY_DATABASE_URL", "the port must be from 1 to 65535", settings.HTTPFlags{}, settings.StoreFlags{DatabaseURL: "postgres://u:p@db:65536/x"}},
		{"TENANTRY_FRONTEND_URL", "must not have a user or a password", settings.HTTPFlags{FrontendURL: "https://u:p@example.com"}, settings.StoreFlags{}},
		{"TENANTRY_FRONTEND_URL", "must not have a query or a fragment", settings.HTTPFlags{FrontendURL: "https://example.com/?a"}, settings.StoreFlags{}},
		{"TENANTRY_FIRST_PARTY_HOSTS", `"https://example.com" is not a host or host:port`, settings.HTTPFlags{FirstPartyHosts: "https://example.com"}, settings.StoreFlags{}},
		{"TENANTRY_FIRST_PARTY_HOSTS", `"*.example.com" is not a host or host:port`, settings.HTTPFlags{FirstPartyHosts: "*.example.com"}, settings.StoreFlags{}},
		{"TENANTRY_COOKIE_DOMAIN", `"com" is not a domain such as example.com`, settings.HTTPFlags{PublicURL: "https://example.com", CookieDomain: "com"}, settings.StoreFlags{}},
		{"TENANTRY_COOKIE_DOMAIN", `"127.0.0.1" is not a domain such as example.com`, settings.HTTPFlags{CookieDomain: "127.0.0.1"}, settings.StoreFlags{}},
		{"TENANTRY_COOKIE_DOMAIN", `"a.example:80" is not a domain such as example.com`, settings.HTTPFlags{CookieDomain: "a.example:80"}, settings.StoreFlags{}},
		{"TENANTRY_COOKIE_DOMAIN", `"ample.com" is neither the host of TENANTRY_PUBLIC_URL nor a domain above it`, settings.HTTPFlags{PublicURL: "https://api.example.com", CookieDomain: "ample.com"}, settings.StoreFlags{}},
		{"TENANTRY_TOKEN_AUDIENCE", "must have at most 255 printable ASCII characters, without spaces", settings.HTTPFlags{TokenAudience: "my product"}, settings.StoreFlags{}},
		{"TENANTRY_TOKEN_AUDIENCE", "must have at most 255 printable ASCII characters, without spaces", settings.HTTPFlags{TokenAudience: strings.Repeat("x", 256)}, settings.StoreFlags{}},
		{"TENANTRY_TRUSTED_PROXIES", `"proxy" is neither an IP address nor a network such as 10.0.0.0/8`, settings.HTTPFlags{TrustedProxies: "10.0.0.1,proxy"}, settings.StoreFlags{}},
		{"TENANTRY_TRUSTED_PROXIES", `"10.0.0.0/33" is neither an IP address nor a network such as 10.0.0.0/8`, settings.HTTPFlags{TrustedProxies: "10.0.0.0/33"}, settings.StoreFlags{}},
		{"TENANTRY_RATE_LIMITS", `group "login" appears twice`, settings.HTTPFlags{RateLimits: "login=1,login=1"}, settings.StoreFlags{}},
		{"TENANTRY_REDIS_URL", limit.ErrRedisURL.Error(), settings.HTTPFlags{RedisURL: "http://u:p@redis"}, settings.StoreFlags{}},
		{"TENANTRY_REDIS_URL", "set together with TENANTRY_REDIS_URL_FILE; set only one of them", settings.HTTPFlags{RedisURL: "x", RedisURLFile: file}, settings.StoreFlags{}},
		{"TENANTRY_DATA", file + " is not a folder", settings.HTTPFlags{}, settings.StoreFlags{Data: file}},
		{"TENANTRY_DATABASE_URL", "must begin with postgres:// or sqlite://", settings.HTTPFlags{}, settings.StoreFlags{DatabaseURL: "mysql://u:p@db/x"}},
		{"TENANTRY_DATABASE_URL", "not of the form sqlite:///absolute/path", settings.HTTPFlags{}, settings.StoreFlags{DatabaseURL: "sqlite://data/x.db"}},
		{"TENANTRY_DATABASE_URL", "not a URL", settings.HTTPFlags{}, settings.StoreFlags{DatabaseURL: "postgres://u:p#@db/x%zz"}},
		{"TENANTRY_DATABASE_URL", "set together with TENANTRY_DATABASE_URL_FILE; set only one of them", settings.HTTPFlags{}, settings.StoreFlags{DatabaseURL: "x", DatabaseURLFile: file}},
		{"TENANTRY_DATABASE_CONNS", `"3" is not a number from 4 to 500`, settings.HTTPFlags{}, settings.StoreFlags{DatabaseConns: "3"}},
		{"TENANTRY_DATABASE_CONNS", `"many" is not a number from 4 to 500`, settings.HTTPFlags{}, settings.StoreFlags{DatabaseConns: "many"}},
		{"TENANTRY_LOG_LEVEL", `"loud" is not debug, info, warn or error`, settings.HTTPFlags{}, settings.StoreFlags{LogLevel: "loud"}},
		{"TENANTRY_LOG_LEVEL", `"info+2" is not debug, info, warn or error`, settings.HTTPFlags{}, settings.StoreFlags{LogLevel: "info+2"}},
		{"TENANTRY_LOG_FORMAT", `"xml" is neither text nor json`, settings.HTTPFlags{}, settings.StoreFlags{LogFormat: "xml"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := settings.DevFlags{HTTPFlags: tt.http, StoreFlags: tt.store}.Settings(env(nil))
			if diff := cmp.Diff(map[string]string{tt.name: tt.reason}, reasons(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServeRequiresTheOutsideWorld(t *testing.T) {
	t.Parallel()
	_, err := settings.ServeFlags{}.Settings(env(nil))
	want := map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY": "required by serve", "TENANTRY_STRIPE_WEBHOOK_SECRET": "required by serve",
		"TENANTRY_SMTP_URL": "required by serve", "TENANTRY_MAIL_FROM": "required by serve",
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
}

func TestServeRefusesTheSandbox(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, settings.SandboxFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := settings.ServeFlags{StoreFlags: settings.StoreFlags{Data: data}, ExternalFlags: settings.ExternalFlags{MailFrom: "a@b.test"}}
	_, err := flags.Settings(env(map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY": "sk_sandbox_1", "TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1", "TENANTRY_SMTP_URL": "smtp://mail",
	}))
	want := map[string]string{
		"TENANTRY_DATA":              data + " belongs to a sandbox of tenantry dev, whose accounts have public passwords",
		"TENANTRY_STRIPE_SECRET_KEY": "this is a sandbox key; use --stripe-url with the URL of its sandbox, such as http://127.0.0.1:12111",
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
}

// A wrong secret is never repeated in an error.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flags := settings.ServeFlags{
		StoreFlags: settings.StoreFlags{Data: dir, DatabaseURLFile: write("db", "postgres://u:hush@db:port/x\n")},
		HTTPFlags:  settings.HTTPFlags{RedisURLFile: write("redis", "redis://u:hush@redis:port\n")},
		ExternalFlags: settings.ExternalFlags{
			StripeSecretKeyFile: write("empty", "\n"), StripeWebhookSecretFile: write("long", strings.Repeat("hush", 5000)),
			MailFrom: "a@b.test",
		},
	}
	_, err := flags.Settings(env(map[string]string{"TENANTRY_SMTP_URL": "smtp://user:hu#sh@mail"}))
	want := map[string]string{
		"TENANTRY_DATABASE_URL":               "not a URL",
		"TENANTRY_REDIS_URL":                  limit.ErrRedisURL.Error(),
		"TENANTRY_STRIPE_SECRET_KEY_FILE":     dir + "/empty is empty",
		"TENANTRY_STRIPE_WEBHOOK_SECRET_FILE": dir + "/long is too large for a secret",
		"TENANTRY_SMTP_URL":                   "not of the form smtp://[user:password@]host[:port] or smtps://…",
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
	_, err = settings.ServeFlags{ExternalFlags: settings.ExternalFlags{MailFrom: "nobody", StripeSecretKeyFile: dir + "/none"}}.Settings(env(map[string]string{
		"TENANTRY_STRIPE_WEBHOOK_SECRET": "hush", "TENANTRY_SMTP_URL": "smtp://mail",
	}))
	want = map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY_FILE": "open " + dir + "/none: no such file or directory",
		"TENANTRY_STRIPE_WEBHOOK_SECRET":  "must begin with whsec_",
		"TENANTRY_MAIL_FROM":              `"nobody" is not an email address`,
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
	for from, accepted := range map[string]bool{
		"Tenantry <no-reply@example.com>": true, "root@localhost": true, "Größe <a@münchen.example>": true,
		"ü@example.com": false, "a@-ü.example": false,
	} {
		_, err := settings.ServeFlags{ExternalFlags: settings.ExternalFlags{MailFrom: from}}.Settings(env(nil))
		if refused := reasons(err)["TENANTRY_MAIL_FROM"] != ""; refused == accepted {
			t.Errorf("sender %s: refused %t", from, refused)
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, []byte("sk_test_1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	redis := filepath.Join(dir, "redis")
	if err := os.WriteFile(redis, []byte("redis://:p@redis\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := settings.ServeFlags{
		HTTPFlags:     settings.HTTPFlags{RedisURLFile: redis},
		ExternalFlags: settings.ExternalFlags{StripeSecretKeyFile: path, MailFrom: "a@b.test"},
	}
	others := map[string]string{"TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1", "TENANTRY_SMTP_URL": "smtp://mail"}
	got, err := flags.Settings(env(others))
	if err != nil || got.StripeSecretKey.Reveal() != "sk_test_1" || got.RedisURL.Reveal() != "redis://:p@redis" {
		t.Errorf("read %q and %q, %v", got.StripeSecretKey.Reveal(), got.RedisURL.Reveal(), err)
	}
	others["TENANTRY_STRIPE_SECRET_KEY"] = "sk_test_2"
	_, err = flags.Settings(env(others))
	want := map[string]string{"TENANTRY_STRIPE_SECRET_KEY": "set together with TENANTRY_STRIPE_SECRET_KEY_FILE; set only one of them"}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := settings.Settings{StripeSecretKey: "hush"}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		fmt.Fprintf(&out, verb+"\n", s.StripeSecretKey, s)
		fmt.Fprintf(&out, verb+"\n", s, &s)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("settings", "s", s, "key", s.StripeSecretKey)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("settings", "s", s, "key", s.StripeSecretKey)
	dump, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(dump)
	out.WriteString(s.StripeSecretKey.String())
	if text := out.String(); strings.Contains(text, "hush") || strings.Contains(text, "68757368") || !strings.Contains(text, "[secret]") {
		t.Error(text)
	}
}

func TestListening(t *testing.T) {
	t.Parallel()
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	got := settings.Settings{}.WithListenAddress(loopback)
	if got.PublicURL.String() != "http://127.0.0.1:8080" || got.FrontendURL.String() != "http://127.0.0.1:8080" {
		t.Errorf("%v %v", got.PublicURL, got.FrontendURL)
	}
	if got := (settings.Settings{}).WithListenAddress(&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}); got.PublicURL.String() != "http://localhost:80" {
		t.Errorf("on every interface: %v", got.PublicURL)
	}
	given, err := settings.DevFlags{HTTPFlags: settings.HTTPFlags{FrontendURL: "https://example.com"}}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	got = given.WithListenAddress(loopback)
	if got.FrontendURL.String() != "https://example.com" {
		t.Errorf("%v", got.FrontendURL)
	}
}

func TestLifetimesAreParsed(t *testing.T) {
	t.Parallel()
	got, err := settings.DevFlags{LifetimeFlags: settings.LifetimeFlags{
		AccessTokenLifetime: "5m", RefreshTokenLifetime: "48h", SessionLifetime: "36h", InvitationLifetime: "30",
	}}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := account.DefaultLifetimes()
	want.Access, want.Refresh, want.Session, want.SessionEnd = 5*time.Minute, 48*time.Hour, 36*time.Hour, 36*time.Hour
	if diff := cmp.Diff(want, got.Lifetimes); diff != "" || got.InvitationDays != 30 {
		t.Errorf("%s, invitations %d", diff, got.InvitationDays)
	}
	_, err = settings.DevFlags{LifetimeFlags: settings.LifetimeFlags{
		AccessTokenLifetime: "15", RefreshTokenLifetime: "-1h", RefreshFamilyLifetime: "0s", SessionLifetime: "999999h",
		RememberedSessionLifetime: "x", InvitationLifetime: "31",
	}}.Settings(env(nil))
	for _, name := range []string{
		"TENANTRY_ACCESS_TOKEN_LIFETIME", "TENANTRY_REFRESH_TOKEN_LIFETIME", "TENANTRY_REFRESH_FAMILY_LIFETIME",
		"TENANTRY_SESSION_LIFETIME", "TENANTRY_REMEMBERED_SESSION_LIFETIME", "TENANTRY_INVITATION_LIFETIME",
	} {
		if !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s is not refused: %v", name, err)
		}
	}
}

func TestPaymentSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grace, attempts string
		wantGrace, want int
		refused         bool
	}{
		{"", "", 0, 0, false},
		{"0", "2", 0, 2, false},
		{"30", "9", 30, 9, false},
		{"31", "10", 0, 0, true},
		{"-1", "1", 0, 0, true},
		{"7.5", "four", 0, 0, true},
		{"+7", "04", 0, 0, true},
	} {
		got, err := settings.DevFlags{PaymentFlags: settings.PaymentFlags{PastDueGrace: c.grace, PaymentAttempts: c.attempts}}.Settings(env(nil))
		if got.PastDueGrace != time.Duration(c.wantGrace)*24*time.Hour || got.PaymentAttempts != c.want || (err != nil) != c.refused {
			t.Errorf("%q, %q: %v, %d, %v", c.grace, c.attempts, got.PastDueGrace, got.PaymentAttempts, err)
		}
		for _, name := range []string{"TENANTRY_PAST_DUE_GRACE_DAYS", "TENANTRY_PAYMENT_ATTEMPTS"} {
			if c.refused && !strings.Contains(err.Error(), name+": ") {
				t.Errorf("%s is not refused: %v", name, err)
			}
		}
	}
}

func TestInvoiceReminders(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]int{"": nil, "off": {}, "-3,1,7,14": {-3, 1, 7, 14}, "-180, 365": {-180, 365}, "0": {0}} {
		got, err := settings.DevFlags{PaymentFlags: settings.PaymentFlags{InvoiceReminders: value}}.Settings(env(nil))
		if err != nil || !slices.Equal(got.InvoiceReminders, want) || (got.InvoiceReminders == nil) != (want == nil) {
			t.Errorf("%q: %v, %v", value, got.InvoiceReminders, err)
		}
	}
	for _, value := range []string{"-181", "366", "1,,2", "1,1", "+1", "01", "none", "1;2", ","} {
		_, err := settings.DevFlags{PaymentFlags: settings.PaymentFlags{InvoiceReminders: value}}.Settings(env(nil))
		if err == nil || !strings.Contains(err.Error(), "TENANTRY_INVOICE_REMINDERS: ") {
			t.Errorf("%q is not refused: %v", value, err)
		}
	}
}

func TestUsageSettings(t *testing.T) {
	t.Parallel()
	got, err := settings.DevFlags{UsageFlags: settings.UsageFlags{UsageRetention: "400", UsageArchive: "/var/archive"}}.Settings(env(nil))
	if err != nil || got.UsageRetention != 400*24*time.Hour || got.UsageArchive != "/var/archive" {
		t.Errorf("%v %q %v", got.UsageRetention, got.UsageArchive, err)
	}
	if got, err := (settings.DevFlags{}).Settings(env(nil)); err != nil || got.UsageRetention != 0 || got.UsageArchive != "" {
		t.Errorf("by default %v %q %v", got.UsageRetention, got.UsageArchive, err)
	}
	for _, days := range []string{"34", "36501", "400d", "-1"} {
		_, err := settings.DevFlags{UsageFlags: settings.UsageFlags{UsageRetention: days}}.Settings(env(nil))
		if err == nil || !strings.Contains(err.Error(), "TENANTRY_USAGE_RETENTION: ") {
			t.Errorf("%s is not refused: %v", days, err)
		}
	}
}

var plainInvoices = settings.Invoices{
	Numbers: invoice.DefaultNumbers, Taxes: map[string]int64{}, Seller: invoice.Seller{Name: "Tenantry", Lines: []string{}},
}

func TestWrongInvoiceSettingsAreNamed(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "logo.png")
	if err := os.WriteFile(text, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, reason string
		flags        settings.InvoiceFlags
	}{
		{"TENANTRY_INVOICE_MODE", `"paper" is neither psp_managed nor platform_managed`, settings.InvoiceFlags{InvoiceMode: "paper"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "must contain {year} once", settings.InvoiceFlags{InvoiceNumberFormat: "INV-{number}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "must contain {number} once", settings.InvoiceFlags{InvoiceNumberFormat: "INV-{year}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "can contain ASCII letters, digits and punctuation, {year} and {number:digits}", settings.InvoiceFlags{InvoiceNumberFormat: "{year}-{number:x}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "can contain ASCII letters, digits and punctuation, {year} and {number:digits}", settings.InvoiceFlags{InvoiceNumberFormat: "{year}-{number}\r\n"}},
		{"TENANTRY_SELLER_TIME_ZONE", `"Mars/Olympus" is not a time zone such as Europe/Berlin`, settings.InvoiceFlags{SellerTimeZone: "Mars/Olympus"}},
		{"TENANTRY_SELLER_TIME_ZONE", `"Local" is not a time zone such as Europe/Berlin`, settings.InvoiceFlags{SellerTimeZone: "Local"}},
		{"TENANTRY_SELLER_COUNTRY", `"de" is not a country code such as DE`, settings.InvoiceFlags{SellerCountry: "de"}},
		{"TENANTRY_SELLER_COUNTRY", "required for TENANTRY_E_INVOICE", settings.InvoiceFlags{EInvoice: "factur-x", SellerVATNumber: "DE1"}},
		{"TENANTRY_SELLER_VAT_NUMBER", "required for TENANTRY_E_INVOICE", settings.InvoiceFlags{EInvoice: "factur-x", SellerCountry: "DE"}},
		{"TENANTRY_E_INVOICE", `"zugferd" is neither factur-x nor off`, settings.InvoiceFlags{EInvoice: "zugferd"}},
		{"TENANTRY_INVOICE_LOGO", text + ": must be a PNG or JPEG image", settings.InvoiceFlags{InvoiceLogo: text}},
		{"TENANTRY_TAX_RATES", `"DE" is not a country and a rate from 0 to 100 percent such as DE=19 or FR=5.5`, settings.InvoiceFlags{TaxRates: "DE"}},
		{"TENANTRY_TAX_RATES", `"DE=101" is not a country and a rate from 0 to 100 percent such as DE=19 or FR=5.5`, settings.InvoiceFlags{TaxRates: "DE=101"}},
		{"TENANTRY_TAX_RATES", `"XX" is not a country code such as DE`, settings.InvoiceFlags{TaxRates: "XX=1"}},
		{"TENANTRY_TAX_RATES", `"DE" appears twice`, settings.InvoiceFlags{TaxRates: "DE=1,DE=2"}},
	} {
		_, err := settings.DevFlags{InvoiceFlags: test.flags, StoreFlags: settings.StoreFlags{Data: t.TempDir()}}.Settings(env(nil))
		var wrong *settings.Error
		if !errors.As(err, &wrong) || wrong.Name != test.name || wrong.Reason != test.reason {
			t.Errorf("%+v: %v", test.flags, err)
		}
	}
}

// TestTheStripeSandbox checks the settings of the stand-alone payment provider.
func TestTheStripeSandbox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got, err := settings.StripeSandboxFlags{Data: dir}.Settings()
	if err != nil || got.Addr != "127.0.0.1:12111" || got.Data != dir || got.PublicURL != nil || got.Key != "" || got.Webhook != "" {
		t.Errorf("by itself: %+v, %v", got, err)
	}
	got, err = settings.StripeSandboxFlags{
		Data: dir, Addr: ":4242", PublicURL: "http://stripe.test/", Key: "sk_test_1", Webhook: "http://127.0.0.1:3000/hooks", WebhookSecret: "whsec_1",
	}.Settings()
	if err != nil || got.Addr != ":4242" || got.PublicURL.String() != "http://stripe.test" || got.Key.Reveal() != "sk_test_1" ||
		got.Webhook != "http://127.0.0.1:3000/hooks" || got.WebhookSecret.Reveal() != "whsec_1" {
		t.Errorf("as given: %+v, %v", got, err)
	}
	_, err = settings.StripeSandboxFlags{Data: dir, Addr: "80", PublicURL: "stripe.test", Key: "sk_live_1", Webhook: "ftp://a/b"}.Settings()
	for _, want := range []string{"--addr", "--url", "--key", "--webhook"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not refused: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "sk_live_1") {
		t.Errorf("the key is printed: %v", err)
	}
}

// TestDevTakesAKeyOfPlayMoney checks that dev accepts a test key from the environment, but no live
// key.
func TestDevTakesAKeyOfPlayMoney(t *testing.T) {
	t.Parallel()
	for key, fine := range map[string]bool{"": true, "sk_test_mine": true, "rk_test_mine": true, "sk_live_1": false, "pk_test_1": false} {
		got, err := settings.DevFlags{}.Settings(env(map[string]string{"TENANTRY_STRIPE_SECRET_KEY": key}))
		if (err == nil) != fine || fine && got.StripeSecretKey.Reveal() != key {
			t.Errorf("%q: %v", key, err)
		}
	}
}

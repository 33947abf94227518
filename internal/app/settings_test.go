package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/limit"
)

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// reasons are the wrong settings by name.
func reasons(err error) map[string]string {
	got := make(map[string]string)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return got
	}
	for _, err := range joined.Unwrap() {
		var setting *app.SettingError
		if errors.As(err, &setting) {
			got[setting.Name] = setting.Reason
		}
	}
	return got
}

func TestDevNeedsNoSettings(t *testing.T) {
	t.Parallel()
	got, err := app.DevFlags{}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("data")
	want := app.Settings{
		Addr: "127.0.0.1:8080", Data: data, DatabaseURL: app.Secret("sqlite://" + data + "/tenantry.db"),
		RateLimits: limit.Defaults(), InvoiceMode: app.PSPManaged, Invoices: plainInvoices, LogLevel: slog.LevelInfo, LogFormat: app.LogText,
		Lifetimes: account.DefaultLifetimes(), InvitationDays: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsAreParsed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	flags := app.ServeFlags{
		HTTPFlags: app.HTTPFlags{
			Addr: ":0", PublicURL: "https://API.example.com/", FrontendURL: "https://example.com/app/",
			FirstPartyHosts: "Example.com, www.example.com:8443", TrustedProxies: "10.0.0.0/8,192.0.2.1, ::1,::ffff:192.0.2.2,10.1.2.3/16",
			RateLimits: "off", RedisURL: "rediss://u:p@redis:6380/1", MetricsAddr: "127.0.0.1:9464",
		},
		InvoiceFlags: app.InvoiceFlags{
			InvoiceMode: "platform_managed", InvoiceNumberFormat: "{year}/{number}", TaxRates: "DE=19, FR=5.5",
			SellerName: "Engines", SellerAddress: "12 St James’s Square|London", SellerVATNumber: "GB1", SellerEmail: "a@example.com",
		},
		StoreFlags:   app.StoreFlags{Data: data, DatabaseURL: "postgres://u:p@db/tenantry", LogLevel: "WARN"},
		OutsideFlags: app.OutsideFlags{MailFrom: "Tenantry <no-reply@example.com>"},
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
	want := app.Settings{
		Addr: ":0", Data: data, DatabaseURL: "postgres://u:p@db/tenantry",
		FirstPartyHosts: []string{"example.com", "www.example.com:8443"},
		TrustedProxies: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128"),
			netip.MustParsePrefix("192.0.2.2/32"), netip.MustParsePrefix("10.1.0.0/16"),
		},
		RateLimits: off, RedisURL: "rediss://u:p@redis:6380/1", InvoiceMode: app.PlatformManaged, MetricsAddr: "127.0.0.1:9464",
		Invoices: app.InvoiceSettings{
			Numbers: "{year}/{number}", Taxes: map[string]int64{"DE": 190_000, "FR": 55_000},
			Seller: invoice.Seller{Name: "Engines", Lines: []string{"12 St James’s Square", "London"}, VATNumber: "GB1", Email: "a@example.com"},
		},
		StripeSecretKey: "sk_test_1", StripeWebhookSecrets: []app.Secret{"whsec_1", "whsec_0"}, SMTPURL: "smtp://u:p@mail", Lifetimes: account.DefaultLifetimes(), InvitationDays: 7,
		MailFrom: "Tenantry <no-reply@example.com>",
		LogLevel: slog.LevelWarn, LogFormat: app.LogJSON,
	}
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
		http         app.HTTPFlags
		store        app.StoreFlags
	}{
		{"TENANTRY_ADDR", `"8080" is not host:port`, app.HTTPFlags{Addr: "8080"}, app.StoreFlags{}},
		{"TENANTRY_ADDR", `"localhost:http" is not host:port`, app.HTTPFlags{Addr: "localhost:http"}, app.StoreFlags{}},
		{"TENANTRY_ADDR", `":65536" is not host:port`, app.HTTPFlags{Addr: ":65536"}, app.StoreFlags{}},
		{"TENANTRY_METRICS_ADDR", `"9464" is not host:port`, app.HTTPFlags{MetricsAddr: "9464"}, app.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "is not an absolute http or https URL", app.HTTPFlags{PublicURL: "example.com"}, app.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "is not an absolute http or https URL", app.HTTPFlags{PublicURL: "ftp://example.com"}, app.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "is not an absolute http or https URL", app.HTTPFlags{PublicURL: "https://:443"}, app.StoreFlags{}},
		{"TENANTRY_PUBLIC_URL", "is not an absolute http or https URL", app.HTTPFlags{PublicURL: "https://a\nb"}, app.StoreFlags{}},
		{"TENANTRY_FRONTEND_URL", "must not have a user or a password", app.HTTPFlags{FrontendURL: "https://u:p@example.com"}, app.StoreFlags{}},
		{"TENANTRY_FRONTEND_URL", "must not have a query or a fragment", app.HTTPFlags{FrontendURL: "https://example.com/?a"}, app.StoreFlags{}},
		{"TENANTRY_FIRST_PARTY_HOSTS", `"https://example.com" is not a host or host:port`, app.HTTPFlags{FirstPartyHosts: "https://example.com"}, app.StoreFlags{}},
		{"TENANTRY_FIRST_PARTY_HOSTS", `"*.example.com" is not a host or host:port`, app.HTTPFlags{FirstPartyHosts: "*.example.com"}, app.StoreFlags{}},
		{"TENANTRY_TRUSTED_PROXIES", `"proxy" is neither an IP address nor a network such as 10.0.0.0/8`, app.HTTPFlags{TrustedProxies: "10.0.0.1,proxy"}, app.StoreFlags{}},
		{"TENANTRY_TRUSTED_PROXIES", `"10.0.0.0/33" is neither an IP address nor a network such as 10.0.0.0/8`, app.HTTPFlags{TrustedProxies: "10.0.0.0/33"}, app.StoreFlags{}},
		{"TENANTRY_RATE_LIMITS", `group "login" is given twice`, app.HTTPFlags{RateLimits: "login=1,login=1"}, app.StoreFlags{}},
		{"TENANTRY_REDIS_URL", limit.ErrRedisURL.Error(), app.HTTPFlags{RedisURL: "http://u:p@redis"}, app.StoreFlags{}},
		{"TENANTRY_REDIS_URL", "given itself and as TENANTRY_REDIS_URL_FILE: give one of them", app.HTTPFlags{RedisURL: "x", RedisURLFile: file}, app.StoreFlags{}},
		{"TENANTRY_DATA", file + " is not a folder", app.HTTPFlags{}, app.StoreFlags{Data: file}},
		{"TENANTRY_DATABASE_URL", "begins with neither postgres:// nor sqlite://", app.HTTPFlags{}, app.StoreFlags{DatabaseURL: "mysql://u:p@db/x"}},
		{"TENANTRY_DATABASE_URL", "is not of the form sqlite:///absolute/path", app.HTTPFlags{}, app.StoreFlags{DatabaseURL: "sqlite://data/x.db"}},
		{"TENANTRY_DATABASE_URL", "is not a URL", app.HTTPFlags{}, app.StoreFlags{DatabaseURL: "postgres://u:p#@db/x%zz"}},
		{"TENANTRY_DATABASE_URL", "given itself and as TENANTRY_DATABASE_URL_FILE: give one of them", app.HTTPFlags{}, app.StoreFlags{DatabaseURL: "x", DatabaseURLFile: file}},
		{"TENANTRY_LOG_LEVEL", `"loud" is not debug, info, warn or error`, app.HTTPFlags{}, app.StoreFlags{LogLevel: "loud"}},
		{"TENANTRY_LOG_LEVEL", `"info+2" is not debug, info, warn or error`, app.HTTPFlags{}, app.StoreFlags{LogLevel: "info+2"}},
		{"TENANTRY_LOG_FORMAT", `"xml" is neither text nor json`, app.HTTPFlags{}, app.StoreFlags{LogFormat: "xml"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := app.DevFlags{HTTPFlags: tt.http, StoreFlags: tt.store}.Settings(env(nil))
			if diff := cmp.Diff(map[string]string{tt.name: tt.reason}, reasons(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServeRequiresTheOutsideWorld(t *testing.T) {
	t.Parallel()
	_, err := app.ServeFlags{}.Settings(env(nil))
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
	if err := os.WriteFile(filepath.Join(data, app.SandboxFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := app.ServeFlags{StoreFlags: app.StoreFlags{Data: data}, OutsideFlags: app.OutsideFlags{MailFrom: "a@b.test"}}
	_, err := flags.Settings(env(map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY": "sk_sandbox_1", "TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1", "TENANTRY_SMTP_URL": "smtp://mail",
	}))
	want := map[string]string{
		"TENANTRY_DATA":              data + " belongs to a sandbox of tenantry dev, whose accounts have well-known passwords",
		"TENANTRY_STRIPE_SECRET_KEY": "is a key of the sandbox",
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
}

// No secret is repeated, however wrong it is.
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
	flags := app.ServeFlags{
		StoreFlags: app.StoreFlags{Data: dir, DatabaseURLFile: write("db", "postgres://u:hush@db:port/x\n")},
		HTTPFlags:  app.HTTPFlags{RedisURLFile: write("redis", "redis://u:hush@redis:port\n")},
		OutsideFlags: app.OutsideFlags{
			StripeSecretKeyFile: write("empty", "\n"), StripeWebhookSecretFile: write("long", strings.Repeat("hush", 5000)),
			MailFrom: "a@b.test",
		},
	}
	_, err := flags.Settings(env(map[string]string{"TENANTRY_SMTP_URL": "smtp://user:hu#sh@mail"}))
	want := map[string]string{
		"TENANTRY_DATABASE_URL":               "is not a URL",
		"TENANTRY_REDIS_URL":                  limit.ErrRedisURL.Error(),
		"TENANTRY_STRIPE_SECRET_KEY_FILE":     dir + "/empty is empty",
		"TENANTRY_STRIPE_WEBHOOK_SECRET_FILE": dir + "/long is too long for a secret",
		"TENANTRY_SMTP_URL":                   "not of the form smtp://[user:password@]host[:port] or smtps://…",
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
	_, err = app.ServeFlags{OutsideFlags: app.OutsideFlags{MailFrom: "nobody", StripeSecretKeyFile: dir + "/none"}}.Settings(env(map[string]string{
		"TENANTRY_STRIPE_WEBHOOK_SECRET": "hush", "TENANTRY_SMTP_URL": "smtp://mail",
	}))
	want = map[string]string{
		"TENANTRY_STRIPE_SECRET_KEY_FILE": "open " + dir + "/none: no such file or directory",
		"TENANTRY_STRIPE_WEBHOOK_SECRET":  "does not begin with whsec_",
		"TENANTRY_MAIL_FROM":              `"nobody" is not a mail address`,
	}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
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
	flags := app.ServeFlags{
		HTTPFlags:    app.HTTPFlags{RedisURLFile: redis},
		OutsideFlags: app.OutsideFlags{StripeSecretKeyFile: path, MailFrom: "a@b.test"},
	}
	others := map[string]string{"TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1", "TENANTRY_SMTP_URL": "smtp://mail"}
	got, err := flags.Settings(env(others))
	if err != nil || got.StripeSecretKey.Reveal() != "sk_test_1" || got.RedisURL.Reveal() != "redis://:p@redis" {
		t.Errorf("read %q and %q, %v", got.StripeSecretKey.Reveal(), got.RedisURL.Reveal(), err)
	}
	others["TENANTRY_STRIPE_SECRET_KEY"] = "sk_test_2"
	_, err = flags.Settings(env(others))
	want := map[string]string{"TENANTRY_STRIPE_SECRET_KEY": "given itself and as TENANTRY_STRIPE_SECRET_KEY_FILE: give one of them"}
	if diff := cmp.Diff(want, reasons(err)); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := app.Settings{StripeSecretKey: "hush"}
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
	got := app.Settings{}.Listening(loopback)
	if got.PublicURL.String() != "http://127.0.0.1:8080" || got.FrontendURL.String() != "http://127.0.0.1:8080" ||
		!cmp.Equal(got.FirstPartyHosts, []string{"127.0.0.1:8080"}) {
		t.Errorf("%v %v %v", got.PublicURL, got.FrontendURL, got.FirstPartyHosts)
	}
	if got := (app.Settings{}).Listening(&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}); got.PublicURL.String() != "http://localhost:80" {
		t.Errorf("on every interface: %v", got.PublicURL)
	}
	given, err := app.DevFlags{HTTPFlags: app.HTTPFlags{FrontendURL: "https://example.com"}}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	got = given.Listening(loopback)
	if got.FrontendURL.String() != "https://example.com" || !cmp.Equal(got.FirstPartyHosts, []string{"example.com"}) {
		t.Errorf("%v %v", got.FrontendURL, got.FirstPartyHosts)
	}
}

func TestLifetimesAreParsed(t *testing.T) {
	t.Parallel()
	got, err := app.DevFlags{LifetimeFlags: app.LifetimeFlags{
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
	_, err = app.DevFlags{LifetimeFlags: app.LifetimeFlags{
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

func TestUsageSettings(t *testing.T) {
	t.Parallel()
	got, err := app.DevFlags{UsageFlags: app.UsageFlags{UsageRetention: "400", UsageArchive: "/var/archive"}}.Settings(env(nil))
	if err != nil || got.UsageRetention != 400*24*time.Hour || got.UsageArchive != "/var/archive" {
		t.Errorf("%v %q %v", got.UsageRetention, got.UsageArchive, err)
	}
	if got, err := (app.DevFlags{}).Settings(env(nil)); err != nil || got.UsageRetention != 0 || got.UsageArchive != "" {
		t.Errorf("by default %v %q %v", got.UsageRetention, got.UsageArchive, err)
	}
	for _, days := range []string{"34", "36501", "400d", "-1"} {
		_, err := app.DevFlags{UsageFlags: app.UsageFlags{UsageRetention: days}}.Settings(env(nil))
		if err == nil || !strings.Contains(err.Error(), "TENANTRY_USAGE_RETENTION: ") {
			t.Errorf("%s is not refused: %v", days, err)
		}
	}
}

var plainInvoices = app.InvoiceSettings{
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
		flags        app.InvoiceFlags
	}{
		{"TENANTRY_INVOICE_MODE", `"paper" is neither psp_managed nor platform_managed`, app.InvoiceFlags{InvoiceMode: "paper"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "must have {year} once", app.InvoiceFlags{InvoiceNumberFormat: "INV-{number}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "must have {number} once", app.InvoiceFlags{InvoiceNumberFormat: "INV-{year}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "may have letters, digits and signs of ASCII, {year} and {number:digits}", app.InvoiceFlags{InvoiceNumberFormat: "{year}-{number:x}"}},
		{"TENANTRY_INVOICE_NUMBER_FORMAT", "may have letters, digits and signs of ASCII, {year} and {number:digits}", app.InvoiceFlags{InvoiceNumberFormat: "{year}-{number}\r\n"}},
		{"TENANTRY_INVOICE_LOGO", text + ": is neither a PNG nor a JPEG picture", app.InvoiceFlags{InvoiceLogo: text}},
		{"TENANTRY_TAX_RATES", `"DE" is not a country and a rate from 0 to 100 percent such as DE=19 or FR=5.5`, app.InvoiceFlags{TaxRates: "DE"}},
		{"TENANTRY_TAX_RATES", `"DE=101" is not a country and a rate from 0 to 100 percent such as DE=19 or FR=5.5`, app.InvoiceFlags{TaxRates: "DE=101"}},
		{"TENANTRY_TAX_RATES", `"XX" is not a country's code such as DE`, app.InvoiceFlags{TaxRates: "XX=1"}},
		{"TENANTRY_TAX_RATES", `"DE" is given twice`, app.InvoiceFlags{TaxRates: "DE=1,DE=2"}},
	} {
		_, err := app.DevFlags{InvoiceFlags: test.flags, StoreFlags: app.StoreFlags{Data: t.TempDir()}}.Settings(env(nil))
		var wrong *app.SettingError
		if !errors.As(err, &wrong) || wrong.Name != test.name || wrong.Reason != test.reason {
			t.Errorf("%+v: %v", test.flags, err)
		}
	}
}

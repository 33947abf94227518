package settings

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/tenantry/tenantry/internal/mail/letters"
)

// The flags of the commands, for kong. All of them are strings that kong only stores. The parser
// validates them, so that each wrong setting is reported in one line, and so that kong, which
// repeats a value that it cannot parse, never prints a secret. For the same reason secrets come
// from the environment or a file, never from a flag. The URLs of the database and of Redis are
// exceptions, because they often contain no password.

// StoreFlags are the flags for the data and the log.
type StoreFlags struct {
	Data            string `env:"TENANTRY_DATA" placeholder:"DIR" help:"Folder for the SQLite database and everything else kept on disk. Default: ./data."`
	DatabaseURL     string `env:"TENANTRY_DATABASE_URL" placeholder:"URL" help:"Database: postgres://user:password@host/name or sqlite:///absolute/path. Default: SQLite in the data folder."`
	DatabaseURLFile string `env:"TENANTRY_DATABASE_URL_FILE" placeholder:"FILE" help:"File that contains the database URL."`
	DatabaseConns   string `env:"TENANTRY_DATABASE_CONNS" placeholder:"N" help:"How many connections to PostgreSQL one process has at most, 4 to 500. Default: 16."`
	LogLevel        string `env:"TENANTRY_LOG_LEVEL" placeholder:"LEVEL" help:"Minimum level to log: debug, info, warn or error. Default: info."`
	LogFormat       string `env:"TENANTRY_LOG_FORMAT" placeholder:"FORMAT" help:"Format of the log: text or json. Default: json for serve, text for the other commands."`
}

// HTTPFlags are the flags for the addresses of the service and its rate limits.
type HTTPFlags struct {
	Addr            string `env:"TENANTRY_ADDR" placeholder:"HOST:PORT" help:"Address to listen on. Default: 127.0.0.1:8080."`
	PublicURL       string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service. Default: the listening address."`
	FrontendURL     string `env:"TENANTRY_FRONTEND_URL" placeholder:"URL" help:"URL of the web frontend, where links in mails and redirects lead. Default: the public URL."`
	FrontendPaths   string `env:"TENANTRY_FRONTEND_PATHS" placeholder:"PAGE=PATH,…" help:"Paths of the frontend's pages where they are others than by default, such as billing=/settings/billing. Pages: invitation (with {token} in its path), reset_password, forgot_password, verify_email, billing, webhooks, oauth_callback, onboarding_success, onboarding_plans."`
	FirstPartyHosts string `env:"TENANTRY_FIRST_PARTY_HOSTS" placeholder:"HOST,…" help:"Hosts beside the frontend whose pages may use cookies, with the port where it is not the standard one. They are reached by the scheme of the frontend."`
	Console         string `env:"TENANTRY_CONSOLE" placeholder:"on|off" help:"Whether the web console is served at the public URL. Default: on."`
	CookieDomain    string `env:"TENANTRY_COOKIE_DOMAIN" placeholder:"HOST" help:"Domain whose subdomains share the cookies of a login, such as example.com: that of the public URL or one above it. All of them have to be trusted. Default: none, the cookies stay with the service's own host."`
	TrustedProxies  string `env:"TENANTRY_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Addresses or networks of the proxies whose X-Forwarded-For header is trusted. Default: none."`
	RateLimits      string `env:"TENANTRY_RATE_LIMITS" placeholder:"LIMITS" help:"Rate limits: on, off, or requests per minute of single groups, such as login=5,default=1200, where 0 turns a group off. Default: on."`
	VerifiedEmail   string `env:"TENANTRY_REQUIRE_VERIFIED_EMAIL" name:"require-verified-email" placeholder:"on|off" help:"Whether inviting, checkout and API keys wait until the caller has confirmed their email address. Default: off."`
	RedisURL        string `env:"TENANTRY_REDIS_URL" placeholder:"URL" help:"Redis in which all instances count the rate limits together: redis://user:password@host:port/database or rediss://…. Default: each instance counts on its own."`
	RedisURLFile    string `env:"TENANTRY_REDIS_URL_FILE" placeholder:"FILE" help:"File that contains the URL of Redis."`
	MetricsAddr     string `env:"TENANTRY_METRICS_ADDR" placeholder:"HOST:PORT" help:"Separate address that serves GET /metrics for Prometheus. On a loopback address /debug/pprof/ for go tool pprof too. Default: none. The sandbox serves /metrics on the main address as well."`
	StopDelay       string `env:"TENANTRY_STOP_DELAY" placeholder:"DURATION" help:"How long requests are still taken after the service was told to stop, while /readyz is 503 already, so that a load balancer that asks there has stopped sending some. Up to 30s. Default: 0s."`
	ProfilesAddr    string `env:"TENANTRY_PROFILES_ADDR" placeholder:"HOST:PORT" help:"Address that serves /debug/pprof/ for go tool pprof to whoever reaches it; it may be that of the metrics. Profiles show what is in memory. Default: none but a loopback address of the metrics."`
}

// LifetimeFlags are the flags for the lifetimes of tokens, sessions and invitations.
type LifetimeFlags struct {
	AccessTokenLifetime       string `env:"TENANTRY_ACCESS_TOKEN_LIFETIME" placeholder:"DURATION" help:"How long an access token is valid. Default: 15m."`
	RefreshTokenLifetime      string `env:"TENANTRY_REFRESH_TOKEN_LIFETIME" placeholder:"DURATION" help:"How long a refresh token is valid. Default: 720h."`
	RefreshFamilyLifetime     string `env:"TENANTRY_REFRESH_FAMILY_LIFETIME" placeholder:"DURATION" help:"How long a login can be kept alive by refreshing, in total. Default: 2160h."`
	SessionLifetime           string `env:"TENANTRY_SESSION_LIFETIME" placeholder:"DURATION" help:"Idle time after which a session ends. Default: 2h."`
	RememberedSessionLifetime string `env:"TENANTRY_REMEMBERED_SESSION_LIFETIME" placeholder:"DURATION" help:"Idle time after which a “remember me” session ends. Default: 720h."`
	InvitationLifetime        string `env:"TENANTRY_INVITATION_LIFETIME" placeholder:"DAYS" help:"Days that an invitation stays valid if it sets no expiry of its own, 1 to 30. Default: 7."`
}

// RetentionFlags are the flags for the retention of records that grow with use.
type RetentionFlags struct {
	AuditRetention    string `env:"TENANTRY_AUDIT_RETENTION" placeholder:"DAYS" help:"How many days the audit trail, the log of impersonations and invitations that are over are kept. Default: 400."`
	DeadJobRetention  string `env:"TENANTRY_DEAD_JOB_RETENTION" placeholder:"DAYS" help:"How many days jobs are kept that failed for the last time, without the tokens in them. Default: 30."`
	DeliveryRetention string `env:"TENANTRY_DELIVERY_RETENTION" placeholder:"DAYS" help:"How many days the payment provider's notifications are remembered and deliveries to webhook endpoints are kept, at least 30, because both can be repeated for so long. Default: 30."`
	TenantRetention   string `env:"TENANTRY_TENANT_RETENTION" placeholder:"DAYS" help:"How many days a deleted tenant can be restored, before its data is deleted for good. Default: 30."`
}

// UsageFlags are the flags for the retention of usage events.
type UsageFlags struct {
	UsageRetention string `env:"TENANTRY_USAGE_RETENTION" placeholder:"DAYS" help:"How many days usage events are kept after their recorded time, at least 35. Meter totals are kept. Default: forever."`
	UsageArchive   string `env:"TENANTRY_USAGE_ARCHIVE" placeholder:"DIR" help:"Folder, shared by all instances, to which usage events are written as compressed JSON lines before they are deleted. Default: they are deleted without a copy."`
}

// OutsideFlags are the flags for the credentials of external services.
type OutsideFlags struct {
	StripeSecretKeyFile     string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeWebhookSecretFile string `env:"TENANTRY_STRIPE_WEBHOOK_SECRET_FILE" placeholder:"FILE" help:"File that contains the secret with which Stripe signs its notifications. Or set TENANTRY_STRIPE_WEBHOOK_SECRET to the secret. While it is being replaced, give the old and the new one separated by a comma."`
	SMTPURLFile             string `name:"smtp-url-file" env:"TENANTRY_SMTP_URL_FILE" placeholder:"FILE" help:"File that contains the URL of the mail server, smtp://user:password@host or smtps://…. Or set TENANTRY_SMTP_URL to the URL."`
	MailFrom                string `env:"TENANTRY_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of all mail, such as Tenantry <no-reply@example.com>."`
}

// DevFlags are the flags of dev.
type DevFlags struct {
	DemoDefaultPlan string `env:"TENANTRY_DEMO_DEFAULT_PLAN" placeholder:"SLUG" help:"Plan of the demo catalog that applies to organizations without a subscription, used when the data folder is new: its slug, or none. Default: free."`
	HTTPFlags       `embed:""`
	BrandFlags      `embed:""`
	InvoiceFlags    `embed:""`
	LifetimeFlags   `embed:""`
	RetentionFlags  `embed:""`
	UsageFlags      `embed:""`
	StoreFlags      `embed:""`
}

// ServeFlags are the flags of serve.
type ServeFlags struct {
	HTTPFlags      `embed:""`
	BrandFlags     `embed:""`
	InvoiceFlags   `embed:""`
	LifetimeFlags  `embed:""`
	RetentionFlags `embed:""`
	UsageFlags     `embed:""`
	StoreFlags     `embed:""`
	OutsideFlags   `embed:""`
}

// Dev returns the flags that dev also has.
func (f ServeFlags) Dev() DevFlags {
	return DevFlags{
		HTTPFlags: f.HTTPFlags, BrandFlags: f.BrandFlags, InvoiceFlags: f.InvoiceFlags, LifetimeFlags: f.LifetimeFlags,
		RetentionFlags: f.RetentionFlags, UsageFlags: f.UsageFlags, StoreFlags: f.StoreFlags,
	}
}

// ProviderFlags are the flags of commands that need the data and the payment provider.
type ProviderFlags struct {
	StoreFlags   `embed:""`
	BrandFlags   `embed:""`
	InvoiceFlags `embed:""`

	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Ask a sandbox at this URL in place of Stripe. The data must be a sandbox's too."`
}

// MailFlags are the flags of commands that show mails.
type MailFlags struct {
	BrandFlags `embed:""`

	PublicURL     string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service, and mail programs the logo. Default: http://127.0.0.1:8080."`
	FrontendURL   string `env:"TENANTRY_FRONTEND_URL" placeholder:"URL" help:"URL of the web frontend, where links in mails lead. Default: the public URL."`
	FrontendPaths string `env:"TENANTRY_FRONTEND_PATHS" placeholder:"PAGE=PATH,…" help:"Paths of the frontend's pages where they are others than by default."`
}

// CheckFlags are the flags of the command that checks the account at the payment provider.
type CheckFlags struct {
	StoreFlags `embed:""`

	PublicURL           string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service, to find the endpoint that sends notifications there."`
	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Check a stand-alone sandbox at this URL in place of Stripe."`
}

// Settings validates the settings of dev. The returned error joins an Error for each wrong setting.
// getenv reads the environment. It is os.Getenv except in tests.
func (f DevFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.http(f.HTTPFlags, &s)
	f.OptionalMails = cmp.Or(f.OptionalMails, strings.Join(letters.OptionalMails(), ","))
	p.brand(f.BrandFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.usage(f.UsageFlags, &s)
	p.retention(f.RetentionFlags, &s)
	p.store(f.StoreFlags, LogText, &s)
	p.traces(&s)
	s.StripeSecretKey = Secret(getenv("TENANTRY_STRIPE_SECRET_KEY"))
	p.sandboxKey("TENANTRY_STRIPE_SECRET_KEY", s.StripeSecretKey)
	if s.DemoDefaultPlan = cmp.Or(f.DemoDefaultPlan, "free"); s.DemoDefaultPlan == "none" {
		s.DemoDefaultPlan = ""
	}
	return s, errors.Join(p.errs...)
}

// Settings validates the settings of serve, like DevFlags.Settings. It rejects a data folder and a
// key of the sandbox.
func (f ServeFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv, command: "serve"}
	var s Settings
	p.http(f.HTTPFlags, &s)
	p.brand(f.BrandFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.usage(f.UsageFlags, &s)
	p.retention(f.RetentionFlags, &s)
	p.store(f.StoreFlags, LogJSON, &s)
	p.outside(f.OutsideFlags, &s)
	p.traces(&s)
	p.refuseSandbox(s)
	return s, errors.Join(p.errs...)
}

// Settings validates the settings of a command that only needs the data, like DevFlags.Settings.
func (f StoreFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.store(f, LogText, &s)
	return s, errors.Join(p.errs...)
}

// Settings validates the settings of MailFlags, like DevFlags.Settings.
func (f MailFlags) Settings() (Settings, error) {
	var p parser
	var s Settings
	p.brand(f.BrandFlags, &s)
	s.PublicURL = p.webURL("TENANTRY_PUBLIC_URL", f.PublicURL)
	s.FrontendURL = p.webURL("TENANTRY_FRONTEND_URL", f.FrontendURL)
	s.FrontendPaths = p.paths("TENANTRY_FRONTEND_PATHS", f.FrontendPaths)
	return s.WithListenAddress(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(defaultAddr))), errors.Join(p.errs...)
}

// ImportFlags are the flags of the command that imports the catalog.
type ImportFlags struct {
	StoreFlags `embed:""`

	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key, with which the links to Stripe's prices are checked. Or set TENANTRY_STRIPE_SECRET_KEY to the key. Default: they are not checked."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Ask a sandbox at this URL in place of Stripe."`
}

// Settings validates the settings of ImportFlags. The key is optional. A sandbox key without the
// URL of a sandbox counts as no key.
func (f ImportFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.store(f.StoreFlags, LogText, &s)
	s.StripeURL = p.webURL("--stripe-url", f.StripeURL)
	if f.StripeSecretKeyFile != "" || getenv("TENANTRY_STRIPE_SECRET_KEY") != "" {
		p.provider(f.StripeSecretKeyFile, &s)
	}
	if s.StripeURL == nil && strings.Contains(s.StripeSecretKey.Reveal(), "sandbox") {
		s.StripeSecretKey = ""
	}
	return s, errors.Join(p.errs...)
}

// Settings validates the settings of CheckFlags, like DevFlags.Settings. It rejects the data and
// key of a sandbox, unless StripeURL is set.
func (f CheckFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv, command: "psp check"}
	var s Settings
	p.store(f.StoreFlags, LogText, &s)
	p.provider(f.StripeSecretKeyFile, &s)
	s.PublicURL = p.webURL("TENANTRY_PUBLIC_URL", f.PublicURL)
	if s.StripeURL = p.webURL("--stripe-url", f.StripeURL); s.StripeURL == nil {
		p.refuseSandbox(s)
	}
	return s, errors.Join(p.errs...)
}

// Settings validates the settings of a command that needs the data and the payment provider, like
// ServeFlags.Settings.
func (f ProviderFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv, command: "psp reconcile"}
	var s Settings
	p.brand(f.BrandFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.store(f.StoreFlags, LogText, &s)
	p.provider(f.StripeSecretKeyFile, &s)
	if s.StripeURL = p.webURL("--stripe-url", f.StripeURL); s.StripeURL == nil {
		p.refuseSandbox(s)
	}
	return s, errors.Join(p.errs...)
}

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
// validates them, so that each wrong setting is reported in one line. If kong validated them, it
// would print values that it cannot parse, even secrets. Secrets come from the environment or a
// file, never from a flag. The URLs of the database and of Redis are exceptions, because they often
// do not contain a password. The tag secret marks the flags of secrets, so that Sources never returns
// their values.

// StoreFlags are the flags for the data and the log.
type StoreFlags struct {
	Data            string `env:"TENANTRY_DATA" placeholder:"DIR" help:"Folder for the SQLite database and other files. Default: ./data."`
	DatabaseURL     string `secret:"" env:"TENANTRY_DATABASE_URL" placeholder:"URL" help:"Database URL: postgres://user:password@host/name or sqlite:///absolute/path. Default: SQLite in the data folder."`
	DatabaseURLFile string `secret:"" env:"TENANTRY_DATABASE_URL_FILE" placeholder:"FILE" help:"File that contains the database URL."`
	DatabaseConns   string `env:"TENANTRY_DATABASE_CONNS" placeholder:"N" help:"Maximum number of PostgreSQL connections per process, from 4 to 500. Default: 16."`
	SecretsKeyFile  string `env:"TENANTRY_SECRETS_KEY_FILE" placeholder:"FILE" help:"File with the key that protects secrets in the database, for example of authenticator apps. All instances need the same file. The first start creates it. Default: secrets.key in the data folder."`
	LogLevel        string `env:"TENANTRY_LOG_LEVEL" placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error. Default: info."`
	LogFormat       string `env:"TENANTRY_LOG_FORMAT" placeholder:"FORMAT" help:"Log format: text or json. Default: json for serve, text for other commands."`
}

// HTTPFlags are the flags for the addresses of the service and its rate limits.
type HTTPFlags struct {
	Addr                 string `env:"TENANTRY_ADDR" placeholder:"HOST:PORT" help:"Address to listen on. Default: 127.0.0.1:8080."`
	PublicURL            string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service. Default: the listening address."`
	FrontendURL          string `env:"TENANTRY_FRONTEND_URL" placeholder:"URL" help:"URL of the web frontend, for links in emails and redirects. Default: the public URL."`
	FrontendPaths        string `env:"TENANTRY_FRONTEND_PATHS" placeholder:"PAGE=PATH,…" help:"Custom paths of frontend pages, such as billing=/settings/billing. Pages: invitation (the path must contain {token}), reset_password, forgot_password, verify_email, billing, webhooks, oauth_callback, onboarding_success, onboarding_plans."`
	FirstPartyHosts      string `env:"TENANTRY_FIRST_PARTY_HOSTS" placeholder:"HOST,…" help:"Additional hosts whose pages can use cookies, with a port if it is not the default. They must use the scheme of the frontend."`
	Console              string `env:"TENANTRY_CONSOLE" placeholder:"on|off" help:"Serve the web console at the public URL: on or off. Default: on."`
	CookieDomain         string `env:"TENANTRY_COOKIE_DOMAIN" placeholder:"HOST" help:"Domain for session cookies, such as example.com: the domain of the public URL or a parent domain. Use it only if you trust all subdomains. Default: the host of the service."`
	TokenAudience        string `env:"TENANTRY_TOKEN_AUDIENCE" placeholder:"AUDIENCE" help:"Audience (aud) of the tokens that your backend verifies. Default: the public URL."`
	TrustedProxies       string `env:"TENANTRY_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"IP addresses or networks of proxies whose X-Forwarded-For header is trusted. Default: none."`
	RateLimits           string `env:"TENANTRY_RATE_LIMITS" placeholder:"LIMITS" help:"Rate limits: on, off, or requests per minute by group, such as login=5,default=1200. 0 disables the limit of a group. Default: on."`
	VerifiedEmail        string `env:"TENANTRY_REQUIRE_VERIFIED_EMAIL" name:"require-verified-email" placeholder:"on|off" help:"Require a verified email address for invitations, checkout and API keys: on or off. Default: off."`
	AdminRequireMFA      string `env:"TENANTRY_ADMIN_REQUIRE_MFA" name:"admin-require-mfa" placeholder:"on|off" help:"Require a second factor of platform admins: on or off. Default: off."`
	ImpersonationReason  string `env:"TENANTRY_IMPERSONATION_REASON" placeholder:"optional|required" help:"Whether platform admins have to give a reason to impersonate a member: optional or required. Default: optional."`
	ImpersonationMinutes string `env:"TENANTRY_IMPERSONATION_MINUTES" placeholder:"MINUTES" help:"Number of minutes, from 5 to 480, after which an impersonation ends. Default: 60."`
	LoginMethods         string `env:"TENANTRY_LOGIN_METHODS" name:"login-methods" placeholder:"METHOD,…" help:"Methods by which users can log in: password, oauth (identity providers), passkey, email_code (codes sent by email). Default: password,oauth,passkey."`
	PasskeyRPID          string `env:"TENANTRY_PASSKEY_RP_ID" name:"passkey-rp-id" placeholder:"HOST" help:"Domain that passkeys belong to: the host of the frontend or a parent domain. Passkeys are lost if it changes. Default: the host of the frontend."`
	RedisURL             string `secret:"" env:"TENANTRY_REDIS_URL" placeholder:"URL" help:"Redis URL for rate limits shared by all instances: redis://user:password@host:port/database or rediss://…. Default: each instance counts separately."`
	RedisURLFile         string `secret:"" env:"TENANTRY_REDIS_URL_FILE" placeholder:"FILE" help:"File that contains the Redis URL."`
	MetricsAddr          string `env:"TENANTRY_METRICS_ADDR" placeholder:"HOST:PORT" help:"Address for Prometheus metrics (GET /metrics). A loopback address also serves /debug/pprof/ for go tool pprof. Default: none. The sandbox also serves /metrics on the main address."`
	StopDelay            string `env:"TENANTRY_STOP_DELAY" placeholder:"DURATION" help:"Delay between the shutdown signal and the end of new requests. During the delay, /readyz returns 503, so that load balancers stop sending requests. At most 30s. Default: 0s."`
	ProfilesAddr         string `env:"TENANTRY_PROFILES_ADDR" placeholder:"HOST:PORT" help:"Address for /debug/pprof/, for go tool pprof. Can be the metrics address. Profiles contain data from memory, so restrict access to this address. Default: the metrics address if it is a loopback address."`
}

// LifetimeFlags are the flags for the lifetimes of tokens, sessions and invitations.
type LifetimeFlags struct {
	AccessTokenLifetime       string `env:"TENANTRY_ACCESS_TOKEN_LIFETIME" placeholder:"DURATION" help:"Lifetime of access tokens. Default: 15m."`
	RefreshTokenLifetime      string `env:"TENANTRY_REFRESH_TOKEN_LIFETIME" placeholder:"DURATION" help:"Lifetime of refresh tokens. Default: 720h."`
	RefreshFamilyLifetime     string `env:"TENANTRY_REFRESH_FAMILY_LIFETIME" placeholder:"DURATION" help:"Maximum lifetime of a login with refreshed tokens. Default: 2160h."`
	SessionLifetime           string `env:"TENANTRY_SESSION_LIFETIME" placeholder:"DURATION" help:"Idle timeout of sessions. Default: 2h."`
	RememberedSessionLifetime string `env:"TENANTRY_REMEMBERED_SESSION_LIFETIME" placeholder:"DURATION" help:"Idle timeout of “remember me” sessions. Default: 720h."`
	InvitationLifetime        string `env:"TENANTRY_INVITATION_LIFETIME" placeholder:"DAYS" help:"Number of days for which invitations are valid by default, from 1 to 30. Default: 7."`
}

// RetentionFlags are the flags for the retention of records that grow with use.
type RetentionFlags struct {
	AuditRetention    string `env:"TENANTRY_AUDIT_RETENTION" placeholder:"DAYS" help:"Number of days to keep the audit trail, the impersonation log and closed invitations. Default: 400."`
	DeadJobRetention  string `env:"TENANTRY_DEAD_JOB_RETENTION" placeholder:"DAYS" help:"Number of days to keep dead jobs, without the tokens in their payloads. Default: 30."`
	DeliveryRetention string `env:"TENANTRY_DELIVERY_RETENTION" placeholder:"DAYS" help:"Number of days to keep payment provider notifications and webhook deliveries, at least 30, because they can be repeated for 30 days. Default: 30."`
	TenantRetention   string `env:"TENANTRY_TENANT_RETENTION" placeholder:"DAYS" help:"Number of days for which a deleted tenant can be restored before its data is purged. Default: 30."`
	RequestLogHours   string `env:"TENANTRY_REQUEST_LOG_HOURS" placeholder:"HOURS" help:"Number of hours to keep the request log, from 0 to 168. 0 stores nothing. Default: 24."`
	WebhookResponses  string `env:"TENANTRY_WEBHOOK_RESPONSES" placeholder:"on|off" help:"Store the responses of webhook endpoints with the deliveries: on or off. Default: on."`
}

// PaymentFlags are the flags for late payments.
type PaymentFlags struct {
	PastDueGrace     string `name:"past-due-grace-days" env:"TENANTRY_PAST_DUE_GRACE_DAYS" placeholder:"DAYS" help:"Number of days, from 0 to 30, for which a subscription that is past_due keeps its features after the first failed payment. Default: 0."`
	PaymentAttempts  string `env:"TENANTRY_PAYMENT_ATTEMPTS" placeholder:"NUMBER" help:"Number of attempts, from 2 to 9, that Stripe makes to collect an invoice, as set in your Stripe account. Used for the email last_attempt. Default: 4."`
	BaseCurrency     string `env:"TENANTRY_BASE_CURRENCY" placeholder:"CODE" help:"Currency of revenue figures, such as EUR. Other currencies are converted with your exchange rates. Must be an active currency. Default: none."`
	InvoiceReminders string `env:"TENANTRY_INVOICE_REMINDERS" placeholder:"DAYS,…" help:"Days from the due date, negative before it, from -180 to 365, on which an unpaid invoice of a customer who pays by invoice is emailed again, or off. Default: -3,1,7,14."`
}

// UsageFlags are the flags for the retention of usage events.
type UsageFlags struct {
	UsageRetention string `env:"TENANTRY_USAGE_RETENTION" placeholder:"DAYS" help:"Number of days to keep usage events after their recorded time, at least 35. Totals are kept. Default: forever."`
	UsageArchive   string `env:"TENANTRY_USAGE_ARCHIVE" placeholder:"DIR" help:"Folder for archived usage events (compressed JSON lines), shared by all instances. Default: expired events are deleted without an archive."`
}

// ExternalFlags are the flags for the credentials of external services.
type ExternalFlags struct {
	StripeSecretKeyFile     string `secret:"" env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeWebhookSecretFile string `secret:"" env:"TENANTRY_STRIPE_WEBHOOK_SECRET_FILE" placeholder:"FILE" help:"File that contains the signing secret of Stripe's webhook endpoint. Or set TENANTRY_STRIPE_WEBHOOK_SECRET to the secret. During a rotation, set the old and the new secret, separated by a comma."`
	SMTPURLFile             string `secret:"" name:"smtp-url-file" env:"TENANTRY_SMTP_URL_FILE" placeholder:"FILE" help:"File that contains the URL of the SMTP server: smtp://user:password@host or smtps://…. Or set TENANTRY_SMTP_URL to the URL."`
	StripeURL               string `name:"stripe-url" placeholder:"URL" help:"Practice production with a sandbox (tenantry sandbox stripe) at this loopback URL instead of Stripe. No money moves, and the database belongs to the sandbox from then on."`
	MailFrom                string `env:"TENANTRY_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of all emails, such as Tenantry <no-reply@example.com>."`
}

// DevFlags are the flags of dev.
type DevFlags struct {
	DemoDefaultPlan string `env:"TENANTRY_DEMO_DEFAULT_PLAN" placeholder:"SLUG" help:"Slug of the demo plan for organizations without a subscription, or none. Only used if the data folder is new. Default: free."`
	HTTPFlags       `embed:""`
	BrandFlags      `embed:""`
	InvoiceFlags    `embed:""`
	LifetimeFlags   `embed:""`
	RetentionFlags  `embed:""`
	PaymentFlags    `embed:""`
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
	PaymentFlags   `embed:""`
	UsageFlags     `embed:""`
	StoreFlags     `embed:""`
	ExternalFlags  `embed:""`
}

// Dev returns the flags that dev also has.
func (f ServeFlags) Dev() DevFlags {
	return DevFlags{
		HTTPFlags: f.HTTPFlags, BrandFlags: f.BrandFlags, InvoiceFlags: f.InvoiceFlags, LifetimeFlags: f.LifetimeFlags,
		RetentionFlags: f.RetentionFlags, PaymentFlags: f.PaymentFlags, UsageFlags: f.UsageFlags, StoreFlags: f.StoreFlags,
	}
}

// ProviderFlags are the flags of commands that need the data and the payment provider.
type ProviderFlags struct {
	StoreFlags   `embed:""`
	BrandFlags   `embed:""`
	InvoiceFlags `embed:""`
	PaymentFlags `embed:""`

	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Use a sandbox at this URL instead of Stripe. The data must also belong to a sandbox."`
}

// MailFlags are the flags of commands that show mails.
type MailFlags struct {
	BrandFlags `embed:""`

	PublicURL     string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service and email clients load the logo. Default: http://127.0.0.1:8080."`
	FrontendURL   string `env:"TENANTRY_FRONTEND_URL" placeholder:"URL" help:"URL of the web frontend, for links in emails. Default: the public URL."`
	FrontendPaths string `env:"TENANTRY_FRONTEND_PATHS" placeholder:"PAGE=PATH,…" help:"Custom paths of frontend pages."`
}

// CheckFlags are the flags of the command that checks the account at the payment provider.
type CheckFlags struct {
	StoreFlags `embed:""`

	PublicURL           string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service. Used to find its webhook endpoint at Stripe."`
	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key. Or set TENANTRY_STRIPE_SECRET_KEY to the key."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Check a stand-alone sandbox at this URL instead of Stripe."`
}

// Settings validates the settings of dev. The returned error joins an Error for each wrong setting.
// getenv reads the environment. It is os.Getenv except in tests.
func (f DevFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	s := Settings{Sources: f.Sources(getenv)}
	p.http(f.HTTPFlags, &s)
	f.OptionalMails = cmp.Or(f.OptionalMails, strings.Join(letters.OptionalMails(), ","))
	p.brand(f.BrandFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.payments(f.PaymentFlags, &s)
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
	s := Settings{Sources: f.Sources(getenv)}
	p.http(f.HTTPFlags, &s)
	p.brand(f.BrandFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.payments(f.PaymentFlags, &s)
	p.usage(f.UsageFlags, &s)
	p.retention(f.RetentionFlags, &s)
	p.store(f.StoreFlags, LogJSON, &s)
	p.parseExternal(f.ExternalFlags, &s)
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

	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that contains Stripe's secret key, for checking the links to Stripe's prices. Or set TENANTRY_STRIPE_SECRET_KEY to the key. Default: links are not checked."`
	StripeURL           string `name:"stripe-url" placeholder:"URL" help:"Use a sandbox at this URL instead of Stripe."`
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
	p.payments(f.PaymentFlags, &s)
	p.store(f.StoreFlags, LogText, &s)
	p.provider(f.StripeSecretKeyFile, &s)
	if s.StripeURL = p.webURL("--stripe-url", f.StripeURL); s.StripeURL == nil {
		p.refuseSandbox(s)
	}
	return s, errors.Join(p.errs...)
}

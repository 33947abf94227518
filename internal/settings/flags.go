package settings

import "errors"

// The flags of the commands, for kong. Everything is a string here and judged
// afterwards, so that one wrong setting is one plain line, and so that kong, which
// repeats a value that it cannot read, never repeats a secret. For the same
// reason no flag takes a secret itself, only the environment or a file does; the
// URLs of the database and of Redis are the exceptions, as they often have none.

// StoreFlags says where the data is and how the log is written.
type StoreFlags struct {
	Data            string `env:"TENANTRY_DATA" placeholder:"DIR" help:"Folder that holds the SQLite database and everything else kept on disk; ./data unless given."`
	DatabaseURL     string `env:"TENANTRY_DATABASE_URL" placeholder:"URL" help:"Database: postgres://user:password@host/name or sqlite:///absolute/path; SQLite in the data folder unless given."`
	DatabaseURLFile string `env:"TENANTRY_DATABASE_URL_FILE" placeholder:"FILE" help:"File that has the database's URL."`
	LogLevel        string `env:"TENANTRY_LOG_LEVEL" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error; info unless given."`
	LogFormat       string `env:"TENANTRY_LOG_FORMAT" placeholder:"FORMAT" help:"How the log is written: text or json; json by serve and text by the other commands unless given."`
}

// HTTPFlags says how the service is reached and what it lets through.
type HTTPFlags struct {
	Addr            string `env:"TENANTRY_ADDR" placeholder:"HOST:PORT" help:"Address to listen on; 127.0.0.1:8080 unless given."`
	PublicURL       string `env:"TENANTRY_PUBLIC_URL" placeholder:"URL" help:"URL at which clients reach the service; the listening address unless given."`
	FrontendURL     string `env:"TENANTRY_FRONTEND_URL" placeholder:"URL" help:"URL of the web frontend, where links in mails and redirects lead; the public URL unless given."`
	FirstPartyHosts string `env:"TENANTRY_FIRST_PARTY_HOSTS" placeholder:"HOST,…" help:"Hosts whose pages may use cookies, each with its port if it has one; the frontend's host unless given."`
	TrustedProxies  string `env:"TENANTRY_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Addresses or networks of proxies whose X-Forwarded-For is believed; none unless given."`
	RateLimits      string `env:"TENANTRY_RATE_LIMITS" placeholder:"LIMITS" help:"Rate limits: on, off, or requests per minute of single groups such as login=5,default=1200 with 0 for none; on unless given."`
	RedisURL        string `env:"TENANTRY_REDIS_URL" placeholder:"URL" help:"Redis in which instances share the counts of the rate limits, redis://user:password@host:port/database or rediss://…; each counts for itself unless given."`
	RedisURLFile    string `env:"TENANTRY_REDIS_URL_FILE" placeholder:"FILE" help:"File that has the URL of Redis."`
	MetricsAddr     string `env:"TENANTRY_METRICS_ADDR" placeholder:"HOST:PORT" help:"Address of its own on which GET /metrics answers Prometheus, and /debug/pprof/ go tool pprof; none unless given. The sandbox answers the former on the main address too."`
}

// LifetimeFlags says how long things live that somebody was given.
type LifetimeFlags struct {
	AccessTokenLifetime       string `env:"TENANTRY_ACCESS_TOKEN_LIFETIME" placeholder:"DURATION" help:"How long an access token works; 15m unless given."`
	RefreshTokenLifetime      string `env:"TENANTRY_REFRESH_TOKEN_LIFETIME" placeholder:"DURATION" help:"How long a refresh token works; 720h unless given."`
	RefreshFamilyLifetime     string `env:"TENANTRY_REFRESH_FAMILY_LIFETIME" placeholder:"DURATION" help:"How long a login can be refreshed in all; 2160h unless given."`
	SessionLifetime           string `env:"TENANTRY_SESSION_LIFETIME" placeholder:"DURATION" help:"How long a session lives without use; 2h unless given."`
	RememberedSessionLifetime string `env:"TENANTRY_REMEMBERED_SESSION_LIFETIME" placeholder:"DURATION" help:"How long a session that is to be remembered lives without use; 720h unless given."`
	InvitationLifetime        string `env:"TENANTRY_INVITATION_LIFETIME" placeholder:"DAYS" help:"How many days an invitation works that does not say so itself, from 1 to 30; 7 unless given."`
}

// UsageFlags says how long usage events are kept.
type UsageFlags struct {
	UsageRetention string `env:"TENANTRY_USAGE_RETENTION" placeholder:"DAYS" help:"How many days usage events are kept after the time that they were recorded for, at least 35; for ever unless given. What meters show stays."`
	UsageArchive   string `env:"TENANTRY_USAGE_ARCHIVE" placeholder:"DIR" help:"Folder, the same for all instances, to which usage events are written as compressed JSON lines before they are deleted; they are not written unless given."`
}

// OutsideFlags names the files with the credentials of the outside world.
type OutsideFlags struct {
	StripeSecretKeyFile     string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that has Stripe's secret key; or give the key itself in TENANTRY_STRIPE_SECRET_KEY."`
	StripeWebhookSecretFile string `env:"TENANTRY_STRIPE_WEBHOOK_SECRET_FILE" placeholder:"FILE" help:"File that has the secret with which Stripe signs its notifications; or give it in TENANTRY_STRIPE_WEBHOOK_SECRET. While it is being replaced, both with a comma between."`
	SMTPURLFile             string `name:"smtp-url-file" env:"TENANTRY_SMTP_URL_FILE" placeholder:"FILE" help:"File that has the mail server's URL, smtp://user:password@host or smtps://…; or give it in TENANTRY_SMTP_URL."`
	MailFrom                string `env:"TENANTRY_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of all mail, such as Tenantry <no-reply@example.com>."`
}

// DevFlags are the flags of dev.
type DevFlags struct {
	HTTPFlags     `embed:""`
	InvoiceFlags  `embed:""`
	LifetimeFlags `embed:""`
	UsageFlags    `embed:""`
	StoreFlags    `embed:""`
}

// ServeFlags are the flags of serve.
type ServeFlags struct {
	HTTPFlags     `embed:""`
	InvoiceFlags  `embed:""`
	LifetimeFlags `embed:""`
	UsageFlags    `embed:""`
	StoreFlags    `embed:""`
	OutsideFlags  `embed:""`
}

// ProviderFlags are the flags of commands that need the data and the payment
// provider.
type ProviderFlags struct {
	StoreFlags   `embed:""`
	InvoiceFlags `embed:""`

	StripeSecretKeyFile string `env:"TENANTRY_STRIPE_SECRET_KEY_FILE" placeholder:"FILE" help:"File that has Stripe's secret key; or give the key itself in TENANTRY_STRIPE_SECRET_KEY."`
}

// Settings checks what dev was told. The error joins a Error for each
// wrong setting. getenv reads the environment: os.Getenv, but in tests.
func (f DevFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.http(f.HTTPFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.usage(f.UsageFlags, &s)
	p.store(f.StoreFlags, LogText, &s)
	return s, errors.Join(p.errs...)
}

// Settings checks what serve was told, as DevFlags.Settings does. It refuses
// whatever belongs to the sandbox.
func (f ServeFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.http(f.HTTPFlags, &s)
	p.invoices(f.InvoiceFlags, &s)
	p.lifetimes(f.LifetimeFlags, &s)
	p.usage(f.UsageFlags, &s)
	p.store(f.StoreFlags, LogJSON, &s)
	p.outside(f.OutsideFlags, &s)
	p.refuseSandbox(s)
	return s, errors.Join(p.errs...)
}

// Settings checks what a command that only needs the data was told, as
// DevFlags.Settings does.
func (f StoreFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.store(f, LogText, &s)
	return s, errors.Join(p.errs...)
}

// Settings checks what a command that needs the data and the payment provider was
// told, as ServeFlags.Settings does.
func (f ProviderFlags) Settings(getenv func(string) string) (Settings, error) {
	p := parser{getenv: getenv}
	var s Settings
	p.invoices(f.InvoiceFlags, &s)
	p.store(f.StoreFlags, LogText, &s)
	p.provider(f.StripeSecretKeyFile, &s)
	p.refuseSandbox(s)
	return s, errors.Join(p.errs...)
}

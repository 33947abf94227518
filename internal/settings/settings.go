// Package settings reads and validates the configuration from flags, the environment and secret
// files (rules: settings#where-settings-come-from).
package settings

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/secrets"
)

// Settings is the validated configuration of a process. The commands create it from their flags and
// the environment (see DevFlags, ServeFlags, StoreFlags and ProviderFlags).
type Settings struct {
	Addr        string // host:port to listen on; port 0 takes any free port
	Data        string // absolute path of the data folder, which may not exist yet
	DatabaseURL Secret // sqlite:///absolute/path or postgres://…
	// DatabaseConns is the maximum number of connections of a process to PostgreSQL.
	DatabaseConns int
	// DatabasePatience is how long PostgreSQL can be silent before it counts as unavailable; 0
	// means the default. Only tests on busy machines change it.
	DatabasePatience time.Duration

	// SecretsKeyFile is the absolute path of the key file of package secrets. "" means the default
	// name in the data folder.
	SecretsKeyFile string

	PublicURL       *url.URL       // how clients reach the service; nil means the listening address
	FrontendURL     *url.URL       // where links in mails and redirects lead; nil means PublicURL
	FrontendPaths   frontend.Paths // paths of its pages that differ from the defaults
	FirstPartyHosts []string       // additional hosts of first-party pages: host or host:port in lower case
	NoConsole       bool           // disables the web console
	TokenAudience   string         // the audience of tokens for backends; "" means PublicURL
	CookieDomain    string         // the domain whose subdomains share the cookies; "" restricts them to the service's host

	Brand     brand.Brand
	Templates *letters.Templates // custom mail templates, or nil
	// Locales are the supported languages, English first. Nil means all languages.
	Locales []string
	// OptionalMails are the names of the optional mails that are sent.
	OptionalMails []string

	TrustedProxies []netip.Prefix
	RateLimits     map[string]int // requests per minute by group; 0 turns a group off
	RedisURL       Secret         // valid for limit.NewRedis; "" counts the limits in memory
	InvoiceMode    InvoiceMode
	Invoices       Invoices      // used only in mode PlatformManaged
	MetricsAddr    string        // host:port of GET /metrics; "" disables it
	StopDelay      time.Duration // how long requests are accepted after the stop has begun
	ProfilesAddr   string        // host:port of /debug/pprof/; "" disables it except on a loopback MetricsAddr

	// DemoDefaultPlan is the slug of the demo plan that dev makes the default plan; "" for none.
	DemoDefaultPlan string

	// serve requires the next four settings. dev ignores them, except in tests, which set a key and
	// a webhook secret.
	StripeSecretKey      Secret
	StripeWebhookSecrets []Secret // one, or the old and the new one during a rotation
	SMTPURL              Secret   // valid for mail.ParseSMTPURL
	MailFrom             string   // an address, or a name and an address: Tenantry <no-reply@example.com>

	// StripeURL is the URL of a stand-alone sandbox to call instead of Stripe, or nil. serve accepts
	// only a loopback URL.
	StripeURL *url.URL

	Logins []LoginProvider // identity providers that users can log in with
	// LoginMethods are the enabled methods of logins. Nil means the default (see
	// EnabledLoginMethods).
	LoginMethods []string

	// Lifetimes are the lifetimes of tokens and sessions. The zero value means the defaults.
	Lifetimes account.Lifetimes
	// RequireVerifiedEmail denies invitations, checkouts and API keys to callers with an unverified
	// email address.
	RequireVerifiedEmail bool
	// AdminRequireMFA denies admin routes to platform admins without a second factor.
	AdminRequireMFA bool
	// ImpersonationReason means that platform admins have to give a reason to impersonate a member.
	ImpersonationReason bool
	// ImpersonationMinutes is the number of minutes after which an impersonation ends; 0 means the
	// default.
	ImpersonationMinutes int
	// PasskeyRPID is the relying party ID of passkeys; "" means the host of the frontend. See
	// RelyingParty.
	PasskeyRPID string
	// InvitationDays is the default number of days that an invitation is valid; 0 means the
	// built-in default.
	InvitationDays int

	// BaseCurrency is the currency of revenue figures, or "" for none. It has three upper-case
	// letters; the catalog decides whether it is active.
	BaseCurrency string
	// PastDueGrace is how long a subscription that is past_due keeps its features; 0 means not at
	// all.
	PastDueGrace time.Duration
	// PaymentAttempts is the number of attempts that the payment provider makes to collect an
	// invoice; 0 means the default.
	PaymentAttempts int
	// InvoiceReminders are the days from the due date on which an unpaid invoice is mailed again;
	// nil means the default.
	InvoiceReminders []int

	Retention Retention
	// RequestLog is how long requests are logged; nil means the default, 0 not at all. See
	// RequestLogDuration.
	RequestLog *time.Duration
	// NoWebhookResponses disables storing the responses of webhook endpoints.
	NoWebhookResponses bool

	UsageRetention time.Duration // how long usage events are stored; 0 means forever
	UsageArchive   string        // absolute path of the folder to which events are written before they are deleted, or ""

	// HashCost is the cost of password hashing; zero means the default. Only tests set it, because
	// they hash thousands of passwords.
	HashCost account.HashCost

	// AroundProvider, if not nil, wraps the sandbox's payment provider. Only tests set it, to
	// observe and break the requests to the provider.
	AroundProvider func(http.Handler) http.Handler `json:"-"`

	// Traces enables OpenTelemetry traces. OpenTelemetry reads their destination from the
	// environment.
	Traces bool

	LogLevel  slog.Level
	LogFormat LogFormat

	// Sources are the settings of dev and serve with the origins of their values.
	Sources []Source
}

// InvoiceMode is the source of invoices (rules: settings#invoices).
type InvoiceMode string

// The invoice modes.
const (
	InvoicesByPSP      InvoiceMode = "psp_managed"      // read from the payment provider
	InvoicesByPlatform InvoiceMode = "platform_managed" // numbered and issued by the service
)

// LogFormat is the format of the log.
type LogFormat string

// The log formats.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// WithListenAddress returns s with default URLs that are derived from the listening address. If the
// service listens on all interfaces, the host is localhost.
func (s Settings) WithListenAddress(on net.Addr) Settings {
	if s.PublicURL == nil {
		host := on.String()
		if tcp, ok := on.(*net.TCPAddr); ok && (tcp.IP == nil || tcp.IP.IsUnspecified()) {
			_, port, _ := net.SplitHostPort(host) // a TCP address always has a port
			host = net.JoinHostPort("localhost", port)
		}
		s.PublicURL = &url.URL{Scheme: "http", Host: host}
	}
	if s.FrontendURL == nil {
		s.FrontendURL = s.PublicURL
	}
	return s
}

// SecretsKey returns the path of the key file of package secrets.
func (s Settings) SecretsKey() string {
	return cmp.Or(s.SecretsKeyFile, filepath.Join(s.Data, secrets.FileName))
}

// OfferedLocales returns the supported languages, English first.
func (s Settings) OfferedLocales() []string {
	if s.Locales == nil {
		return i18n.Locales()
	}
	return s.Locales
}

// Addresses returns the addresses of the frontend's pages.
func (s Settings) Addresses() frontend.Addresses {
	return frontend.Addresses{URL: strings.TrimSuffix(s.FrontendURL.String(), "/"), Paths: s.FrontendPaths}
}

// Error is a wrong or missing setting. Several errors are joined with errors.Join. The text never
// contains the value of a secret.
type Error struct {
	Name   string // the environment variable, or else the flag or argument
	Reason string
}

// Error returns the name of the setting and the problem, in one line.
func (e *Error) Error() string { return e.Name + ": " + e.Reason }

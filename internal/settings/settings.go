// Package settings reads the configuration from flags, the environment and files
// with secrets, and checks it (rules: settings#where-settings-come-from).
package settings

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
)

// Settings is the checked configuration of one process. The commands make it from
// their flags and the environment (see DevFlags, ServeFlags, StoreFlags and
// ProviderFlags).
type Settings struct {
	Addr        string // host:port to listen on; port 0 takes any free port
	Data        string // absolute path of the data folder, which need not exist yet
	DatabaseURL Secret // sqlite:///absolute/path or postgres://…
	// DatabaseConns is how many connections to PostgreSQL one process has at most.
	DatabaseConns int
	// DatabasePatience is how long PostgreSQL may be silent before it counts as away; 0 is
	// the default. Only tests on busy machines need another.
	DatabasePatience time.Duration

	PublicURL       *url.URL       // how clients reach the service; nil means the listening address
	FrontendURL     *url.URL       // where links in mails and redirects lead; nil means PublicURL
	FrontendPaths   frontend.Paths // of its pages, where they are others than by default
	FirstPartyHosts []string       // host or host:port in lower case, beside the frontend's
	NoConsole       bool           // the web console is not served
	CookieDomain    string         // whose subdomains share the cookies; "" keeps them to the service's host

	Brand     brand.Brand
	Templates *letters.Templates // mails of the operator's own; nil for none
	// Locales are the languages that are offered, English first; nil for all.
	Locales []string
	// OptionalMails are the optional mails that are sent.
	OptionalMails []string

	TrustedProxies []netip.Prefix
	RateLimits     map[string]int // requests per minute by group; 0 turns a group off
	RedisURL       Secret         // valid for limit.NewRedis; "" counts the limits in memory
	InvoiceMode    InvoiceMode
	Invoices       Invoices      // used in mode PlatformManaged only
	MetricsAddr    string        // host:port of GET /metrics; "" for none
	StopDelay      time.Duration // for how long requests are taken after the stop has begun
	ProfilesAddr   string        // host:port of /debug/pprof/; "" for none but on a loopback MetricsAddr

	// The next four are required by serve. Dev ignores them, but for tests, which
	// give it a key and a webhook secret.
	StripeSecretKey      Secret
	StripeWebhookSecrets []Secret // one, or the new and the old one while it is being replaced
	SMTPURL              Secret   // valid for mail.ParseSMTPURL
	MailFrom             string   // an address, or a name and an address: Tenantry <no-reply@example.com>

	// StripeURL leads commands to a stand-alone sandbox in place of Stripe; nil for
	// Stripe. The service has no such setting.
	StripeURL *url.URL

	Logins []LoginProvider // identity providers that people can log in with

	// Lifetimes of tokens and sessions; the zero value stands for the defaults.
	Lifetimes account.Lifetimes
	// RequireVerifiedEmail closes inviting, checkout and API keys to callers whose email
	// nobody has proved.
	RequireVerifiedEmail bool
	// InvitationDays is how many days an invitation is valid unless the inviter
	// chooses; 0 stands for the default.
	InvitationDays int

	Retention Retention

	UsageRetention time.Duration // how long usage events are kept; 0 keeps them for ever
	UsageArchive   string        // absolute path of the folder to which events are written before they are deleted; "" for none

	// HashCost is the cost of hashing passwords; zero stands for the default. It is
	// for tests, which hash thousands of times; no flag sets it.
	HashCost account.HashCost

	// AroundProvider, unless nil, wraps the sandbox's payment provider. It is for
	// tests, which watch and break the service's requests to it; no flag sets it.
	AroundProvider func(http.Handler) http.Handler `json:"-"`

	// Traces says that traces are sent by OpenTelemetry, which reads from the environment where
	// to and how.
	Traces bool

	LogLevel  slog.Level
	LogFormat LogFormat
}

// InvoiceMode says where invoices come from (rules: settings#invoices).
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

// WithListenAddress returns s with its URLs and hosts filled in, now that the listening
// address is known. Where the service listens on every interface, localhost
// stands for them.
func (s Settings) WithListenAddress(on net.Addr) Settings {
	if s.PublicURL == nil {
		host := on.String()
		if tcp, ok := on.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
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

// OfferedLocales returns the languages that are offered, English first.
func (s Settings) OfferedLocales() []string {
	if s.Locales == nil {
		return i18n.Locales()
	}
	return s.Locales
}

// Addresses returns where the pages of the frontend are.
func (s Settings) Addresses() frontend.Addresses {
	return frontend.Addresses{URL: strings.TrimSuffix(s.FrontendURL.String(), "/"), Paths: s.FrontendPaths}
}

// Error is a setting that is wrong or missing. Several are joined with
// errors.Join. The text never contains the value of a secret.
type Error struct {
	Name   string // of the environment variable, or of a flag or argument without one
	Reason string
}

// Error returns the name of the setting and what is wrong with it, in one line.
func (e *Error) Error() string { return e.Name + ": " + e.Reason }

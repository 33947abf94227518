// Package settings reads what the service is told from outside, from flags, the
// environment and files with secrets, and checks it.
package settings

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/tenantry/tenantry/internal/account"
)

// AppName is what the service calls itself in mails, invoices and settings.
const AppName = "Tenantry"

// Settings is what the service is told from outside, checked and parsed. The
// commands make it from their flags and the environment (see DevFlags,
// ServeFlags and StoreFlags).
type Settings struct {
	Addr        string // host:port to listen on; port 0 takes a free one
	Data        string // absolute path of the data folder; it need not exist
	DatabaseURL Secret // sqlite:///absolute/path or postgres://…

	PublicURL       *url.URL // how clients reach the service; nil: the listening address
	FrontendURL     *url.URL // where mail links and redirects go; nil: PublicURL
	FirstPartyHosts []string // host or host:port, lower case; nil: the frontend's host

	TrustedProxies []netip.Prefix
	RateLimits     map[string]int // group → requests per minute, 0 is off
	RedisURL       Secret         // limit.NewRedis accepts it; empty: the limits are counted in memory
	InvoiceMode    InvoiceMode
	Invoices       Invoices // used where they are issued here
	MetricsAddr    string   // host:port where serve answers GET /metrics; empty: nowhere

	// Required by serve, unused in dev; there only tests give a key.
	StripeSecretKey      Secret
	StripeWebhookSecrets []Secret // the newest, and an older one while it is being replaced
	SMTPURL              Secret   // mail.ParseSMTPURL accepts it
	MailFrom             string   // an address, maybe with a name: Tenantry <no-reply@example.com>

	Logins []LoginProvider // identity providers to log in at

	// Lifetimes of tokens and sessions; a zero one is the default.
	Lifetimes account.Lifetimes
	// InvitationDays is for how many days an invitation works that does not say so
	// itself; 0 is the default.
	InvitationDays int

	UsageRetention time.Duration // how long usage events are kept; 0 is for ever
	UsageArchive   string        // absolute path of the folder that they are written to before; "" is none

	// HashCost is that of passwords; zero is the default. No flag changes it: it
	// is for tests, which hash thousands of times.
	HashCost account.HashCost

	// AroundProvider, unless nil, stands between the service and the sandbox's
	// payment provider. No flag changes it: it is for tests, which look at what is
	// asked there and break it.
	AroundProvider func(http.Handler) http.Handler `json:"-"`

	LogLevel  slog.Level
	LogFormat LogFormat
}

// InvoiceMode says where invoices come from (spec: Invoices).
type InvoiceMode string

// The invoice modes.
const (
	PSPManaged      InvoiceMode = "psp_managed"      // read from the payment provider
	PlatformManaged InvoiceMode = "platform_managed" // numbered and made here
)

// LogFormat is how a line of the log is written.
type LogFormat string

// The log formats.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Listening returns s with the settings that default to the listening address
// filled in, once that is known. An address that stands for every interface is
// reached as localhost.
func (s Settings) Listening(on net.Addr) Settings {
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
	if s.FirstPartyHosts == nil {
		s.FirstPartyHosts = []string{s.FrontendURL.Host}
	}
	return s
}

// Error is a setting that cannot be used. Several come joined
// (errors.Join). Its text never has the value of a secret.
type Error struct {
	Name   string // of the environment variable
	Reason string
}

// Error names the setting and says what is wrong with it, in one line.
func (e *Error) Error() string { return e.Name + ": " + e.Reason }

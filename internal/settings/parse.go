package settings

import (
	"fmt"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
)

// The files of databases in the data folder.
const (
	// DatabaseFile is the default name of the database.
	DatabaseFile = "tenantry.db"
	// SandboxFile is the name of the sandbox's database. A data folder that contains it belongs to
	// dev, whose accounts have well-known passwords.
	SandboxFile = "sandbox.db"
)

// parser converts flags to settings and collects the errors.
type parser struct {
	getenv  func(string) string
	command string // the command that requires the settings
	errs    []error
}

func (p *parser) fail(name, format string, args ...any) {
	p.errs = append(p.errs, &Error{Name: name, Reason: fmt.Sprintf(format, args...)})
}

func (p *parser) http(f HTTPFlags, s *Settings) {
	s.Addr = p.addr("TENANTRY_ADDR", f.Addr)
	s.PublicURL = p.webURL("TENANTRY_PUBLIC_URL", f.PublicURL)
	s.FrontendURL = p.webURL("TENANTRY_FRONTEND_URL", f.FrontendURL)
	s.FrontendPaths = p.paths("TENANTRY_FRONTEND_PATHS", f.FrontendPaths)
	s.FirstPartyHosts = p.hosts("TENANTRY_FIRST_PARTY_HOSTS", f.FirstPartyHosts)
	s.TokenAudience = p.audience("TENANTRY_TOKEN_AUDIENCE", f.TokenAudience)
	s.CookieDomain = p.cookieDomain("TENANTRY_COOKIE_DOMAIN", f.CookieDomain, s.PublicURL)
	s.TrustedProxies = p.proxies("TENANTRY_TRUSTED_PROXIES", f.TrustedProxies)
	limits, err := limit.ParseSetting(f.RateLimits)
	if err != nil {
		p.fail("TENANTRY_RATE_LIMITS", "%v", err)
	}
	s.RateLimits = limits
	if s.RedisURL = p.secretOf("TENANTRY_REDIS_URL", f.RedisURL, f.RedisURLFile); s.RedisURL != "" {
		if err := limit.CheckRedisURL(s.RedisURL.Reveal()); err != nil {
			p.fail("TENANTRY_REDIS_URL", "%v", err)
		}
	}
	s.RequireVerifiedEmail = p.onOff("TENANTRY_REQUIRE_VERIFIED_EMAIL", f.VerifiedEmail, false)
	s.AdminRequireMFA = p.onOff("TENANTRY_ADMIN_REQUIRE_MFA", f.AdminRequireMFA, false)
	p.impersonation(f, s)
	s.LoginMethods = p.loginMethods("TENANTRY_LOGIN_METHODS", f.LoginMethods)
	if s.PasskeyRPID = f.PasskeyRPID; s.PasskeyRPID != "" && (s.FrontendURL != nil || s.PublicURL != nil) {
		known := *s
		if known.FrontendURL == nil {
			known.FrontendURL = s.PublicURL
		}
		if _, err := known.RelyingParty(); err != nil {
			p.errs = append(p.errs, err)
		}
	}
	s.NoConsole = !p.onOff("TENANTRY_CONSOLE", f.Console, true)
	if f.StopDelay != "" {
		delay, err := time.ParseDuration(f.StopDelay)
		if err != nil || delay < 0 || delay > maxStopDelay {
			p.fail("TENANTRY_STOP_DELAY", "%q is not a duration from 0s to %s, such as 5s", f.StopDelay, maxStopDelay)
		}
		s.StopDelay = delay
	}
	if f.MetricsAddr != "" {
		s.MetricsAddr = p.addr("TENANTRY_METRICS_ADDR", f.MetricsAddr)
	}
	if f.ProfilesAddr != "" {
		s.ProfilesAddr = p.addr("TENANTRY_PROFILES_ADDR", f.ProfilesAddr)
	}
}

// maxStopDelay limits TENANTRY_STOP_DELAY, because process managers kill a process that does not
// stop in time.
const maxStopDelay = 30 * time.Second

// Limits of TENANTRY_DATABASE_CONNS. Migrations alone need two connections at the same time.
const (
	minConns = 4
	maxConns = 500
)

func (p *parser) store(f StoreFlags, format LogFormat, s *Settings) {
	s.Data = p.dir("TENANTRY_DATA", f.Data)
	s.DatabaseURL = p.databaseURL(f, s.Data)
	s.SecretsKeyFile = p.secretsKeyFile(f.SecretsKeyFile)
	if f.DatabaseConns != "" {
		conns, err := strconv.Atoi(f.DatabaseConns)
		if err != nil || conns < minConns || conns > maxConns {
			p.fail("TENANTRY_DATABASE_CONNS", "%q is not a number from %d to %d", f.DatabaseConns, minConns, maxConns)
		}
		s.DatabaseConns = conns
	}
	if f.LogLevel != "" {
		if err := s.LogLevel.UnmarshalText([]byte(f.LogLevel)); err != nil || strings.ContainsAny(f.LogLevel, "+-") {
			p.fail("TENANTRY_LOG_LEVEL", "%q is not debug, info, warn or error", f.LogLevel)
		}
	}
	other := LogText
	if format == LogText {
		other = LogJSON
	}
	s.LogFormat = parseChoice(p, "TENANTRY_LOG_FORMAT", f.LogFormat, format, other)
}

func (p *parser) parseExternal(f ExternalFlags, s *Settings) {
	p.provider(f.StripeSecretKeyFile, s)
	if s.StripeURL = p.webURL("--stripe-url", f.StripeURL); s.StripeURL != nil {
		if !isLoopback(s.StripeURL.Hostname()) {
			p.fail("--stripe-url", "must be a loopback URL, such as http://127.0.0.1:12111: a sandbox replaces Stripe only for practice on one machine")
		}
		p.sandboxKey("TENANTRY_STRIPE_SECRET_KEY", s.StripeSecretKey)
	}
	s.StripeWebhookSecrets = p.webhookSecrets("TENANTRY_STRIPE_WEBHOOK_SECRET", f.StripeWebhookSecretFile)
	if s.SMTPURL = p.requiredSecret("TENANTRY_SMTP_URL", f.SMTPURLFile); s.SMTPURL != "" {
		if _, err := mail.ParseSMTPURL(s.SMTPURL.Reveal()); err != nil {
			p.fail("TENANTRY_SMTP_URL", "%v", err)
		}
	}
	if s.MailFrom = f.MailFrom; s.MailFrom == "" {
		p.fail("TENANTRY_MAIL_FROM", "required by %s", p.command)
	} else if sender, err := netmail.ParseAddress(s.MailFrom); err != nil || !mail.CanSend(sender.Address) {
		p.fail("TENANTRY_MAIL_FROM", "%q is not an email address", s.MailFrom)
	}
}

func (p *parser) provider(keyFile string, s *Settings) {
	s.StripeSecretKey = p.stripeSecret("TENANTRY_STRIPE_SECRET_KEY", keyFile, "sk_", "rk_")
}

// refuseSandbox prevents production from starting with the data or the key of a sandbox.
func (p *parser) refuseSandbox(s Settings) {
	if _, err := os.Stat(filepath.Join(s.Data, SandboxFile)); s.Data != "" && err == nil {
		p.fail("TENANTRY_DATA", "%s belongs to a sandbox of tenantry dev, whose accounts have public passwords", s.Data)
	}
	if s.StripeURL == nil && strings.Contains(s.StripeSecretKey.Reveal(), "sandbox") {
		p.fail("TENANTRY_STRIPE_SECRET_KEY", "this is a sandbox key; use --stripe-url with the URL of its sandbox, such as http://127.0.0.1:12111")
	}
}

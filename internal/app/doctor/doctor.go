// Package doctor finds problems of an installation and recommends fixes. It changes nothing, except
// that it sends a test mail on request (rules: settings#doctor).
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/settings"
)

// Config is the installation to check.
type Config struct {
	Settings settings.Settings
	// SettingsError joins the errors of invalid settings. Invalid settings are empty in Settings.
	SettingsError error
	// Unknown are environment variables that match no setting.
	Unknown []settings.UnknownVariable
	// Sandbox reports that the data folder belongs to a sandbox, which needs no external service.
	Sandbox bool
	// Logins are the identity providers.
	Logins []oauth.Provider
	// SendTo is the recipient of a test mail; "" sends none.
	SendTo string
	// Provider checks the payment provider; nil without a key.
	Provider func(ctx context.Context) ([]check.Finding, error)
}

// checkTimeout bounds each check that uses the network.
const checkTimeout = 10 * time.Second

// doctor collects findings.
type doctor struct {
	Config
	findings []check.Finding
}

// Run runs all checks. A check comes after the checks that it depends on.
func Run(ctx context.Context, cfg Config) []check.Finding {
	d := &doctor{Config: cfg}
	d.settings()
	d.variables()
	d.folder()
	d.database(ctx)
	d.redis(ctx)
	d.mail(ctx)
	d.logins(ctx)
	d.addresses(ctx)
	d.proxies()
	d.provider(ctx)
	return d.findings
}

func (d *doctor) ok(name, format string, args ...any) {
	d.note(name, check.StatusOK, fmt.Sprintf(format, args...), "")
}

func (d *doctor) warn(name, detail, fix string) { d.note(name, check.StatusWarning, detail, fix) }

func (d *doctor) fail(name, detail, fix string) { d.note(name, check.StatusError, detail, fix) }

func (d *doctor) note(name string, status check.Status, detail, fix string) {
	f := check.Finding{Name: name, Status: status, Detail: detail}
	if fix != "" {
		f.Fix = &fix
	}
	d.findings = append(d.findings, f)
}

// settings reports each invalid setting.
func (d *doctor) settings() {
	wrong := splitErrors(d.SettingsError)
	for _, err := range wrong {
		name := "settings"
		if setting, ok := errors.AsType[*settings.Error](err); ok {
			name, err = setting.Name, errors.New(setting.Reason)
		}
		d.fail(name, err.Error(), "Fix the setting. Run tenantry serve --help for a list of settings.")
	}
	switch {
	case len(wrong) > 0:
	case d.Sandbox:
		d.ok("settings", "sandbox data folder: only the settings of tenantry dev are checked")
	default:
		d.ok("settings", "valid for tenantry serve")
	}
}

// splitErrors returns the errors that errors.Join has joined.
func splitErrors(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, splitErrors(err)...)
	}
	return all
}

func (d *doctor) variables() {
	for _, v := range d.Unknown {
		d.warn(v.Name, "unknown setting", "Did you mean "+v.Nearest+"?")
	}
}

func (d *doctor) mail(ctx context.Context) {
	s := d.Settings
	if s.SMTPURL == "" || s.MailFrom == "" {
		if d.Sandbox {
			d.ok("mail", "not needed: emails stay in the sandbox mailbox")
		}
		return // otherwise the settings are invalid, which is already reported
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	fix := "Check host, port, user and password in TENANTRY_SMTP_URL, and that this machine can connect to the server."
	server, err := mail.ParseSMTPURL(s.SMTPURL.Reveal())
	if err != nil {
		return
	}
	sender, err := mail.NewSMTP(mail.SMTPConfig{Server: server, From: s.MailFrom})
	if err == nil {
		err = sender.Greet(ctx)
	}
	if err != nil {
		if server.Security == mail.STARTTLS && strings.Contains(err.Error(), "STARTTLS") {
			fix = "Use smtps:// for a server that is encrypted from the start. For a server on this machine without encryption, add ?tls=none to TENANTRY_SMTP_URL."
		}
		d.fail("mail", err.Error(), fix)
		return
	}
	if d.SendTo == "" {
		d.ok("mail", "%s accepts the login; use --send-to to send a test email", server.Host)
		return
	}
	const text = "This is a test email from tenantry doctor."
	if err := sender.Send(ctx, mail.Message{To: d.SendTo, Subject: "Test email from " + s.Brand.App(), Text: text}); err != nil {
		d.fail("mail", "the test email was rejected: "+err.Error(), "Check that "+s.MailFrom+" is allowed to send.")
		return
	}
	d.ok("mail", "%s accepted an email to %s", server.Host, d.SendTo)
}

// logins requests the discovery document of each identity provider.
func (d *doctor) logins(ctx context.Context) {
	for _, p := range d.Logins {
		name := "login " + p.Name
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		err := oauth.Discover(ctx, p, clock.System())
		cancel()
		if err != nil {
			d.fail(name, err.Error(), "Check the issuer, and that this machine can connect to it.")
			continue
		}
		d.ok(name, "reachable; register %s as redirect URI there", d.callback(p.Name))
	}
}

func (d *doctor) callback(provider string) string {
	s, base := d.Settings, "http://"+d.Settings.Addr
	if on, err := net.ResolveTCPAddr("tcp", s.Addr); err == nil {
		s = s.WithListenAddress(on) // as serve does
	}
	if s.PublicURL != nil {
		base = strings.TrimSuffix(s.PublicURL.String(), "/")
	}
	return base + oauth.Path + provider + "/callback"
}

func (d *doctor) provider(ctx context.Context) {
	if d.Provider == nil {
		if d.Sandbox {
			d.ok("stripe", "not needed: the sandbox replaces it")
		}
		return
	}
	found, err := d.Provider(ctx)
	if err != nil {
		d.fail("stripe", err.Error(), "")
	}
	for _, f := range found {
		f.Name = "stripe: " + f.Name
		d.findings = append(d.findings, f)
	}
}

package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	parts "github.com/tenantry/tenantry/clients/elements"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/sandbox"
	"github.com/tenantry/tenantry/sandbox/idp"
	"github.com/tenantry/tenantry/sandbox/mailbox"
	"github.com/tenantry/tenantry/sandbox/stripe"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// Dev runs the service with the sandbox instead of external services until ctx ends. Once the
// service is ready, Dev writes a banner with its URLs to out in one Write. The log goes to logTo.
func Dev(ctx context.Context, s settings.Settings, out, logTo io.Writer) (err error) {
	log := newSandboxLog(logTo, s)
	log.InfoContext(ctx, "starting", "data", s.Data) // the database and the demo data can take seconds
	listener, err := listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	s = s.WithListenAddress(listener.Addr())
	if err := s.KeepPrivate(); err != nil {
		return errors.Join(err, listener.Close())
	}
	world, release, err := openSandbox(ctx, s.Data)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer release()
	defer func() { err = errors.Join(err, world.Close()) }()
	db, err := openFor(ctx, s, sandboxed)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer commands.CloseJoining(db, &err)
	own := "http://" + loopbackURL(listener.Addr())
	svc, provider, err := newSandboxed(ctx, s, db, world, own, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	background, err := svc.background(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	p := &process{svc: svc, health: &health{db: db}, listener: listener, background: append(background, provider.Run)}
	return p.run(ctx, func(ctx context.Context) error {
		if err := svc.seedDemo(ctx, own); err != nil {
			return fmt.Errorf("demo data: %w", err)
		}
		return banner(out, s)
	})
}

// newSandboxLog returns a logger that logs two warnings at level INFO. They are normal in a
// sandbox: when its clock moves, the daily comparisons run before the provider's notifications
// arrive.
func newSandboxLog(w io.Writer, s settings.Settings) *slog.Logger {
	return commands.NewLog(w, s, compare.DifferenceMessage, inbox.MissedMessage)
}

// newSandboxed creates the service with the sandbox instead of external services, and mounts the
// sandbox's pages next to the API. own is the URL at which the service and the sandbox reach each
// other.
func newSandboxed(
	ctx context.Context, s settings.Settings, db *sqldb.DB, world *sandbox.World, own string, log *slog.Logger,
) (*service, *stripe.Server, error) {
	out, err := sandboxEnvironment(ctx, world, s, db, own)
	if err != nil {
		return nil, nil, err
	}
	key, secret := out.pspKey, out.webhookSecrets[0]
	login, err := sandboxLogin(ctx, world, s, own)
	if err != nil {
		return nil, nil, err
	}
	identities, err := idp.New(ctx, login)
	if err != nil {
		return nil, nil, err
	}
	provider, err := stripe.New(stripe.Config{
		DB: world.DB(), Clock: world.Clock(), PublicURL: s.PublicURL.String(), SecretKey: key.Reveal(),
		WebhookSecret: secret, WebhookURL: own + "/api/v1/webhooks/stripe", Brand: sandboxBrand(s), Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	svc, err := newService(s, db, out, log)
	if err != nil {
		return nil, nil, err
	}
	world.Show(sandbox.Access{
		API: s.PublicURL.String() + "/sandbox/stripe", Key: key.Reveal(), Secret: secret, Brand: sandboxBrand(s),
		Coming: provider.ListUpcoming, LastEvents: provider.LastEvents, Codes: svc.presentCodes,
		BeforeMove: func(r *http.Request, d time.Duration) error {
			svc.drainUsage(r.Context(), d, log)
			// Otherwise the move would expire the session, and concurrent requests would end it.
			return svc.accounts.ExtendSession(r.Context(), svc.api.Session(r), d)
		},
		Mails:    mailGallery(svc.letters),
		Elements: parts.Included,
	})
	world.Clock().OnAdvance(func(time.Time) { provider.Wake(); svc.jobs.Wake(); svc.hooks.Wake() })
	payments := provider.Handler()
	if s.AroundProvider != nil {
		payments = s.AroundProvider(payments)
	}
	around := http.NewServeMux()
	around.Handle("/", payments)
	around.HandleFunc("POST /sandbox/stripe/reconcile", svc.reconcileNow)
	pages := world.Handler(around, identities.Handler(), s.PublicURL.Host)
	received := (&sandbox.WebhookReceiver{Clock: world.Clock(), Secrets: func(ctx context.Context, path string) ([]string, error) {
		return svc.hooks.Secrets(ctx, func(url string) bool { return strings.HasSuffix(url, path) })
	}}).Handler()
	svc.api.Mount("/sandbox/hooks", world.Guard(received, s.PublicURL.Host))
	svc.api.Mount("/sandbox/hooks/", world.Guard(received, s.PublicURL.Host))
	svc.api.Mount("/sandbox", pages)
	svc.api.Mount("/sandbox/", pages)
	svc.api.Mount("/metrics", svc.metrics.Handler())
	if !svc.hasConsole() {
		svc.api.Mount("/", http.RedirectHandler("/sandbox", http.StatusFound))
	}
	return svc, provider, nil
}

// presentCodes returns the codes for the sandbox's authenticator page.
func (svc *service) presentCodes(ctx context.Context) ([]sandbox.TOTPCode, error) {
	present, err := svc.factors.PresentCodes(ctx)
	codes := make([]sandbox.TOTPCode, len(present))
	for i, c := range present {
		codes[i] = sandbox.TOTPCode{Email: c.Email, Code: c.Code, EndsAt: c.EndsAt, Used: c.IsUsed, Confirmed: c.IsConfirmed}
	}
	return codes, err
}

// sandboxBrand returns the look of the sandbox's customer-facing pages: the operator's brand, as on
// the provider's real pages.
func sandboxBrand(s settings.Settings) theme.Brand {
	b := s.Brand
	return theme.Brand{
		Name: b.Name, Logo: b.Logo.Address(strings.TrimSuffix(s.PublicURL.String(), "/")), Accent: b.Accent,
		SupportEmail: b.SupportEmail, TermsURL: b.TermsURL, PrivacyURL: b.PrivacyURL,
	}
}

// mailGallery returns the samples of the service's mails.
func mailGallery(l *letters.Letters) mailbox.Gallery {
	g := mailbox.Gallery{Locales: i18n.Locales(), Render: func(ctx context.Context, name, locale, values string) (mailbox.Message, error) {
		m, err := l.Sample(ctx, name, locale, values)
		return mailbox.Message{To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML}, err
	}}
	for _, m := range letters.Mails() {
		g.Kinds = append(g.Kinds, mailbox.Kind{Name: m.Name, About: m.About})
	}
	return g
}

// sandboxEnvironment returns an environment in which the sandbox replaces all external services.
// own is the URL at which the service reaches the sandbox.
func sandboxEnvironment(ctx context.Context, world *sandbox.World, s settings.Settings, db *sqldb.DB, own string) (environment, error) {
	protection, err := loadSecretsKey(ctx, s, db)
	if err != nil {
		return environment{}, err
	}
	var signing settings.Secret // only tests set it
	if len(s.StripeWebhookSecrets) > 0 {
		signing = s.StripeWebhookSecrets[0]
	}
	key, secret, err := sandboxSecrets(ctx, world, s.StripeSecretKey, signing)
	if err != nil {
		return environment{}, err
	}
	idConfig, err := sandboxLogin(ctx, world, s, own)
	if err != nil {
		return environment{}, err
	}
	login := oauth.OIDCProvider(settings.SandboxProvider, idConfig.PublicURL+idp.Path, idConfig.ClientID, idConfig.ClientSecret)
	login.DiscoveryURL = own + idp.Path
	return environment{
		clock: world.Clock(), pspKey: key, pspBaseURL: own + "/sandbox/stripe", documents: invoices.DocumentConfig{Hosts: []string{s.PublicURL.Host}, Reachable: loopback},
		pspDashboard:   s.PublicURL.String() + "/sandbox/dashboard",
		webhookSecrets: []string{secret.Reveal()}, sender: mailboxSender{world.Mailbox()}, logins: append(oauthProviders(s.Logins), login),
		sandboxed: true, resolver: world.DNS(), secrets: protection,
		reachable: loopback,
		unlogged:  []string{"/sandbox", "/api/v1/webhooks/stripe"},
	}, nil
}

// mailboxSender delivers mail to the sandbox.
type mailboxSender struct{ mailbox *mailbox.Mailbox }

// Send implements mail.Sender.
func (s mailboxSender) Send(ctx context.Context, m mail.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	received := mailbox.Message{ID: m.ID, To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML}
	for _, a := range m.Attachments {
		received.Attachments = append(received.Attachments, mailbox.Attachment{Name: a.Name, ContentType: a.ContentType, Size: len(a.Content)})
	}
	return s.mailbox.Deliver(ctx, received)
}

// sandboxLogin returns the configuration of the sandbox's identity provider, with the service as
// its client. The service reaches the provider at own, browsers at the public URL.
func sandboxLogin(ctx context.Context, world *sandbox.World, s settings.Settings, own string) (idp.Config, error) {
	secret, err := world.Secret(ctx, "login_client_secret", rand.Text())
	return idp.Config{
		DB: world.DB(), Clock: world.Clock(), PublicURL: s.PublicURL.String(), BackURL: own,
		ClientID: "tenantry", ClientSecret: secret, Brand: sandboxBrand(s),
		RedirectURIs: oauth.Callbacks(s.PublicURL.String(), settings.SandboxProvider),
	}, err
}

// drainTime bounds how long a move of the clock waits for usage to be reported.
const drainTime = 5 * time.Second

// draftLife is how long the provider keeps the invoice of a period as a draft. Until it becomes
// final, usage can still be reported for the period.
const draftLife = time.Hour

// drainUsage reports usage before the clock moves by d. If d is long enough for invoices to become
// final, it also waits for usage whose price is not decided yet.
func (svc *service) drainUsage(ctx context.Context, d time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if err := svc.reporter.Drain(ctx, d >= draftLife); err != nil {
		log.WarnContext(ctx, "failed to report usage before the clock moves", "error", err)
	}
}

// loopbackURL returns the host and port at which the process reaches itself.
func loopbackURL(on net.Addr) string {
	host, port, err := net.SplitHostPort(on.String())
	if err != nil {
		return on.String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// banner writes the URLs and logins of the sandbox.
func banner(w io.Writer, s settings.Settings) error {
	url := s.PublicURL.String()
	_, err := fmt.Fprintf(w, `
  Tenantry runs with its sandbox.

    Start here %[1]s/sandbox
    API        %[1]s/api/v1, described at %[1]s/docs
    Admin      %[3]s, password %[4]s
    Owner      %[5]s, password %[6]s
    API key    made with: tenantry api-key create --name demo --scope usage.write
    Stripe key of the sandbox: shown at %[1]s/sandbox
    Data       %[2]s

  Stop with Ctrl-C. The data is kept; delete the folder to start over.

`, url, s.Data, sandbox.AdminEmail, sandbox.AdminPassword, sandbox.OwnerEmail, sandbox.OwnerPassword)
	return err
}

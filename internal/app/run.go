package app

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/rates"
)

// Serve runs the service in production until ctx ends.
func Serve(ctx context.Context, s settings.Settings) (err error) {
	setGCPercent()
	log, flush := commands.NewBufferedLog(os.Stderr, s)
	defer func() { err = errors.Join(err, flush()) }()
	server, err := mail.ParseSMTPURL(s.SMTPURL.Reveal())
	if err != nil {
		return err
	}
	sender, err := mail.NewSMTP(mail.SMTPConfig{Server: server, From: s.MailFrom})
	if err != nil {
		return err
	}
	if err := s.KeepPrivate(); err != nil {
		return err
	}
	purpose := production
	if s.StripeURL != nil {
		purpose = practice
		log.WarnContext(ctx, "PRACTICE WITHOUT STRIPE: a sandbox simulates all payments; no money moves", "sandbox", s.StripeURL.String())
	}
	db, err := openFor(ctx, s, purpose)
	if err != nil {
		return err
	}
	defer commands.CloseJoining(db, &err)
	if db.File() != "" {
		release, err := datadir.Lock(ctx, db.File())
		if err != nil {
			return err
		}
		defer release()
	}
	key, err := loadSecretsKey(ctx, s, db)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	if s.PublicURL == nil {
		log.WarnContext(ctx, "TENANTRY_PUBLIC_URL is not set: links use the listening address")
	}
	s = s.WithListenAddress(listener.Addr())
	out := externalServices(s, sender, key)
	svc, err := newService(s, db, out, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	background, err := svc.background(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	p := &process{svc: svc, health: &health{db: db}, listener: listener, background: append(background, releaseStartMemory)}
	err = p.run(ctx, func(context.Context) error {
		log.InfoContext(ctx, "serving", "address", listener.Addr().String(), "url", s.PublicURL.String(), "version", Version())
		return nil
	})
	return err
}

// loopback are the networks of this machine.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// externalServices returns the external dependencies of production: Stripe, or the sandbox that replaces it.
func externalServices(s settings.Settings, sender mail.Sender, key *secrets.Key) environment {
	out := environment{clock: clock.System(), pspKey: s.StripeSecretKey, sender: sender, logins: oauthProviders(s.Logins), secrets: key}
	if s.StripeURL != nil {
		out.pspBaseURL = s.StripeURL.String()
		out.documents = invoices.DocumentConfig{Hosts: []string{s.StripeURL.Host}, Reachable: loopback}
		out.pspDashboard = s.StripeURL.String() + "/sandbox/dashboard"
	}
	for _, secret := range s.StripeWebhookSecrets {
		out.webhookSecrets = append(out.webhookSecrets, secret.Reveal())
	}
	return out
}

// background returns the functions that run concurrently with requests.
//
// Invariant: the process has locked the data folder of an embedded database, so all its leases
// belong to a process that was killed. Ending them early cannot cause work to run twice.
func (svc *service) background(ctx context.Context) ([]func(context.Context) error, error) {
	if svc.db.File() != "" {
		if err := errors.Join(svc.jobs.EndLeases(ctx), svc.hooks.EndLeases(ctx), svc.idempotency.EndLeases(ctx)); err != nil {
			return nil, err
		}
	}
	work := []func(context.Context) error{
		svc.jobs.Run, svc.usage.Run, svc.apiKeys.Run, svc.accounts.Run, svc.tenants.Run, svc.hooks.Run, svc.requestLog.Run,
	}
	figures, err := svc.metrics.Listen(ctx, svc.settings.MetricsAddr, svc.settings.ProfilesAddr)
	return append(work, figures...), err
}

// loadSecretsKey returns the key of package secrets. Its error names the key file and the setting.
func loadSecretsKey(ctx context.Context, s settings.Settings, db *sqldb.DB) (*secrets.Key, error) {
	key, err := secrets.Load(ctx, db, s.SecretsKey())
	if err != nil && !sqldb.IsUnavailable(err) {
		err = &settings.Error{Name: "TENANTRY_SECRETS_KEY_FILE", Reason: err.Error()}
	}
	return key, err
}

// The purposes of a database. The first start assigns one purpose to the database.
const (
	production = "production"
	practice   = "practice" // serve with a sandbox instead of Stripe
	sandboxed  = "sandbox"
)

// openFor opens the database for a purpose, or for one of the purposes in also. It rejects a database
// of another purpose: serve must never open demo accounts, whose passwords are public, and a sandbox
// must never contain real customers.
func openFor(ctx context.Context, s settings.Settings, purpose string, also ...string) (*sqldb.DB, error) {
	db, err := commands.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	claimed, err := db.Claim(ctx, purpose)
	if err == nil && claimed != purpose && !slices.Contains(also, claimed) {
		err = &settings.Error{Name: "TENANTRY_DATABASE_URL", Reason: "the database is in use for " + claimed + " and cannot be opened for " + purpose}
	}
	if err == nil {
		err = checkBaseCurrency(ctx, s, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkBaseCurrency rejects a base currency that is not an active currency of the catalog.
func checkBaseCurrency(ctx context.Context, s settings.Settings, db *sqldb.DB) error {
	if s.BaseCurrency == "" {
		return nil
	}
	isActive, err := rates.IsActiveCurrency(ctx, db, s.BaseCurrency)
	if err == nil && !isActive {
		err = &settings.Error{Name: "TENANTRY_BASE_CURRENCY", Reason: "\"" + s.BaseCurrency + "\" is not an active currency"}
	}
	return err
}

// Package app puts the service together: its settings, the wiring of the
// domains, the route table, and the life of the process.
package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	netmail "net/mail"
	"net/netip"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/metrics"
	"github.com/tenantry/tenantry/internal/onboarding"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

// requestTimeout bounds the handling of one request.
const requestTimeout = 30 * time.Second

// catchUpEvery is how often the provider's event list is read, for notifications
// that never arrived.
const catchUpEvery = 5 * time.Minute

// outside is the world beyond the service: real in production, the sandbox's
// in dev. The service cannot tell which.
type outside struct {
	clock          clock.Clock
	pspKey         settings.Secret
	pspBaseURL     string // "" is the provider's own
	pspFileHosts   []string
	webhookSecrets []string
	sender         mail.Sender
	logins         []account.OAuthProvider
	// reachable are the private networks that URLs from outside may lead to: the
	// sandbox's own, none in production.
	reachable []netip.Prefix
}

// service is the whole of it, on one database.
type service struct {
	settings settings.Settings
	log      *slog.Logger
	db       *sqldb.DB
	clock    clock.Clock
	jobs     *jobs.Queue
	metrics  *metrics.Metrics
	api      *rest.API

	accounts      *account.Service
	oauth         *account.OAuth
	avatars       *account.Avatars
	pushes        *account.Pushes
	audit         *audit.Log
	team          *team.Service
	impersonation *impersonation.Service
	tenants       *tenant.Service
	catalog       *catalog.Service
	pspPrices     *catalog.PSPPrices
	subscriptions *subscription.Service
	onboarding    *onboarding.Service
	invoices      *invoice.Service
	usage         *usage.Service
	reporter      *usage.Reporter
	receiver      *psp.Receiver

	close func() error // what is held beside the database, after the last request
}

// newService wires the domains. s must know its public URL.
func newService(s settings.Settings, db *sqldb.DB, out outside, log *slog.Logger) (*service, error) {
	messages, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	passwords, err := account.NewPasswords(cmp.Or(s.HashCost, account.DefaultHashCost()))
	if err != nil {
		return nil, err
	}
	figures := metrics.New(clock.System())
	provider, err := psp.NewClient(psp.Config{
		SecretKey: out.pspKey.Reveal(), BaseURL: out.pspBaseURL, FileHosts: out.pspFileHosts, Log: log,
		Observe: figures.ProviderCall,
	})
	if err != nil {
		return nil, fmt.Errorf("payment provider: %w", err)
	}
	svc := &service{settings: s, log: log, db: db, clock: out.clock, metrics: figures, close: func() error { return nil }}
	var counter limit.Counter // a nil one counts in memory
	if s.RedisURL != "" {
		redis, err := limit.NewRedis(s.RedisURL.Reveal())
		if err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		counter, svc.close = redis, redis.Close
	}
	svc.jobs = jobs.New(jobs.Deps{DB: db, Clock: out.clock, Lease: clock.System(), Log: log})
	svc.receiver, err = psp.NewReceiver(psp.ReceiverDeps{
		DB: db, Jobs: svc.jobs, Client: provider, Clock: out.clock, Secrets: out.webhookSecrets, Log: log,
	})
	if err != nil {
		return nil, err
	}
	notices, err := letters.New(letters.Config{
		FrontendURL: strings.TrimSuffix(s.FrontendURL.String(), "/"), AppName: settings.AppName,
		Outbox: mail.NewOutbox(svc.jobs, out.sender), Clock: out.clock,
	})
	if err != nil {
		return nil, err
	}
	link := &links{}
	svc.audit = audit.New(audit.Deps{DB: db, Clock: out.clock})
	svc.tenants = tenant.NewService(tenant.Deps{
		DB: db, Clock: out.clock, Subscriptions: link, Overviews: link, Billing: link, Audit: svc.audit,
	})
	svc.accounts = account.NewService(account.Deps{
		DB: db, Clock: out.clock, Passwords: passwords, Tenants: svc.tenants,
		Jobs: svc.jobs, Notices: notices, Lifetimes: cmp.Or(s.Lifetimes, account.DefaultLifetimes()),
		Impersonations: link,
	})
	svc.impersonation = impersonation.NewService(impersonation.Deps{
		DB: db, Clock: out.clock, Accounts: svc.accounts, Audit: svc.audit,
	})
	publicURL := strings.TrimSuffix(s.PublicURL.String(), "/")
	svc.avatars = account.NewAvatars(account.AvatarDeps{
		DB: db, Clock: out.clock, Jobs: svc.jobs, PublicURL: publicURL,
		Pictures: safehttp.New(safehttp.Config{
			Timeout: 5 * time.Second, MaxBody: account.MaxAvatarBytes, MaxRedirects: 3, Exempt: out.reachable,
		}),
	})
	svc.pushes = account.NewPushes(account.PushDeps{
		DB: db, Clock: out.clock, Jobs: svc.jobs, Log: log,
		Sender: push.NewSender(push.Config{
			Client: safehttp.New(safehttp.Config{Exempt: out.reachable}), Contact: pushContact(s),
		}),
	})
	svc.oauth, err = account.NewOAuth(account.OAuthDeps{
		Accounts: svc.accounts, Providers: out.logins, Avatars: svc.avatars,
		PublicURL: s.PublicURL.String(), FrontendURL: s.FrontendURL.String(), Log: log,
	})
	if err != nil {
		return nil, err
	}
	svc.catalog = catalog.New(catalog.Deps{DB: db, Clock: out.clock, Subscriptions: link, Audit: svc.audit})
	svc.pspPrices = catalog.NewPSPPrices(catalog.PSPPricesDeps{Catalog: svc.catalog, Provider: provider, Log: log})
	svc.subscriptions = subscription.NewService(subscription.Deps{
		DB: db, Clock: out.clock, Jobs: svc.jobs, Catalog: svc.catalog, Tenants: svc.tenants,
		Provider: provider, Prices: svc.pspPrices, Consumption: link, Audit: svc.audit, Log: log,
		Metered: link, Letters: notices, FrontendURL: strings.TrimSuffix(s.FrontendURL.String(), "/"),
	})
	svc.usage = usage.NewService(usage.Deps{
		DB: db, Clock: out.clock, Plans: allowances{svc.subscriptions}, Log: log, Currencies: svc.catalog, Audit: svc.audit,
		Jobs: svc.jobs, Payers: payers{svc.subscriptions, svc.tenants},
		Alerts: quotaAlerts{
			tenants: svc.tenants, letters: notices, pushes: svc.pushes, messages: messages,
			frontendURL: strings.TrimSuffix(s.FrontendURL.String(), "/"),
		},
	})
	svc.reporter = usage.NewReporter(usage.ReporterDeps{
		DB: db, Clock: out.clock, Log: log, Provider: provider, Customers: svc.subscriptions,
		Payers: payers{svc.subscriptions, svc.tenants},
	})
	link.subscriptions, link.usage, link.impersonation = svc.subscriptions, svc.usage, svc.impersonation
	svc.team = team.NewService(team.Deps{
		DB: db, Clock: out.clock, Tenants: svc.tenants, Accounts: svc.accounts, Seats: svc.subscriptions, Billing: svc.subscriptions,
		Letters: notices, Audit: svc.audit, ExpiryDays: cmp.Or(s.InvitationDays, team.DefaultExpiryDays),
	})
	issuing, err := issuing(s)
	if err != nil {
		return nil, err
	}
	svc.invoices = invoice.NewService(invoice.Deps{
		DB: db, Clock: out.clock, Jobs: svc.jobs, Tenants: svc.tenants, Subscriptions: svc.subscriptions,
		Provider: provider, Letters: notices, Audit: svc.audit, Issuing: issuing, Log: log,
	})
	frontendURL := strings.TrimSuffix(s.FrontendURL.String(), "/")
	svc.onboarding = onboarding.NewService(onboarding.Deps{
		DB: db, Accounts: svc.accounts, Tenants: svc.tenants, Catalog: svc.catalog, Subscriptions: svc.subscriptions, Log: log,
		Pages: onboarding.Pages{Success: frontendURL + "/onboarding/success", Cancel: frontendURL + "/onboarding/plans"},
	})

	svc.receiver.On("checkout.session.", svc.subscriptions.CheckoutEvent)
	svc.receiver.On("customer.subscription.", svc.subscriptions.SubscriptionEvent)
	svc.receiver.On("customer.subscription.trial_will_end", svc.subscriptions.TrialEvent)
	svc.receiver.On("customer.deleted", svc.subscriptions.CustomerEvent)
	svc.receiver.On("invoice.", svc.invoices.Event)
	svc.receiver.On("invoice.payment_failed", svc.invoices.FailureEvent)
	svc.receiver.On("price.updated", svc.pspPrices.PriceEvent)
	svc.receiver.On("price.deleted", svc.pspPrices.PriceEvent)
	svc.jobs.Every("account.prune", time.Hour, svc.accounts.Prune)
	svc.jobs.Every("account.prune-oauth", time.Hour, svc.oauth.Prune)
	svc.jobs.Every("impersonation.sweep", time.Minute, svc.impersonation.Sweep)
	retention := usage.NewRetention(usage.RetentionDeps{
		DB: db, Clock: out.clock, Log: log, Keep: s.UsageRetention, Archive: s.UsageArchive,
	})
	svc.jobs.Every("usage.prune", 10*time.Minute, retention.Prune)
	billed := svc.jobs.Lane(psp.Lane)
	billed.Every("usage.report", 10*time.Second, svc.reporter.Report)
	billed.Every("usage.report-peaks", time.Minute, svc.reporter.ReportPeaks)
	billed.Every("psp.catch-up", catchUpEvery, func(ctx context.Context) error {
		_, err := svc.receiver.CatchUp(ctx)
		return err
	})

	svc.jobs.Every("psp.prune", 24*time.Hour, svc.receiver.Prune)
	svc.jobs.Every("psp.reconcile", 24*time.Hour, svc.startComparisons)

	svc.observe(figures)
	svc.api = rest.New(svc.restConfig(messages, counter), svc.routes(messages))
	popup, err := account.OAuthPopup(s.FrontendURL.String())
	if err != nil {
		return nil, err
	}
	svc.api.Mount("/oauth/callback", popup)
	svc.api.Mount("/oauth/callback.js", popup)
	return svc, nil
}

func (svc *service) restConfig(messages *i18n.Catalog, counter limit.Counter) rest.Config {
	s := svc.settings
	return rest.Config{
		Messages:            messages,
		Log:                 svc.log,
		Clock:               clock.System(),
		Authenticate:        svc.accounts.Authenticate,
		AuthenticateSession: svc.accounts.AuthenticateSession,
		Limiter:             limit.New(limit.Config{Groups: s.RateLimits, Counter: counter, Log: svc.log}),
		ClientIP: func(r *http.Request) string {
			return limit.AddrKey(limit.ClientIP(r, s.TrustedProxies))
		},
		Address:          func(r *http.Request) string { return limit.ClientIP(r, s.TrustedProxies).String() },
		FirstPartyOrigin: firstParty(s.FirstPartyHosts),
		HTTPS:            s.PublicURL.Scheme == "https",
		PublicURL:        s.PublicURL.String(),
		Version:          "v1",
		Timeout:          requestTimeout,
		Observe:          svc.metrics.Request,
	}
}

// pushContact is how a push service can reach whoever runs this one (RFC 8292):
// an https URL, or a bare mail address.
func pushContact(s settings.Settings) string {
	if s.PublicURL.Scheme == "https" {
		return s.PublicURL.String()
	}
	if from, err := netmail.ParseAddress(s.MailFrom); err == nil {
		return from.Address
	}
	return "nobody@" + s.PublicURL.Hostname()
}

// publicSettings are what a frontend needs to know before anybody logs in.
func (svc *service) publicSettings() settingsHTTP {
	s := svc.settings
	return settingsHTTP{pushKey: svc.pushes.PublicKey, fixed: PublicSettings{
		AppName: settings.AppName, FrontendURL: s.FrontendURL.String(), DefaultLocale: i18n.Default, Locales: i18n.Locales(),
		DefaultCurrency: tenant.DefaultCurrency, RegistrationEnabled: true, OAuthProviders: svc.oauth.Providers(),
		InvoiceMode: s.InvoiceMode,
	}}
}

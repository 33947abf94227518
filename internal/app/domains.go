package app

import (
	"cmp"
	"context"
	"net"
	netmail "net/mail"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/account/selfservice"
	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/creditnote"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/onboarding"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/psp/promo"
	"github.com/tenantry/tenantry/internal/psp/sale"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/purchase"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/requestlog"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/stats/rates"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/credit"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/subscription/reconcile"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/tenant/domain"
	"github.com/tenantry/tenantry/internal/tenant/sso"
	"github.com/tenantry/tenantry/internal/token"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/meters"
	"github.com/tenantry/tenantry/internal/usage/retention"
	"github.com/tenantry/tenantry/internal/webhook"
)

// domains are the services that implement the product's rules.
type domains struct {
	accounts      *account.Service
	factors       *factor.Service
	oauth         *oauth.Service
	avatars       *avatar.Service
	pushes        *webpush.Service
	audit         *audit.Log
	idempotency   *idempotency.Service
	apiKeys       *apikey.Service
	hooks         *webhook.Service
	rates         *rates.Service
	requestLog    *requestlog.Log
	self          *selfservice.Service
	signingKeys   *token.Keys
	tokens        *token.Service
	team          *team.Service
	impersonation *impersonation.Service
	tenants       *tenant.Service
	tenantDomains *domain.Service
	sso           *sso.Service
	catalog       *catalog.Service
	currencies    *currency.Service
	packs         *pack.Service
	discounts     *discount.Service
	purchases     *purchase.Service
	priceList     *pricelist.Service
	priceLinks    *pricelink.Service
	customers     *customer.Service
	credits       *credit.Service
	entitlements  *entitlement.Service
	subscriptions *subscription.Service
	journal       *journal.Journal
	reconciler    *reconcile.Service
	onboarding    *onboarding.Service
	invoices      *invoice.Service
	creditNotes   *creditnote.Service
	payments      *payments.Book
	usage         *usage.Service
	meters        *meters.Service
	reporter      *billing.Reporter
	estimator     *billing.Estimator
	retention     *retention.Pruner
	history       *history.Reader
	sums          *history.Sums
}

// newDomains builds the domains, each after its dependencies. links resolves dependency cycles.
func newDomains(p *platform, out environment) (*domains, error) {
	d, link := &domains{}, &links{}
	events := webhook.NewOutbox(p.db, p.clock)
	subscribers := entitlement.NewRegister(p.db, p.clock, p.settings.PastDueGrace)
	d.audit = audit.New(audit.Deps{DB: p.db, Clock: p.clock})
	d.idempotency = idempotency.New(idempotency.Deps{DB: p.db, Clock: p.clock, Machine: clock.System(), Log: p.log})
	d.tenants = tenant.NewService(tenant.Deps{
		DB: p.db, Clock: p.clock, Subscriptions: subscribers, Billing: link, Team: &link.team, Audit: d.audit, Events: events,
		Accounts: &link.accounts, Purger: link, Keep: p.settings.Retention.WithDefaults().Tenants,
		TestVATNumbers: p.provider.Mode() == psp.TestMode,
	})
	events.Languages = d.tenants
	d.hooks = webhook.NewService(webhook.Deps{
		DB: p.db, Clock: p.clock, Machine: clock.System(), Tenants: d.tenants, Letters: p.letters, Audit: d.audit, Log: p.log,
		Reachable: out.reachable, DiscardResponses: p.settings.NoWebhookResponses, Observe: p.metrics.WebhookAttempt,
	}, events)
	d.rates = rates.NewService(rates.Deps{DB: p.db, Clock: p.clock, Audit: d.audit, Base: p.settings.BaseCurrency})
	d.requestLog = requestlog.New(requestlog.Deps{
		DB: p.db, Clock: p.clock, Machine: clock.System(), Log: p.log, Address: p.clientAddress, Dropped: p.metrics.CountDropped,
	})
	d.apiKeys = apikey.NewService(apikey.Deps{DB: p.db, Clock: p.clock, Tenants: d.tenants, Audit: d.audit, Events: events, Log: p.log})
	if err := d.addAccounts(p, out, link); err != nil {
		return nil, err
	}
	d.impersonation = impersonation.NewService(impersonation.Deps{
		DB: p.db, Clock: p.clock, Accounts: d.accounts, Audit: d.audit,
		Lifetime: time.Duration(p.settings.ImpersonationMinutes) * time.Minute, RequiresReason: p.settings.ImpersonationReason,
	})
	d.addSubscriptions(p, link, events)
	d.signingKeys = token.NewKeys(token.KeysDeps{DB: p.db, Clock: p.clock, Secrets: out.secrets, Audit: d.audit})
	d.tokens = token.NewService(token.Deps{
		Clock: p.clock, Machine: clock.System(), Keys: d.signingKeys, Entitlements: d.entitlements,
		Issuer: p.publicURL, Audience: cmp.Or(p.settings.TokenAudience, p.publicURL),
	})
	d.addUsage(p, events)
	d.team = team.NewService(team.Deps{
		DB: p.db, Clock: p.clock, Tenants: d.tenants, Accounts: d.accounts, Seats: d.subscriptions, Billing: d.subscriptions,
		Letters: p.letters, Audit: d.audit, Avatars: d.avatars, Factors: d.factors, Events: events, ExpiryDays: p.invitationDays(),
	})
	d.addSignOn(p, out)
	if err := d.addInvoices(p, out, events); err != nil {
		return nil, err
	}
	d.purchases = purchase.NewService(purchase.Deps{
		DB: p.db, Clock: p.clock, Packs: d.packs, Currencies: d.catalog, Tenants: d.tenants, Customers: d.customers, Sales: sale.Sales{Client: p.provider},
		Prices: d.priceLinks, Grants: d.usage, Invoices: d.invoices, Audit: d.audit, Log: p.log,
	})
	d.onboarding = onboarding.NewService(onboarding.Deps{
		DB: p.db, Accounts: d.accounts, Tenants: d.tenants, Catalog: d.catalog, Subscriptions: d.subscriptions,
		Entitlements: d.entitlements, Log: p.log,
		Pages: onboarding.Pages{Success: p.frontend.PageURL(frontend.OnboardingSuccess), Cancel: p.frontend.PageURL(frontend.OnboardingPlans)},
	})
	link.connect(d)
	return d, nil
}

// addAccounts builds the accounts and the services that depend on them: delegated login, avatars
// and push messages.
func (d *domains) addAccounts(p *platform, out environment, link *links) error {
	passwords := account.NewPasswords(p.settings.HashCost)
	d.accounts = account.NewService(account.Deps{
		DB: p.db, Clock: p.clock, Passwords: passwords, Tenants: d.tenants,
		Jobs: p.jobs, Notices: p.letters, Lifetimes: cmp.Or(p.settings.Lifetimes, account.DefaultLifetimes()),
		OwnerLinks: time.Duration(p.invitationDays()) * 24 * time.Hour,
		Domains:    &link.tenantDomains, SignOn: &link.sso,
		Impersonations: &link.impersonation, Audit: d.audit, Log: p.log, WrongPasswords: p.settings.RateLimits[limit.LoginAccount],
		Limiter:    limit.New(limit.Config{Groups: p.settings.RateLimits, Counter: p.counter, Log: p.log}),
		EmailCodes: p.settings.AllowsLogin(settings.EmailCodeLogin), LimitCodes: p.settings.RateLimits[limit.AccountMail] > 0, Secrets: out.secrets,
	})
	relyingParty, err := p.settings.RelyingParty()
	if err != nil {
		return err
	}
	d.factors = factor.NewService(factor.Deps{
		DB: p.db, Clock: p.clock, Accounts: d.accounts, Secrets: out.secrets, Notices: p.letters, Jobs: p.jobs, Log: p.log,
		AppName: p.settings.Brand.App(), RPID: relyingParty, FirstParty: p.firstParty,
	})
	d.avatars = avatar.NewService(avatar.Deps{
		DB: p.db, Clock: p.clock, Jobs: p.jobs, PublicURL: p.publicURL,
		Pictures: safehttp.New(safehttp.Config{
			Timeout: 5 * time.Second, MaxBody: avatar.MaxBytes, MaxRedirects: 3, Exempt: out.reachable,
		}),
	})
	d.self = selfservice.NewService(selfservice.Deps{
		DB: p.db, Clock: p.clock, Accounts: d.accounts, Notices: p.letters, Memberships: link, Avatars: d.avatars, Audit: d.audit, Factors: d.factors,
		Passwords: p.settings.AllowsLogin(settings.PasswordLogin), Passkeys: p.settings.AllowsLogin(settings.PasskeyLogin),
		EmailCodes: p.settings.AllowsLogin(settings.EmailCodeLogin), Providers: func() []string { return d.oauth.Providers() },
		Limiter: limit.New(limit.Config{Groups: p.settings.RateLimits, Counter: p.counter, Log: p.log}),
	})
	d.pushes = webpush.NewService(webpush.Deps{
		DB: p.db, Clock: p.clock, Jobs: p.jobs, Log: p.log,
		Sender: push.NewSender(push.Config{
			Client: safehttp.New(safehttp.Config{Exempt: out.reachable}), Contact: pushContact(p.settings),
		}),
	})
	d.oauth, err = oauth.NewService(oauth.Deps{
		DB: p.db, Clock: p.clock,
		Accounts: d.accounts, Providers: out.logins, Avatars: d.avatars, Connections: &link.sso,
		PublicURL: p.publicURL, CallbackPage: p.frontend.PageURL(frontend.OAuthCallback), Log: p.log,
		Disabled: p.checkMethod(settings.OAuthLogin),
	})
	return err
}

// addSignOn builds the verified domains and the single sign-on of tenants.
func (d *domains) addSignOn(p *platform, out environment) {
	resolver := out.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	d.tenantDomains = domain.NewService(domain.Deps{
		DB: p.db, Clock: p.clock, Tenants: d.tenants, Team: d.team, Accounts: d.accounts, Letters: p.letters, Audit: d.audit,
		Resolver: resolver, Log: p.log,
	})
	d.sso = sso.NewService(sso.Deps{
		DB: p.db, Clock: p.clock, Tenants: d.tenants, Team: d.team, Accounts: d.accounts, Plans: d.entitlements, Secrets: out.secrets,
		Letters: p.letters, Audit: d.audit, PublicURL: p.publicURL, Reachable: out.reachable, Log: p.log,
		Client: safehttp.New(safehttp.Config{
			MaxBody: sso.MaxDocument, NoRedirects: true, HTTPS: true, Exempt: out.reachable,
		}),
	})
	d.sso.Connect(d.oauth)
}

// addSubscriptions builds the catalog and the subscriptions to its plans.
func (d *domains) addSubscriptions(p *platform, link *links, events hook.Outbox) {
	d.catalog = catalog.New(catalog.Deps{
		DB: p.db, Clock: p.clock, Subscriptions: entitlement.NewRegister(p.db, p.clock, p.settings.PastDueGrace), Jobs: p.jobs, Audit: d.audit,
	})
	d.packs = pack.New(p.db, d.catalog)
	d.discounts = discount.New(discount.Deps{
		DB: p.db, Clock: p.clock, Catalog: d.catalog, Jobs: p.jobs, Provider: promo.Codes{Client: p.provider}, Decimals: currency.Decimals(p.db),
	})
	d.currencies = currency.New(currency.Deps{DB: p.db, Clock: p.clock, Catalog: d.catalog, Audit: d.audit, Base: p.settings.BaseCurrency})
	d.priceLinks = pricelink.New(pricelink.Deps{
		DB: p.db, Clock: p.clock, Catalog: d.catalog, Provider: p.provider, Meters: link, Running: &link.subscriptions, Log: p.log,
	})
	d.meters = meters.NewService(meters.Deps{
		DB: p.db, Clock: p.clock, Currencies: d.catalog, Audit: d.audit, Links: d.priceLinks, Packs: d.packs, OnChange: d.catalog.InvalidateCache,
	})
	var taxedFrom string
	if p.settings.InvoiceMode != settings.InvoicesByPlatform {
		taxedFrom = p.settings.Invoices.Seller.TaxCountry()
	}
	d.customers = customer.NewService(customer.Deps{
		TaxedFrom: taxedFrom, Registry: customers.TaxIDs{Client: p.provider},
		DB: p.db, Clock: p.clock, Jobs: p.jobs, Tenants: d.tenants, Provider: p.provider, Audit: d.audit,
		FrontendURL: p.frontend.URL, BillingPage: p.frontend.PageURL(frontend.Billing),
	})
	d.entitlements = entitlement.NewService(entitlement.Deps{
		DB: p.db, Clock: p.clock, Grace: p.settings.PastDueGrace, Catalog: d.catalog, Tenants: d.tenants, Team: &link.team, Consumption: link,
		Prices: d.priceLinks, Events: events, Audit: d.audit, Grants: link,
	})
	d.subscriptions = subscription.NewService(subscription.Deps{
		DB: p.db, Clock: p.clock, Lease: clock.System(), Jobs: p.jobs, Catalog: d.catalog, Tenants: d.tenants, Customers: d.customers,
		Entitlements: d.entitlements, Provider: p.provider, Wallet: customers.Wallet{Client: p.provider}, Items: subscriptions.Items{Client: p.provider}, Prices: d.priceLinks,
		Discounts: d.discounts, Codes: promo.Codes{Client: p.provider}, Contracts: subscriptions.Contracts{Client: p.provider}, Schedules: subscriptions.Schedules{Client: p.provider},
		Metering: metering{d.meters, prices{d.priceLinks}}, Usage: &link.reporter, Audit: d.audit, Letters: p.letters, Events: events,
		BillingPage: p.frontend.PageURL(frontend.Billing), Tax: taxRules(p.settings), Grace: p.settings.PastDueGrace,
		IssuesInvoices: p.settings.InvoiceMode == settings.InvoicesByPlatform, Log: p.log,
	})
	d.credits = credit.NewService(credit.Deps{
		DB: p.db, Clock: p.clock, Lease: clock.System(), Jobs: p.jobs, Tenants: d.tenants, Customers: d.customers, Currencies: d.catalog,
		Balances: customers.Balances{Client: p.provider}, Audit: d.audit,
	})
	d.journal = journal.New(p.db, p.clock)
	d.reconciler = reconcile.NewService(reconcile.Deps{
		DB: p.db, Clock: p.clock, Jobs: p.jobs, Subscriptions: d.subscriptions, Provider: p.provider, Log: p.log,
	})
}

// addUsage builds usage metering, its reports to the payment provider, and the deletion of old
// events.
func (d *domains) addUsage(p *platform, events hook.Outbox) {
	d.usage = usage.NewService(usage.Deps{
		DB: p.db, Clock: p.clock, Audit: d.audit, LockTenant: d.lockTenant, Plans: newAllowances(p.db, p.clock, d.entitlements), Log: p.log,
		Jobs: p.jobs, Billing: billing.NewQueue(p.db, clock.System()), Events: events, Observe: p.metrics.Usage,
		DailyCap: int64(p.settings.RateLimits[limit.UsageWithoutPlan]), HadPlan: hadPlan(p.db),
		Alerts: quotaAlerts{
			Tenants: d.tenants, Letters: p.letters, Pushes: d.pushes, Messages: p.messages, BillingPage: p.frontend.PageURL(frontend.Billing),
		},
	})
	d.priceList = pricelist.New(pricelist.Deps{DB: p.db, Catalog: d.catalog, Currencies: d.currencies, Packs: d.packs, Meters: d.meters})
	paying := payers{DB: p.db, Subscriptions: d.subscriptions, Tenants: d.tenants, Catalog: d.catalog}
	d.estimator = billing.NewEstimator(p.db, p.clock, paying, currency.Decimals(p.db))
	d.reporter = billing.NewReporter(billing.ReporterDeps{
		DB: p.db, Clock: p.clock, Log: p.log, Provider: p.provider, Customers: d.customers, Payers: paying,
		Reports: inbox.UsageErrorReports{Client: p.provider},
	})
	d.history, d.sums = history.NewReader(p.db, p.clock), history.NewSums(p.db, p.clock)
	d.retention = retention.New(retention.Deps{
		DB: p.db, Clock: p.clock, Log: p.log, Keep: p.settings.UsageRetention, Archive: p.settings.UsageArchive,
	})
}

// lockTenant locks a tenant until the transaction of ctx ends. It returns an error for a deleted
// tenant.
func (d *domains) lockTenant(ctx context.Context, tenantID uuid.UUID) error {
	_, err := d.tenants.LockLive(ctx, tenantID)
	return err
}

func (d *domains) addInvoices(p *platform, out environment, events hook.Outbox) error {
	issuing, err := newIssuing(p.settings, p.log)
	if err != nil {
		return err
	}
	zone, err := sellerZone(p.settings)
	if err != nil {
		return err
	}
	reminders := p.settings.InvoiceReminders
	if reminders == nil {
		reminders = invoice.DefaultReminders()
	}
	documents := invoices.NewDocuments(out.documents)
	d.payments = payments.NewBook(p.db, p.clock, customers.Wallet{Client: p.provider, Dashboard: out.pspDashboard})
	d.invoices = invoice.NewService(invoice.Deps{
		DB: p.db, Clock: p.clock, Jobs: p.jobs, Tenants: d.tenants, Subscriptions: d.subscriptions, Payments: d.payments,
		Provider: p.provider, Letters: p.letters, Audit: d.audit, Events: events, Issuing: issuing, Log: p.log,
		Attempts:  cmp.Or(p.settings.PaymentAttempts, invoice.DefaultAttempts),
		Reminders: reminders, Lease: clock.System(),
		Documents: documents, TimeZone: zone,
	})
	d.creditNotes = creditnote.NewService(creditnote.Deps{
		DB: p.db, Clock: p.clock, Lease: clock.System(), Jobs: p.jobs, Tenants: d.tenants, Invoices: d.invoices, Notes: invoices.CreditNotes{Client: p.provider},
		Documents: documents, Audit: d.audit, Events: events, Returned: d.subscriptions.SeatsChanged, Log: p.log,
	})
	return nil
}

// pushContact returns how a push service can contact the operator (RFC 8292): an https URL or a
// bare mail address.
func pushContact(s settings.Settings) string {
	if s.PublicURL.Scheme == "https" {
		return s.PublicURL.String()
	}
	if from, err := netmail.ParseAddress(s.MailFrom); err == nil {
		return from.Address
	}
	return "nobody@" + s.PublicURL.Hostname()
}

// invitationDays is the number of days for which an invitation, and the link of a new owner, is valid.
func (p *platform) invitationDays() int {
	return cmp.Or(p.settings.InvitationDays, team.DefaultExpiryDays)
}

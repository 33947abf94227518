package app

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/creditnote"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/credit"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/usage"
)

// The lanes of the job queue. A job never waits for jobs of another lane.
const (
	common   = ""            // jobs without calls to other systems
	provider = inbox.Lane    // jobs that call the payment provider
	web      = safehttp.Lane // jobs that call servers of users, such as webhook endpoints
)

// providerAttempts is the number of attempts of a job in the provider lane. With at most an hour
// between two attempts it covers about a week, so a key that was revoked on Friday can be replaced
// in time.
const providerAttempts = 220

// reservationRetention is how long the key of an expired reservation of usage is remembered.
const reservationRetention = 35 * 24 * time.Hour

// registerBackground registers everything that runs outside of requests: the job handlers, the
// periodic jobs, and the handlers of the payment provider's notifications.
func (svc *service) registerBackground() {
	svc.registerJobs()
	svc.registerPeriodic()
	svc.registerNotifications()
}

// registerJobs registers the handlers of jobs that requests, notifications and other jobs enqueue.
func (svc *service) registerJobs() {
	svc.jobs.Lane(provider).Attempts(providerAttempts)
	ofSubscriptions, ofInvoices, ofCreditNotes := svc.reconciler.Comparison(), svc.invoices.Comparison(), svc.creditNotes.Comparison()
	for _, job := range []struct {
		lane, kind string
		handler    jobs.Handler
	}{
		{common, mail.JobSend, svc.outbox.HandleSend},
		{common, account.JobForgot, svc.accounts.HandleForgot},
		{common, account.JobEmailCode, svc.accounts.HandleEmailCode},
		{common, factor.JobReset, svc.factors.HandleReset},
		{common, usage.JobAlert, svc.usage.HandleAlert},
		{common, catalog.JobChanged, svc.entitlements.HandlePublish},
		{web, avatar.JobImport, svc.avatars.HandleImport},
		{web, webpush.JobSend, svc.pushes.HandleSend},
		{provider, inbox.JobEvent, svc.receiver.HandleEvent},
		{provider, subscription.JobRefuse, svc.subscriptions.HandleRefuse},
		{provider, subscription.JobRetire, svc.subscriptions.HandleRetire},
		{common, subscription.JobCard, svc.subscriptions.HandleCard},
		{provider, subscription.JobDiscount, svc.subscriptions.HandleDiscount},
		{provider, subscription.JobSchedule, svc.subscriptions.HandleSchedule},
		{provider, discount.JobDeactivate, svc.discounts.HandleDeactivate},
		{provider, subscription.JobSeats, svc.subscriptions.HandleSeats},
		{provider, subscription.JobItems, svc.subscriptions.HandleItems},
		{provider, subscription.JobMetered, svc.subscriptions.HandleMetered},
		{provider, customer.JobUpdate, svc.customers.HandleUpdate},
		{provider, credit.JobSettle, svc.credits.HandleSettle},
		{provider, creditnote.JobSettle, svc.creditNotes.HandleSettle},
		{common, creditnote.JobDocument, svc.creditNotes.HandleDocument},
		{provider, invoice.JobMail, svc.invoices.HandleMail},
		{provider, ofSubscriptions.Kind, ofSubscriptions.HandlePart},
		{provider, ofInvoices.Kind, ofInvoices.HandlePart},
		{provider, ofCreditNotes.Kind, ofCreditNotes.HandlePart},
	} {
		svc.jobs.Lane(job.lane).Handle(job.kind, job.handler)
	}
	svc.jobs.Redact(mail.JobSend, mail.RedactTokens)
	if svc.settings.InvoiceMode == settings.InvoicesByPlatform {
		svc.jobs.Lane(common).Handle(invoice.JobDocument, svc.invoices.HandleDocument)
	}
}

// registerPeriodic registers the periodic jobs. Each runs in one instance at a time.
func (svc *service) registerPeriodic() {
	for _, job := range []struct {
		lane, name string
		every      time.Duration
		run        func(ctx context.Context) error
	}{
		{common, "account.prune", time.Hour, svc.accounts.Prune},
		{common, "account.prune-challenges", time.Hour, svc.factors.Prune},
		{common, "account.prune-links", time.Hour, svc.self.Prune},
		{common, "account.prune-oauth", time.Hour, svc.oauth.Prune},
		{common, "token.rotate-keys", time.Hour, svc.signingKeys.RotateOld},
		{common, "impersonation.sweep", time.Minute, svc.impersonation.Sweep},
		{common, "team.prune", time.Hour, svc.team.Prune},
		{common, "entitlement.expire", time.Minute, svc.entitlements.Expire},
		{common, "tenant.purge", 10 * time.Minute, svc.tenants.Purge},
		{common, "tenant.lapse-vat", time.Hour, svc.tenants.LapseVAT},
		{common, "usage.expire-grants", time.Minute, svc.usage.ExpireGrants},
		{common, "usage.sum", 10 * time.Minute, svc.sums.Run},
		{common, "usage.prune", 10 * time.Minute, svc.retention.Prune},
		{common, "subscription.journal", 10 * time.Minute, svc.journal.Run},
		{common, "audit.count", time.Hour, svc.audit.CountDays},
		{common, "database.optimize", 24 * time.Hour, svc.db.Optimize},
		{common, "data.prune", 10 * time.Minute, svc.pruner().Run},
		{common, "webhook.give-up", 10 * time.Minute, svc.hooks.DisableFailing},
		{common, "subscription.vat", time.Hour, svc.customers.RecheckVAT},
		{common, "psp.reconcile", 24 * time.Hour, svc.startComparisons},
		{web, "tenant.check-domains", time.Hour, svc.tenantDomains.Check},
		{provider, "usage.report", 10 * time.Second, svc.reporter.Report},
		{provider, "usage.carry", time.Minute, svc.reporter.QueueCarried},
		{provider, "subscription.metered", time.Hour, svc.subscriptions.SweepMetered},
		{common, "subscription.renewal-reminder", time.Minute, svc.subscriptions.RemindOfRenewals},
		{provider, "subscription.card-reminder", time.Minute, svc.subscriptions.RemindOfCards},
		{provider, "invoice.last-attempt", time.Minute, svc.invoices.RemindOfAttempts},
		{provider, "invoice.reminder", time.Minute, svc.invoices.RemindOfInvoices},
		{provider, "psp.catch-up", 5 * time.Minute, svc.catchUp},
		{provider, "purchase.read-back", 10 * time.Minute, svc.purchases.Sweep},
		{provider, "catalog.refresh-prices", time.Hour, svc.priceLinks.Refresh},
	} {
		svc.jobs.Lane(job.lane).Every(job.name, job.every, job.run)
	}
}

// pruner returns the pruner of the tables that grow with use. The settings define how long rows are
// kept.
func (svc *service) pruner() *pruner {
	keep := svc.settings.Retention.WithDefaults()
	return &pruner{clock: svc.clock, log: svc.log, tables: []expiringTable{
		{Name: "jobs", Keep: keep.DeadJobs, Delete: svc.jobs.DeleteOldDead},
		{Name: "psp_events", Keep: keep.Deliveries, Delete: svc.receiver.DeleteOld},
		{Name: "webhook_events", Keep: keep.Deliveries, Delete: svc.hooks.DeleteOld},
		{Name: "audit_logs", Keep: keep.Audit, Delete: svc.audit.DeleteOld},
		{Name: "impersonation_logs", Keep: keep.Audit, Delete: svc.impersonation.DeleteOldLogs},
		{Name: "idempotency_keys", Keep: idempotency.Lifetime, Delete: svc.idempotency.DeleteOld},
		{Name: "usage_reservations", Keep: reservationRetention, Delete: svc.usage.DeleteOldReservations},
		{Name: "request_logs", Keep: svc.settings.RequestLogDuration(), Delete: svc.requestLog.DeleteOld},
		{Name: "request_log_gaps", Keep: svc.settings.RequestLogDuration(), Delete: svc.requestLog.DeleteOldGaps},
		{Name: "invitations", Keep: keep.Audit, Delete: svc.team.DeleteOldInvitations},
	}}
}

// registerNotifications registers the handlers of the payment provider's notifications. A kind that
// ends with a dot matches every type with that prefix. All matching handlers run, in this order.
func (svc *service) registerNotifications() {
	for _, event := range []struct {
		kind    string
		handler inbox.Handler
	}{
		{"checkout.session.", svc.subscriptions.CheckoutEvent},
		{"checkout.session.", svc.purchases.SessionEvent},
		{"customer.subscription.", svc.subscriptions.SubscriptionEvent},
		{"customer.subscription.trial_will_end", svc.subscriptions.TrialEvent},
		{"customer.deleted", svc.subscriptions.CustomerEvent},
		{"customer.updated", svc.subscriptions.PaymentMethodEvent},
		{"customer.tax_id.updated", svc.customers.TaxIDEvent},
		{"invoice.", svc.invoices.Event},
		{"invoice.payment_failed", svc.invoices.FailureEvent},
		{invoices.EventNotes, svc.creditNotes.NoteEvent},
		{invoices.EventRefunds, svc.creditNotes.RefundEvent},
		{invoices.EventCharge, svc.creditNotes.ChargeEvent},
		{invoices.EventCharge, svc.purchases.RefundEvent},
		{"price.updated", svc.priceLinks.PriceEvent},
		{"price.deleted", svc.priceLinks.PriceEvent},
		{inbox.EventErrors, svc.reporter.ErrorReport},
		{inbox.EventNoMeter, svc.reporter.ErrorReport},
		{"product.updated", svc.priceLinks.ProductEvent},
	} {
		svc.receiver.HandleKind(event.kind, event.handler)
	}
}

// catchUp reads the provider's list of events to find lost notifications.
func (svc *service) catchUp(ctx context.Context) error {
	_, err := svc.receiver.CatchUp(ctx)
	return err
}

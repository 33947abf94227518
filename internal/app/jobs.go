package app

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
)

// registerBackground registers what runs without a request.
func (svc *service) registerBackground() {
	provider := svc.jobs.Lane(psp.Lane)

	svc.jobs.Every("account.prune", time.Hour, svc.accounts.Prune)
	svc.jobs.Every("account.prune-oauth", time.Hour, svc.oauth.Prune)
	svc.jobs.Every("impersonation.sweep", time.Minute, svc.impersonation.Sweep)
	svc.jobs.Every("usage.prune", 10*time.Minute, svc.retention.Prune)
	svc.jobs.Every("psp.prune", 24*time.Hour, svc.receiver.Prune)
	svc.jobs.Every("psp.reconcile", 24*time.Hour, svc.startComparisons)
	provider.Every("usage.report", 10*time.Second, svc.reporter.Report)
	provider.Every("usage.report-peaks", time.Minute, svc.reporter.ReportPeaks)
	provider.Every("psp.catch-up", 5*time.Minute, svc.catchUp)

	svc.receiver.On("checkout.session.", svc.subscriptions.CheckoutEvent)
	svc.receiver.On("customer.subscription.", svc.subscriptions.SubscriptionEvent)
	svc.receiver.On("customer.subscription.trial_will_end", svc.subscriptions.TrialEvent)
	svc.receiver.On("customer.deleted", svc.subscriptions.CustomerEvent)
	svc.receiver.On("invoice.", svc.invoices.Event)
	svc.receiver.On("invoice.payment_failed", svc.invoices.FailureEvent)
	svc.receiver.On("price.updated", svc.pspPrices.PriceEvent)
	svc.receiver.On("price.deleted", svc.pspPrices.PriceEvent)
}

// catchUp reads the provider's list of events, for notifications that never
// arrived.
func (svc *service) catchUp(ctx context.Context) error {
	_, err := svc.receiver.CatchUp(ctx)
	return err
}

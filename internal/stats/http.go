package stats

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// PlatformStats are the key figures of the platform.
type PlatformStats struct {
	At             shape.Time           `json:"at" doc:"When the figures were read."`
	Tenants        TenantFigures        `json:"tenants" doc:"The tenants that are not deleted."`
	Subscriptions  SubscriptionFigures  `json:"subscriptions" doc:"The subscriptions that pay what recurs."`
	MRR            []CurrencyRevenue    `json:"mrr" doc:"What recurs in a month, of each currency in which something does or did 30 days ago, the largest first."`
	FailedPayments FailedPaymentFigures `json:"failed_payments" doc:"Payments of invoices that failed."`
	QuotaRefusals  QuotaRefusalFigures  `json:"quota_refusals" doc:"Usage events that were refused for a quota."`
	Health         Health               `json:"health" doc:"How the service is, as the instance that answers knows it."`
}

// TenantFigures has the numbers of tenants.
type TenantFigures struct {
	Total          int64                 `json:"total" doc:"How many there are."`
	AddedIn30Days  int64                 `json:"added_30_days" doc:"How many of them were made in the last 30 days."`
	BySubscription TenantsBySubscription `json:"by_subscription" doc:"The same tenants by the state of their subscription."`
}

// TenantsBySubscription has the number of tenants by subscription status.
type TenantsBySubscription struct {
	Active   int64 `json:"active" doc:"Whose subscription is active."`
	Trialing int64 `json:"trialing" doc:"Who are in a trial."`
	PastDue  int64 `json:"past_due" doc:"Whose last payment failed and is tried again."`
	Other    int64 `json:"other" doc:"Whose subscription is unpaid, paused or incomplete."`
	None     int64 `json:"none" doc:"Who have no subscription, or one that is over."`
}

// SubscriptionFigures has the numbers of subscriptions.
type SubscriptionFigures struct {
	Active          int64 `json:"active" doc:"How many are active or past due."`
	Active30DaysAgo int64 `json:"active_30_days_ago" doc:"How many were at the end of the day 30 days ago."`
}

// CurrencyRevenue is the monthly recurring revenue in one currency. Amounts are in minor units.
type CurrencyRevenue struct {
	Currency        string `json:"currency"`
	Amount          int64  `json:"amount" doc:"What recurs in a month, now: amount_30_days_ago and the four figures of what has changed since."`
	Amount30DaysAgo int64  `json:"amount_30_days_ago" doc:"The same at the end of the day 30 days ago."`
	New             int64  `json:"new" doc:"What began since."`
	Expansion       int64  `json:"expansion" doc:"What subscriptions pay more since."`
	Contraction     int64  `json:"contraction" doc:"What they pay less since; negative."`
	Ended           int64  `json:"ended" doc:"What ended since; negative."`
}

// CurrencyAmount is an amount in minor units.
type CurrencyAmount struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount" doc:"In minor units of the currency."`
}

// FailedPaymentFigures has the numbers of failed payments.
type FailedPaymentFigures struct {
	Open          int64            `json:"open" doc:"How many invoices are open whose last payment failed."`
	Amounts       []CurrencyAmount `json:"amounts" doc:"What is left to pay of them, by currency, the largest first."`
	Last7Days     int64            `json:"last_7_days" doc:"How many payments failed in the last seven days."`
	Previous7Days int64            `json:"previous_7_days" doc:"How many failed in the seven days before."`
}

// QuotaRefusalFigures has the numbers of usage events that were rejected because of a quota.
type QuotaRefusalFigures struct {
	Last24Hours     int64 `json:"last_24_hours" doc:"How many events were refused in this hour of UTC and the 23 before it."`
	Previous24Hours int64 `json:"previous_24_hours" doc:"How many in the 24 hours before."`
	Tenants         int64 `json:"tenants" doc:"Of how many tenants events were refused in the last 24 hours."`
}

// Health is the health of the service.
type Health struct {
	OK         bool           `json:"ok" doc:"Whether nothing needs attention: the database and the payment provider answer, nothing is late, and no job has failed for good."`
	DatabaseMS *float64       `json:"database_ms" doc:"How many milliseconds the database took to answer; null where it did not within a second."`
	Provider   ProviderHealth `json:"provider" doc:"The payment provider."`
	Mail       MailHealth     `json:"mail" doc:"Mail on its way out."`
	Jobs       JobHealth      `json:"jobs" doc:"Work in the background."`
	Webhooks   WebhookHealth  `json:"webhooks" doc:"Deliveries to webhook endpoints of the last 24 hours."`
}

// ProviderHealth is the health of the payment provider.
type ProviderHealth struct {
	Reachable          bool        `json:"reachable" doc:"Whether it answered the last call of this instance; true before the first."`
	LatencyMS          *float64    `json:"latency_ms" doc:"How many milliseconds its last answer took; null before the first."`
	LastNotificationAt *shape.Time `json:"last_notification_at" doc:"When its last notification was stored; null before the first."`
	Waiting            int64       `json:"waiting" doc:"How many notifications are stored and not handled, up to 10,000."`
	DelaySeconds       int64       `json:"delay_seconds" doc:"For how long the oldest of them has been waiting."`
}

// MailHealth is the health of outgoing mail.
type MailHealth struct {
	Waiting int64 `json:"waiting" doc:"How many mails are to be sent, up to 10,000."`
	Failing int64 `json:"failing" doc:"How many of them failed at their last attempt, up to 10,000."`
	Sent    *bool `json:"sent" doc:"Whether the mail server took the last mail of this instance; null before the first."`
}

// JobHealth is the health of background jobs.
type JobHealth struct {
	Waiting int64 `json:"waiting" doc:"How many jobs are due now or later, up to 10,000."`
	Late    int64 `json:"late" doc:"How many have been due for five minutes, up to 10,000."`
	Dead    int64 `json:"dead" doc:"How many failed for good and need attention, up to 10,000."`
}

// WebhookHealth has the numbers of webhook deliveries.
type WebhookHealth struct {
	Delivered int64 `json:"delivered" doc:"How many were taken by their endpoint, up to 10,000."`
	Failed    int64 `json:"failed" doc:"How many failed at their last attempt, up to 10,000."`
}

func timeOf(at time.Time) *shape.Time {
	t := shape.T(at)
	return &t
}

// HTTP has the handlers of the platform statistics.
type HTTP struct{ service *Service }

// NewHTTP returns the handlers.
func NewHTTP(s *Service) *HTTP { return &HTTP{s} }

// Show handles GET /admin/stats.
func (h *HTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[PlatformStats], error) {
	s, now := h.service, h.service.deps.Clock.Now()
	out := PlatformStats{At: shape.T(now)}
	var err error
	if out.Tenants, err = s.tenants(ctx, now); err != nil {
		return nil, err
	}
	if out.MRR, out.Subscriptions, err = s.revenue(ctx, now); err != nil {
		return nil, err
	}
	if out.FailedPayments, err = s.failedPayments(ctx, now); err != nil {
		return nil, err
	}
	if out.QuotaRefusals, err = s.quotaRefusals(ctx, now); err != nil {
		return nil, err
	}
	if out.Health, err = s.health(ctx, now); err != nil {
		return nil, err
	}
	return rest.OK(out), nil
}

package stats

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// PlatformStats are the key figures of the platform.
type PlatformStats struct {
	At             shape.Time           `json:"at" doc:"Time of the statistics, in UTC."`
	Tenants        TenantFigures        `json:"tenants" doc:"Tenants, without deleted ones."`
	Subscriptions  SubscriptionFigures  `json:"subscriptions" doc:"Paying subscriptions."`
	MRR            []CurrencyRevenue    `json:"mrr" doc:"Monthly recurring revenue, by currency, largest in the base currency first, then by amount in minor units. Includes currencies with revenue now or 30 days ago."`
	FailedPayments FailedPaymentFigures `json:"failed_payments" doc:"Failed payments of invoices."`
	QuotaRefusals  QuotaRefusalFigures  `json:"quota_refusals" doc:"Usage events rejected by a quota."`
	Health         Health               `json:"health" doc:"Health of the service, from the view of the instance that handles the request."`
}

// TenantFigures has the numbers of tenants.
type TenantFigures struct {
	Total          int64                 `json:"total" doc:"Number of tenants."`
	AddedIn30Days  int64                 `json:"added_30_days" doc:"Number of tenants created in the last 30 days."`
	BySubscription TenantsBySubscription `json:"by_subscription" doc:"Number of tenants by subscription status."`
}

// TenantsBySubscription has the number of tenants by subscription status.
type TenantsBySubscription struct {
	Active   int64 `json:"active" doc:"Tenants with an active subscription."`
	Trialing int64 `json:"trialing" doc:"Tenants in a trial."`
	PastDue  int64 `json:"past_due" doc:"Tenants whose last payment failed and is being retried."`
	Other    int64 `json:"other" doc:"Tenants with an unpaid, paused or incomplete subscription."`
	None     int64 `json:"none" doc:"Tenants without a subscription, or with an ended one."`
}

// SubscriptionFigures has the numbers of subscriptions.
type SubscriptionFigures struct {
	Active          int64 `json:"active" doc:"Number of active and past due subscriptions."`
	Active30DaysAgo int64 `json:"active_30_days_ago" doc:"Number at the end of the day 30 days ago."`
}

// CurrencyRevenue is the monthly recurring revenue in one currency. Amounts are in minor units.
type CurrencyRevenue struct {
	Currency        string `json:"currency"`
	Amount          int64  `json:"amount" doc:"Current monthly recurring revenue: amount_30_days_ago plus new, expansion, contraction and ended."`
	Amount30DaysAgo int64  `json:"amount_30_days_ago" doc:"Monthly recurring revenue at the end of the day 30 days ago."`
	New             int64  `json:"new" doc:"Revenue from new subscriptions since then."`
	Expansion       int64  `json:"expansion" doc:"Revenue from increased subscriptions since then."`
	Contraction     int64  `json:"contraction" doc:"Revenue lost from reduced subscriptions since then. Negative."`
	Ended           int64  `json:"ended" doc:"Revenue lost from ended subscriptions since then. Negative."`
}

// CurrencyAmount is an amount in minor units.
type CurrencyAmount struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount" doc:"Amount in minor units of the currency."`
}

// FailedPaymentFigures has the numbers of failed payments.
type FailedPaymentFigures struct {
	Open          int64            `json:"open" doc:"Number of open invoices whose last payment failed."`
	Amounts       []CurrencyAmount `json:"amounts" doc:"Amount due on these invoices, by currency, largest first."`
	Last7Days     int64            `json:"last_7_days" doc:"Number of failed payments in the last seven days."`
	Previous7Days int64            `json:"previous_7_days" doc:"Number of failed payments in the seven days before."`
}

// QuotaRefusalFigures has the numbers of usage events that were rejected because of a quota.
type QuotaRefusalFigures struct {
	Last24Hours     int64 `json:"last_24_hours" doc:"Number of rejected events in the current hour and the 23 hours before, in UTC."`
	Previous24Hours int64 `json:"previous_24_hours" doc:"Number of rejected events in the 24 hours before."`
	Tenants         int64 `json:"tenants" doc:"Number of tenants with rejected events in the last 24 hours."`
}

// Health is the health of the service.
type Health struct {
	OK         bool           `json:"ok" doc:"Whether the service is healthy: the database and payment provider are reachable, processing is on time, and jobs have not failed permanently."`
	DatabaseMS *float64       `json:"database_ms" doc:"Response time of the database, in milliseconds. Null if it did not respond within one second."`
	Provider   ProviderHealth `json:"provider" doc:"Payment provider."`
	Mail       MailHealth     `json:"mail" doc:"Outgoing email."`
	Jobs       JobHealth      `json:"jobs" doc:"Background jobs."`
	Webhooks   WebhookHealth  `json:"webhooks" doc:"Webhook deliveries of the last 24 hours."`
}

// ProviderHealth is the health of the payment provider.
type ProviderHealth struct {
	Reachable          bool        `json:"reachable" doc:"Whether the last call of this instance succeeded. True before the first call."`
	LatencyMS          *float64    `json:"latency_ms" doc:"Response time of the last call, in milliseconds. Null before the first call."`
	LastNotificationAt *shape.Time `json:"last_notification_at" doc:"Time of the last received notification, in UTC. Null before the first."`
	Waiting            int64       `json:"waiting" doc:"Number of unprocessed notifications, up to 10,000."`
	DelaySeconds       int64       `json:"delay_seconds" doc:"Age of the oldest unprocessed notification, in seconds."`
}

// MailHealth is the health of outgoing mail.
type MailHealth struct {
	Waiting int64 `json:"waiting" doc:"Number of queued emails, up to 10,000."`
	Failing int64 `json:"failing" doc:"Number of queued emails whose last attempt failed, up to 10,000."`
	Sent    *bool `json:"sent" doc:"Whether the mail server accepted the last email of this instance. Null before the first."`
}

// JobHealth is the health of background jobs.
type JobHealth struct {
	Waiting int64 `json:"waiting" doc:"Number of queued jobs, up to 10,000."`
	Late    int64 `json:"late" doc:"Number of jobs that are more than five minutes late, up to 10,000."`
	Dead    int64 `json:"dead" doc:"Number of jobs that have failed permanently, up to 10,000."`
}

// WebhookHealth has the numbers of webhook deliveries.
type WebhookHealth struct {
	Delivered int64 `json:"delivered" doc:"Number of successful deliveries, up to 10,000."`
	Failed    int64 `json:"failed" doc:"Number of deliveries whose last attempt failed, up to 10,000."`
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

package subscription

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// adminSubscription is a subscription in the list across tenants.
type adminSubscription struct {
	SubscriptionView
	Tenant sheet.NamedTenant `json:"tenant"`
	MRR    money.Money       `json:"mrr" doc:"Monthly recurring revenue. 0 if the subscription does not count."`
}

// AcrossList returns the filters and the sort orders of the list across tenants.
func (*HTTP) AcrossList() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"status": {Kind: page.AnyOf, Exprs: []string{"s.status"}, Values: []string{
				"active", "trialing", "past_due", "unpaid", "paused", "incomplete", "incomplete_expired", "canceled",
			}},
			"tenant":            {Kind: page.UUID, Exprs: []string{"s.tenant_id"}},
			"plan":              {Kind: page.AnyOf, Condition: hasPlan},
			"collection":        {Kind: page.Enum, Exprs: []string{"s.collection"}, Values: []string{collectCard, collectInvoice}},
			"trial_ends_before": {Kind: page.DateTo, Condition: trialEndsBefore},
			"renews_before":     {Kind: page.DateTo, Condition: renewsBefore},
		},
		Sorts:       map[string]string{"created_at": "s.created_at", "current_period_end": "s.current_period_end"},
		DefaultSort: "-created_at",
		Tiebreak:    "s.id",
		CSV:         true,
	}
}

func hasPlan(value any, arg func(any) string) string {
	var places []string
	for _, slug := range value.([]string) {
		places = append(places, arg(slug))
	}
	return "s.plan_id IN (SELECT p.id FROM plans p WHERE p.slug IN (" + strings.Join(places, ", ") + "))"
}

// trialEndsBefore is the condition for running trials.
func trialEndsBefore(value any, arg func(any) string) string {
	return "s.status = 'trialing' AND s.trial_ends_at <= " + arg(value)
}

// renewsBefore is the condition for subscriptions that renew.
func renewsBefore(value any, arg func(any) string) string {
	return "s.status IN ('active', 'past_due') AND s.cancel_at IS NULL AND NOT s.cancel_at_period_end AND s.current_period_end <= " + arg(value)
}

// ListAcross handles GET /admin/subscriptions.
func (h *HTTP) ListAcross(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[adminSubscription]], error) {
	q, err := h.AcrossList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	list := sheet.List[adminSubscription]{Name: "subscriptions", Decimals: h.decimals, Read: h.readAcross}
	return sheet.Page(ctx, list, q, h.across)
}

func (h *HTTP) readAcross(ctx context.Context, q page.Query) ([]adminSubscription, int64, error) {
	entries, total, err := h.svc.store.pageAcross(ctx, q, h.svc.deps.Clock.Now())
	if err != nil {
		return nil, 0, err
	}
	views, maker := make([]adminSubscription, len(entries)), h.svc.newViewMaker(true)
	for i, e := range entries {
		v, err := maker.view(ctx, e.sub)
		if err != nil {
			return nil, 0, err
		}
		views[i] = adminSubscription{*v, e.tenant, e.revenue}
	}
	return views, total, nil
}

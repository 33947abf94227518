package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers of the usage endpoints (rules: usage).
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

type tenantInput struct {
	Tenant string `path:"tenantId"`
}

type meterInput struct {
	Tenant    string `path:"tenantId"`
	MeterCode string `path:"meterCode"`
}

// meterSummary is one meter of the summary. current_usage has the unit of quota_limit, and
// usage_percent has two decimals.
type meterSummary struct {
	MeterID          uuid.UUID     `json:"meter_id"`
	MeterCode        string        `json:"meter_code"`
	MeterName        string        `json:"meter_name"`
	CurrentUsage     shape.Total   `json:"current_usage"`
	Reserved         shape.Total   `json:"reserved" doc:"The units of open reservations. They are not part of current_usage."`
	QuotaLimit       *int64        `json:"quota_limit"`
	UsagePercent     *float64      `json:"usage_percent"`
	AggregationType  Aggregation   `json:"aggregation_type" enum:"sum,max,count,last_value"`
	ResetInterval    ResetInterval `json:"reset_interval" enum:"monthly,weekly,daily,none"`
	QuotaEnforcement Enforcement   `json:"quota_enforcement" enum:"none,soft,hard"`
	UnitLabel        *string       `json:"unit_label"`
}

// usageSummary lists every active meter. Its period is the period of a monthly meter: the billing
// period, or a month of a longer billing period, or the calendar month without a subscription.
type usageSummary struct {
	TenantID    uuid.UUID      `json:"tenant_id"`
	PeriodStart shape.Time     `json:"period_start"`
	PeriodEnd   shape.Time     `json:"period_end"`
	Meters      []meterSummary `json:"meters"`
}

// Summary handles GET /usage.
func (h *HTTP) Summary(ctx context.Context, _ *tenantInput) (*rest.Data[usageSummary], error) {
	s, err := h.svc.Summary(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	out := usageSummary{
		TenantID: s.TenantID, PeriodStart: shape.T(s.Period.Start), PeriodEnd: shape.T(s.Period.End),
		Meters: make([]meterSummary, len(s.Readings)),
	}
	for i, r := range s.Readings {
		out.Meters[i] = summaryOf(r)
	}
	return rest.OK(out), nil
}

func summaryOf(r Reading) meterSummary {
	return meterSummary{
		MeterID:          r.Meter.ID,
		MeterCode:        r.Meter.Code,
		MeterName:        r.Meter.Name,
		CurrentUsage:     shape.Total{Total: r.Current},
		Reserved:         shapeTotal(r.Reserved),
		QuotaLimit:       r.Limit,
		UsagePercent:     r.Percent(),
		AggregationType:  r.Meter.Aggregation,
		ResetInterval:    r.Meter.Reset,
		QuotaEnforcement: r.Meter.Enforcement,
		UnitLabel:        r.Meter.UnitLabel,
	}
}

// MeterQuota is the quota status of one meter.
type MeterQuota struct {
	MeterID          uuid.UUID           `json:"meter_id"`
	MeterCode        string              `json:"meter_code"`
	MeterName        string              `json:"meter_name"`
	CurrentUsage     shape.Total         `json:"current_usage"`
	Reserved         shape.Total         `json:"reserved" doc:"The units of open reservations. They are not part of current_usage."`
	QuotaLimit       *int64              `json:"quota_limit"`
	UsagePercent     *float64            `json:"usage_percent"`
	Status           Status              `json:"status" enum:"ok,warning,exceeded"`
	QuotaEnforcement Enforcement         `json:"quota_enforcement" enum:"none,soft,hard"`
	UnitLabel        *string             `json:"unit_label"`
	GrantsRemaining  shape.Total         `json:"grants_remaining" doc:"The remaining units of the grants that are valid now."`
	Cap              *int64              `json:"cap" doc:"The organization's own limit in whole units; null without one."`
	CapBy            *authz.ChangeAuthor `json:"cap_by" doc:"The user or API key that set the cap. Null without a cap."`
	ResetsAt         *shape.Time         `json:"resets_at" doc:"The end of the meter's window; null if it never resets."`
	UnitPriceCents   *shape.UnitPrice    `json:"unit_price_cents" doc:"The price of a unit, in minor units of the currency with up to 12 decimal places; null unless the plan bills the meter."`
	Currency         *string             `json:"currency" doc:"The currency of the price; null unless the plan bills the meter."`
	Rejected         int64               `json:"rejected" doc:"The events that the limit or the cap rejected in the window."`
	Alerts           []quotaAlert        `json:"alerts" doc:"Alerts of the limit. Empty without a limit."`
}

// quotaAlert is an alert of a limit in a window.
type quotaAlert struct {
	Percent int         `json:"percent" doc:"The percentage of the limit: 80 or 100."`
	SentAt  *shape.Time `json:"sent_at" doc:"Time at which the alert was sent, in UTC. Null if it was not sent for this limit in this window."`
}

// usageQuotas lists the quota status of every active meter.
type usageQuotas struct {
	TenantID uuid.UUID    `json:"tenant_id"`
	Meters   []MeterQuota `json:"meters"`
}

// Quotas handles GET /usage/quotas.
func (h *HTTP) Quotas(ctx context.Context, _ *tenantInput) (*rest.Data[usageQuotas], error) {
	return h.quotas(ctx, authz.TenantID(ctx), false)
}

func (h *HTTP) quotas(ctx context.Context, tenantID uuid.UUID, forPlatform bool) (*rest.Data[usageQuotas], error) {
	s, err := h.svc.Summary(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	var authors map[uuid.UUID]*authz.Origin
	if slices.ContainsFunc(s.Readings, func(r Reading) bool { return r.Cap != nil }) {
		if authors, err = h.svc.store.capAuthors(ctx, tenantID); err != nil {
			return nil, err
		}
	}
	out := usageQuotas{TenantID: s.TenantID, Meters: make([]MeterQuota, len(s.Readings))}
	for i, r := range s.Readings {
		out.Meters[i] = quotaOf(r, authors[r.Meter.ID].Author(forPlatform))
	}
	return rest.OK(out), nil
}

func quotaOf(r Reading, capBy *authz.ChangeAuthor) MeterQuota {
	q := MeterQuota{
		MeterID: r.Meter.ID, MeterCode: r.Meter.Code, MeterName: r.Meter.Name,
		CurrentUsage: shape.Total{Total: r.Current}, QuotaLimit: r.Limit, UsagePercent: r.Percent(),
		Status: r.Status(), QuotaEnforcement: r.Meter.Enforcement, UnitLabel: r.Meter.UnitLabel, Cap: r.Cap, CapBy: capBy,
		GrantsRemaining: shapeTotal(r.GrantsRemaining), Reserved: shapeTotal(r.Reserved), Rejected: r.Rejected, Alerts: r.alerts,
	}
	if r.UnitPrice != nil {
		q.UnitPriceCents, q.Currency = &shape.UnitPrice{UnitPrice: *r.UnitPrice}, &r.Currency
	}
	if !r.Period.Unbounded() {
		q.ResetsAt = timeOrNil(r.Period.End)
	}
	return q
}

// recentEvent is an event in the detail of a meter.
type recentEvent struct {
	ID         uuid.UUID      `json:"id"`
	Quantity   shape.Quantity `json:"quantity"`
	RecordedAt shape.Time     `json:"recorded_at"`
	Metadata   shape.Object   `json:"metadata" nullable:"true"`
}

// meterDetail is a meter with the newest events of its current period. The bounds are null for a
// meter that never resets.
type meterDetail struct {
	meterSummary
	PeriodStart  *shape.Time   `json:"period_start"`
	PeriodEnd    *shape.Time   `json:"period_end"`
	RecentEvents []recentEvent `json:"recent_events"`
}

// Meter handles GET /usage/{meterCode}.
func (h *HTTP) Meter(ctx context.Context, in *meterInput) (*rest.Data[meterDetail], error) {
	d, err := h.svc.Detail(ctx, authz.TenantID(ctx), in.MeterCode)
	if err != nil {
		return nil, err
	}
	out := meterDetail{meterSummary: summaryOf(d.Reading), RecentEvents: make([]recentEvent, len(d.Events))}
	if !d.Period.Unbounded() {
		out.PeriodStart, out.PeriodEnd = timeOrNil(d.Period.Start), timeOrNil(d.Period.End)
	}
	for i, e := range d.Events {
		out.RecentEvents[i] = recentEvent{
			ID: e.ID, Quantity: shape.Quantity{Quantity: e.Quantity}, RecordedAt: shape.T(e.RecordedAt), Metadata: shape.Object(e.Metadata),
		}
	}
	return rest.OK(out), nil
}

func timeOrNil(t time.Time) *shape.Time { return shape.TP(&t) }

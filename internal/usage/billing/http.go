package billing

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handler of the cost estimate (rules: usage#cost-estimate).
type HTTP struct{ estimator *Estimator }

// NewHTTP returns the handler.
func NewHTTP(e *Estimator) *HTTP { return &HTTP{e} }

type tenantInput struct {
	Tenant string `path:"tenantId"`
}

// CostEstimate is the cost of the billable usage in the current billing period so far.
type CostEstimate struct {
	TenantID         uuid.UUID          `json:"tenant_id"`
	PeriodStart      shape.Time         `json:"period_start"`
	PeriodEnd        shape.Time         `json:"period_end"`
	TotalAmountCents int64              `json:"total_amount_cents" doc:"Sum of the lines less the discount."`
	DiscountCents    int64              `json:"discount_cents" doc:"Amount that a promotion code takes off. An amount is taken off the plan's fee first, so that this is the rest."`
	Currency         string             `json:"currency"`
	IsEstimate       bool               `json:"is_estimate" doc:"Always true."`
	Lines            []CostEstimateLine `json:"lines"`
}

// CostEstimateLine is the cost of the usage of one meter.
type CostEstimateLine struct {
	MeterCode      string          `json:"meter_code"`
	MeterName      string          `json:"meter_name"`
	Quantity       shape.Total     `json:"quantity"`
	UnitPriceCents shape.UnitPrice `json:"unit_price_cents"`
	AmountCents    int64           `json:"amount_cents"`
	Currency       string          `json:"currency"`
	UnitLabel      *string         `json:"unit_label"`
}

// CostEstimate handles GET /usage/cost-estimate.
func (h *HTTP) CostEstimate(ctx context.Context, _ *tenantInput) (*rest.Data[CostEstimate], error) {
	e, err := h.estimator.Estimate(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	out := CostEstimate{
		TenantID: e.TenantID, PeriodStart: shape.T(e.Period.Start), PeriodEnd: shape.T(e.Period.End),
		TotalAmountCents: e.Total.AmountCents, DiscountCents: e.Discount, Currency: e.Total.Currency, IsEstimate: true,
		Lines: make([]CostEstimateLine, len(e.Lines)),
	}
	for i, l := range e.Lines {
		out.Lines[i] = CostEstimateLine{
			MeterCode: l.Meter.Code, MeterName: l.Meter.Name, Quantity: shape.Total{Total: l.Quantity},
			UnitPriceCents: shape.UnitPrice{UnitPrice: l.UnitPrice}, AmountCents: l.Amount.AmountCents, Currency: l.Amount.Currency,
			UnitLabel: l.Meter.UnitLabel,
		}
	}
	return rest.OK(out), nil
}

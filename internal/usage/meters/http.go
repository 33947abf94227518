package meters

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/usage"
)

// HTTP has the handlers for the administration of meters.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers. publicURL, without a trailing slash, is the prefix of pagination
// links.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, publicURL: publicURL}
}

// AdminMeter is the representation of a meter in the admin API (rules: usage#meters).
type AdminMeter struct {
	ID               uuid.UUID           `json:"id"`
	Code             string              `json:"code"`
	Name             string              `json:"name"`
	AggregationType  usage.Aggregation   `json:"aggregation_type" enum:"sum,max,count,last_value"`
	ResetInterval    usage.ResetInterval `json:"reset_interval" enum:"monthly,weekly,daily,none"`
	QuotaEnforcement usage.Enforcement   `json:"quota_enforcement" enum:"none,soft,hard"`
	UnitLabel        *string             `json:"unit_label"`
	IsActive         bool                `json:"is_active"`
	IsBillable       bool                `json:"is_billable" doc:"Whether one of the prices is linked to a price at the payment provider."`
	Prices           []AdminMeterPrice   `json:"prices"`
	CreatedAt        shape.Time          `json:"created_at"`
	UpdatedAt        shape.Time          `json:"updated_at"`
}

// AdminMeterPrice is the price of one unit of a meter in one currency.
type AdminMeterPrice struct {
	ID             uuid.UUID       `json:"id"`
	Currency       string          `json:"currency"`
	UnitPriceCents shape.UnitPrice `json:"unit_price_cents" doc:"Price per unit, in minor units of the currency with up to 12 decimal places."`
	PSPPriceID     *string         `json:"psp_price_id"`
}

func adminMeter(e Entry) AdminMeter {
	prices := make([]AdminMeterPrice, len(e.Prices))
	for i, p := range e.Prices {
		prices[i] = AdminMeterPrice{
			ID: p.ID, Currency: p.Currency, UnitPriceCents: shape.UnitPrice{UnitPrice: p.UnitPrice}, PSPPriceID: p.PSPPriceID,
		}
	}
	return AdminMeter{
		ID: e.ID, Code: e.Code, Name: e.Name, AggregationType: e.Aggregation, ResetInterval: e.Reset, QuotaEnforcement: e.Enforcement,
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), Prices: prices,
		CreatedAt: shape.T(e.CreatedAt), UpdatedAt: shape.T(e.UpdatedAt),
	}
}

// MeterPriceInput is one price in the set that replaces a meter's prices.
type MeterPriceInput struct {
	Currency       string            `json:"currency" format:"currency"`
	UnitPriceCents shape.UnitPrice   `json:"unit_price_cents"`
	PSPPriceID     shape.Opt[string] `json:"psp_price_id,omitzero" nullable:"true" maxLength:"255" pattern:"^price_" doc:"ID of the price at the payment provider. If omitted, the link is kept as long as the amount does not change. Null removes the link."`
}

func termsOf(inputs []MeterPriceInput) []PriceTerms {
	set := make([]PriceTerms, len(inputs))
	for i, p := range inputs {
		set[i] = PriceTerms{
			Currency: p.Currency, UnitPrice: p.UnitPriceCents.UnitPrice, LinkGiven: p.PSPPriceID.Set, PSPPriceID: p.PSPPriceID.Or(nil),
		}
	}
	return set
}

// List handles GET /admin/meters.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[AdminMeter]], error) {
	q, err := List().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	entries, total, err := h.svc.Page(ctx, q)
	if err != nil {
		return nil, err
	}
	views := make([]AdminMeter, len(entries))
	for i, e := range entries {
		views[i] = adminMeter(e)
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/meters", views, total)), nil
}

type adminMeterInput struct {
	Meter string `path:"meter" format:"uuid"`
}

// Show handles GET /admin/meters/{meter}.
func (h *HTTP) Show(ctx context.Context, in *adminMeterInput) (*rest.Data[AdminMeter], error) {
	id, err := shape.ParseID(in.Meter)
	if err != nil {
		return nil, err
	}
	e, err := h.svc.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(adminMeter(e)), nil
}

// Exists returns 404 for an unknown meter before the body is validated.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("meter"))
	if err != nil {
		return err
	}
	_, err = h.svc.Get(ctx, id)
	return err
}

type createMeterInput struct {
	Body struct {
		Code             string              `json:"code" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name             string              `json:"name" format:"name" minLength:"1" maxLength:"255"`
		AggregationType  usage.Aggregation   `json:"aggregation_type" enum:"sum,max,count,last_value"`
		ResetInterval    usage.ResetInterval `json:"reset_interval" enum:"monthly,weekly,daily,none"`
		QuotaEnforcement usage.Enforcement   `json:"quota_enforcement" enum:"none,soft,hard"`
		UnitLabel        *string             `json:"unit_label,omitempty" nullable:"true" format:"name" maxLength:"255"`
		IsActive         *bool               `json:"is_active,omitempty" default:"true"`
		Prices           []MeterPriceInput   `json:"prices,omitempty" maxItems:"300"`
	}
}

// entry returns the new meter and the terms of its prices.
func (in *createMeterInput) entry() (Entry, []PriceTerms) {
	b := in.Body
	e := Entry{Meter: usage.Meter{
		Code: b.Code, Name: b.Name, Aggregation: b.AggregationType, Reset: b.ResetInterval, Enforcement: b.QuotaEnforcement,
		UnitLabel: b.UnitLabel, Active: b.IsActive == nil || *b.IsActive,
	}}
	set := termsOf(b.Prices)
	e.SetPrices(set)
	return e, set
}

// CheckCreate validates the fields of a request to Create (see rest.Checks).
func (h *HTTP) CheckCreate(ctx context.Context, in *createMeterInput) error {
	e, _ := in.entry()
	return h.svc.CheckFields(ctx, e)
}

// Create handles POST /admin/meters.
func (h *HTTP) Create(ctx context.Context, in *createMeterInput) (*rest.Data[AdminMeter], error) {
	entry, set := in.entry()
	if err := h.svc.ValidateLinks(ctx, entry, set); err != nil {
		return nil, err
	}
	e, err := h.svc.Create(ctx, entry)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminMeter(e), "meter.created"), nil
}

type updateMeterInput struct {
	Meter string `path:"meter" format:"uuid"`
	Body  struct {
		Code             shape.Opt[string]              `json:"code,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name             shape.Opt[string]              `json:"name,omitzero" format:"name" minLength:"1" maxLength:"255"`
		AggregationType  shape.Opt[usage.Aggregation]   `json:"aggregation_type,omitzero" enum:"sum,max,count,last_value"`
		ResetInterval    shape.Opt[usage.ResetInterval] `json:"reset_interval,omitzero" enum:"monthly,weekly,daily,none"`
		QuotaEnforcement shape.Opt[usage.Enforcement]   `json:"quota_enforcement,omitzero" enum:"none,soft,hard"`
		UnitLabel        shape.Opt[string]              `json:"unit_label,omitzero" nullable:"true" format:"name" maxLength:"255"`
		IsActive         shape.Opt[bool]                `json:"is_active,omitzero"`
		Prices           shape.Opt[[]MeterPriceInput]   `json:"prices,omitzero" maxItems:"300" doc:"Prices. Replaces all existing prices."`
	}
}

// change returns the meter with the requested changes.
func (in *updateMeterInput) change(e Entry) Entry {
	b := in.Body
	e.Code, e.Name = b.Code.OrValue(e.Code), b.Name.OrValue(e.Name)
	e.Aggregation, e.Reset = b.AggregationType.OrValue(e.Aggregation), b.ResetInterval.OrValue(e.Reset)
	e.Enforcement, e.Active = b.QuotaEnforcement.OrValue(e.Enforcement), b.IsActive.OrValue(e.Active)
	e.UnitLabel = b.UnitLabel.Or(e.UnitLabel)
	if b.Prices.Set {
		e.SetPrices(termsOf(b.Prices.Value))
	}
	return e
}

// CheckUpdate validates the fields of a request to Update (see rest.Checks).
func (h *HTTP) CheckUpdate(ctx context.Context, in *updateMeterInput) error {
	id, err := shape.ParseID(in.Meter)
	if err != nil {
		return err
	}
	e, err := h.svc.Get(ctx, id)
	if err != nil {
		return err
	}
	return h.svc.CheckFields(ctx, in.change(e))
}

// Update handles PATCH /admin/meters/{meter}.
func (h *HTTP) Update(ctx context.Context, in *updateMeterInput) (*rest.Data[AdminMeter], error) {
	id, err := shape.ParseID(in.Meter)
	if err != nil {
		return nil, err
	}
	e, err := h.svc.Get(ctx, id)
	if err == nil {
		err = h.svc.ValidateLinks(ctx, in.change(e), termsOf(in.Body.Prices.Value))
	}
	if err == nil {
		e, err = h.svc.Update(ctx, id, in.change)
	}
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminMeter(e), "meter.updated"), nil
}

// Delete handles DELETE /admin/meters/{meter}.
func (h *HTTP) Delete(ctx context.Context, in *adminMeterInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Meter)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Delete(ctx, id)
}

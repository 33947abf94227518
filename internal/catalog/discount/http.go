package discount

import (
	"context"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers of discounts.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, publicURL: strings.TrimSuffix(publicURL, "/")}
}

// AdminDiscount is the representation of a discount.
type AdminDiscount struct {
	ID                uuid.UUID                `json:"id" format:"uuid"`
	Code              string                   `json:"code"`
	Translations      map[string]DiscountTexts `json:"translations"`
	PercentOff        *shape.Quantity          `json:"percent_off" doc:"Percentage off. Null for amounts."`
	Amounts           []DiscountAmount         `json:"amounts" doc:"Amount off by currency. Empty for a percentage."`
	Duration          string                   `json:"duration" enum:"once,repeating,forever" doc:"once applies to the first invoice above 0, repeating to the invoices of some months."`
	Months            *int32                   `json:"months" doc:"Number of months from the redemption. Null unless the duration is repeating."`
	PlanIDs           []uuid.UUID              `json:"plan_ids" doc:"Plans that the code is for. Empty for all plans."`
	FirstPurchaseOnly bool                     `json:"first_purchase_only" doc:"Whether only tenants without a paid invoice above 0 can use the code."`
	MaxRedemptions    *int64                   `json:"max_redemptions" doc:"Maximum number of redemptions. Null for no maximum."`
	MaxPerTenant      *int64                   `json:"max_per_tenant" doc:"Maximum number of redemptions per tenant. Null for no maximum."`
	StartsAt          *shape.Time              `json:"starts_at" doc:"Time from which the code can be used, in UTC. Null for no limit."`
	EndsAt            *shape.Time              `json:"ends_at" doc:"Time until which the code can be used, in UTC. Null for no limit."`
	IsActive          bool                     `json:"is_active" doc:"Whether the code can be used."`
	Redemptions       int64                    `json:"redemptions" doc:"How often the code was redeemed. Never decreases."`
	CreatedAt         shape.Time               `json:"created_at"`
	UpdatedAt         shape.Time               `json:"updated_at"`
}

// DiscountTexts are the texts of a discount in one language.
type DiscountTexts struct {
	Name string `json:"name"`
}

// DiscountAmount is the amount off in one currency.
type DiscountAmount struct {
	Currency    string `json:"currency"`
	AmountCents int64  `json:"amount_cents" doc:"Amount off in minor units of the currency."`
}

// unitsOfHundredth is the number of millionths in a hundredth.
const unitsOfHundredth = 10_000

// quantityOf returns hundredths as a quantity.
func quantityOf(hundredths int64) money.Quantity {
	return money.Quantity(hundredths * unitsOfHundredth)
}

// PercentView returns a percentage in hundredths as the API shows it.
func PercentView(hundredths *int64) *shape.Quantity {
	if hundredths == nil {
		return nil
	}
	return &shape.Quantity{Quantity: quantityOf(*hundredths)}
}

func view(d Discount) AdminDiscount {
	v := AdminDiscount{
		ID: d.ID, Code: d.Code, Translations: map[string]DiscountTexts{}, PercentOff: PercentView(d.PercentOff), Amounts: make([]DiscountAmount, len(d.Amounts)),
		Duration: d.Duration, Months: d.Months, PlanIDs: append([]uuid.UUID{}, d.PlanIDs...), FirstPurchaseOnly: d.FirstPurchaseOnly,
		MaxRedemptions: d.MaxRedemptions, MaxPerTenant: d.MaxPerTenant, StartsAt: shape.TP(d.StartsAt), EndsAt: shape.TP(d.EndsAt),
		IsActive: d.IsActive, Redemptions: d.Redemptions, CreatedAt: shape.T(d.CreatedAt), UpdatedAt: shape.T(d.UpdatedAt),
	}
	for i, a := range d.Amounts {
		v.Amounts[i] = DiscountAmount(a)
	}
	for locale, name := range d.Name {
		v.Translations[locale] = DiscountTexts{name}
	}
	return v
}

type noInput struct{}

// List handles GET /admin/discounts.
func (h *HTTP) List(ctx context.Context, _ *noInput) (*rest.Body[page.Page[AdminDiscount]], error) {
	q, err := List().Parse(upperCode(rest.RequestOf(ctx).Query()))
	if err != nil {
		return nil, err
	}
	discounts, total, err := h.svc.Page(ctx, q)
	if err != nil {
		return nil, err
	}
	views := make([]AdminDiscount, len(discounts))
	for i, d := range discounts {
		views[i] = view(d)
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/discounts", views, total)), nil
}

// upperCode returns a query whose filter by code is in upper case, like the stored keys.
func upperCode(query url.Values) url.Values {
	const filter = "filter[code]"
	if query.Has(filter) {
		query.Set(filter, codeKey(strings.TrimSpace(query.Get(filter))))
	}
	return query
}

type discountInput struct {
	Discount string `path:"discount" format:"uuid"`
}

// Get handles GET /admin/discounts/{discount}.
func (h *HTTP) Get(ctx context.Context, in *discountInput) (*rest.Data[AdminDiscount], error) {
	id, err := shape.ParseID(in.Discount)
	if err != nil {
		return nil, err
	}
	d, err := h.svc.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(d)), nil
}

// Exists is the rest.Exists check for routes with {discount}.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("discount"))
	if err == nil {
		_, err = h.svc.Get(ctx, id)
	}
	return err
}

type amountFields struct {
	Currency    string `json:"currency" format:"currency" doc:"ISO 4217 code of an existing currency. Unique in the list."`
	AmountCents int64  `json:"amount_cents" minimum:"1" maximum:"999999999999" doc:"Amount off in minor units of the currency."`
}

type createInput struct {
	Body struct {
		Code              string           `json:"code" maxLength:"50" pattern:"^[A-Za-z0-9-]+$" doc:"Code that customers enter. Unique regardless of case, also among inactive codes."`
		Name              shape.Texts      `json:"name" format:"name" maxLength:"255"`
		PercentOff        *shape.Quantity  `json:"percent_off,omitempty" nullable:"true" minimum:"0.01" maximum:"100" doc:"Percentage off, with at most two decimals. Exactly one of percent_off and amounts is required."`
		Amounts           *[]amountFields  `json:"amounts,omitempty" nullable:"true" maxItems:"200" doc:"Amount off by currency."`
		Duration          string           `json:"duration" enum:"once,repeating,forever" doc:"once applies to the first invoice above 0, repeating to the invoices of some months."`
		Months            *int32           `json:"months,omitempty" nullable:"true" minimum:"1" maximum:"120" doc:"Number of months from the redemption. Required for repeating, otherwise not allowed."`
		PlanIDs           *[]string        `json:"plan_ids,omitempty" nullable:"true" maxItems:"200" doc:"Plans that the code is for. Empty for all plans."`
		FirstPurchaseOnly *bool            `json:"first_purchase_only,omitempty" default:"false" doc:"Whether only tenants without a paid invoice above 0 can use the code."`
		MaxRedemptions    *int64           `json:"max_redemptions,omitempty" nullable:"true" minimum:"1" doc:"Maximum number of redemptions. Null for no maximum."`
		MaxPerTenant      shape.Opt[int64] `json:"max_per_tenant,omitzero" nullable:"true" minimum:"1" doc:"Maximum number of redemptions per tenant. Default: 1. Null for no maximum."`
		StartsAt          *shape.Time      `json:"starts_at,omitempty" nullable:"true" doc:"Time from which the code can be used. Null for no limit."`
		EndsAt            *shape.Time      `json:"ends_at,omitempty" nullable:"true" doc:"Time until which the code can be used. Must be in the future and after starts_at."`
		IsActive          *bool            `json:"is_active,omitempty" default:"true" doc:"Whether the code can be used."`
	}
}

// discount returns the requested discount, and errors for the fields that a Discount cannot
// represent.
func (in *createInput) discount() (Discount, error) {
	b, one := in.Body, int64(1)
	d := Discount{
		Code: b.Code, Name: catalog.Text(nil).With(b.Name), Duration: b.Duration, Months: b.Months, MaxRedemptions: b.MaxRedemptions,
		MaxPerTenant: b.MaxPerTenant.Or(&one), IsActive: b.IsActive == nil || *b.IsActive,
		FirstPurchaseOnly: b.FirstPurchaseOnly != nil && *b.FirstPurchaseOnly,
	}
	var broken fault.Fields
	if b.PercentOff != nil {
		hundredths := int64(b.PercentOff.Quantity) / unitsOfHundredth
		if d.PercentOff = &hundredths; quantityOf(hundredths) != b.PercentOff.Quantity {
			broken.Add("percent_off", "validation.percent_off")
		}
	}
	if b.Amounts != nil {
		for _, a := range *b.Amounts {
			d.Amounts = append(d.Amounts, Amount(a))
		}
	}
	if b.PlanIDs != nil {
		for _, text := range *b.PlanIDs {
			id, _ := shape.ParseID(text) // a malformed ID matches no plan
			d.PlanIDs = append(d.PlanIDs, id)
		}
	}
	if b.StartsAt != nil {
		at := b.StartsAt.Std()
		d.StartsAt = &at
	}
	if b.EndsAt != nil {
		at := b.EndsAt.Std()
		d.EndsAt = &at
	}
	return d, broken.Err()
}

// CheckCreate is the rest.Checks check for Create.
func (h *HTTP) CheckCreate(ctx context.Context, in *createInput) error {
	d, wrong := in.discount()
	return fault.Join(wrong, h.svc.Check(ctx, d))
}

// Create handles POST /admin/discounts.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[AdminDiscount], error) {
	d, err := in.discount()
	if err == nil {
		d, err = h.svc.Create(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	return rest.OK(view(d)), nil
}

type updateInput struct {
	Discount string `path:"discount" format:"uuid"`
	Body     struct {
		Name     shape.Opt[shape.TextsChange] `json:"name,omitzero" format:"name" maxLength:"255" doc:"Display name by language. Other languages are not changed. Null removes a language; English cannot be removed."`
		IsActive shape.Opt[bool]              `json:"is_active,omitzero" doc:"Whether the code can be used."`
		fixedFields
	}
}

// fixedFields are the fields that never change. A request with one of them is refused.
type fixedFields struct {
	Code              shape.Opt[any] `json:"code,omitzero" doc:"Cannot be changed."`
	PercentOff        shape.Opt[any] `json:"percent_off,omitzero" nullable:"true" doc:"Cannot be changed."`
	Amounts           shape.Opt[any] `json:"amounts,omitzero" nullable:"true" doc:"Cannot be changed."`
	Duration          shape.Opt[any] `json:"duration,omitzero" doc:"Cannot be changed."`
	Months            shape.Opt[any] `json:"months,omitzero" nullable:"true" doc:"Cannot be changed."`
	PlanIDs           shape.Opt[any] `json:"plan_ids,omitzero" nullable:"true" doc:"Cannot be changed."`
	FirstPurchaseOnly shape.Opt[any] `json:"first_purchase_only,omitzero" doc:"Cannot be changed."`
	MaxRedemptions    shape.Opt[any] `json:"max_redemptions,omitzero" nullable:"true" doc:"Cannot be changed."`
	MaxPerTenant      shape.Opt[any] `json:"max_per_tenant,omitzero" nullable:"true" doc:"Cannot be changed."`
	StartsAt          shape.Opt[any] `json:"starts_at,omitzero" nullable:"true" doc:"Cannot be changed."`
	EndsAt            shape.Opt[any] `json:"ends_at,omitzero" nullable:"true" doc:"Cannot be changed."`
}

// check returns an error for each of these fields that the request contains.
func (f fixedFields) check() error {
	var broken fault.Fields
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"code", f.Code.Set},
		{"percent_off", f.PercentOff.Set},
		{"amounts", f.Amounts.Set},
		{"duration", f.Duration.Set},
		{"months", f.Months.Set},
		{"plan_ids", f.PlanIDs.Set},
		{"first_purchase_only", f.FirstPurchaseOnly.Set},
		{"max_redemptions", f.MaxRedemptions.Set},
		{"max_per_tenant", f.MaxPerTenant.Set},
		{"starts_at", f.StartsAt.Set},
		{"ends_at", f.EndsAt.Set},
	} {
		if field.set {
			broken.Add(field.name, "validation.fixed")
		}
	}
	return broken.Err()
}

func (in *updateInput) change(d *Discount) {
	d.Name = d.Name.With(in.Body.Name.Value)
	d.IsActive = in.Body.IsActive.OrValue(d.IsActive)
}

// CheckUpdate is the rest.Checks check for Update.
func (h *HTTP) CheckUpdate(ctx context.Context, in *updateInput) error {
	id, err := shape.ParseID(in.Discount)
	if err != nil {
		return err
	}
	return fault.Join(in.Body.check(), h.svc.CheckChange(ctx, id, in.change))
}

// Update handles PATCH /admin/discounts/{discount}.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Data[AdminDiscount], error) {
	id, err := shape.ParseID(in.Discount)
	if err == nil {
		err = in.Body.check()
	}
	if err != nil {
		return nil, err
	}
	d, err := h.svc.Update(ctx, id, in.change)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(d)), nil
}

// Delete handles DELETE /admin/discounts/{discount}.
func (h *HTTP) Delete(ctx context.Context, in *discountInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Discount)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Delete(ctx, id)
}

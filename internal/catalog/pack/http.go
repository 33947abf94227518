package pack

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers of packs.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, publicURL: strings.TrimSuffix(publicURL, "/")}
}

// AdminPack is the admin representation of a pack.
type AdminPack struct {
	ID               uuid.UUID                      `json:"id" format:"uuid"`
	Slug             string                         `json:"slug"`
	Translations     map[string]catalog.Translation `json:"translations"`
	FeatureCode      string                         `json:"feature_code" doc:"Code of the meter whose units the pack contains."`
	Amount           shape.Quantity                 `json:"amount" doc:"Number of units."`
	ExpiresAfterDays *int32                         `json:"expires_after_days" doc:"Days from the payment until the units expire. Null for never."`
	Prices           []PackPrice                    `json:"prices"`
	IsActive         bool                           `json:"is_active"`
	CreatedAt        shape.Time                     `json:"created_at"`
	UpdatedAt        shape.Time                     `json:"updated_at"`
}

// PublicPack is the public representation of a pack.
type PublicPack struct {
	ID               uuid.UUID      `json:"id" format:"uuid"`
	Slug             string         `json:"slug"`
	Name             string         `json:"name"`
	Description      *string        `json:"description"`
	FeatureCode      string         `json:"feature_code" doc:"Code of the meter whose units the pack contains."`
	Amount           shape.Quantity `json:"amount" doc:"Number of units."`
	ExpiresAfterDays *int32         `json:"expires_after_days" doc:"Days from the payment until the units expire. Null for never."`
	Prices           []PackPrice    `json:"prices"`
}

// PackPrice is the representation of a price.
type PackPrice struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Currency   string    `json:"currency"`
	PriceCents int64     `json:"price_cents" doc:"Price of one pack, in minor units of the currency."`
}

func viewPrices(prices []Price) []PackPrice {
	views := make([]PackPrice, len(prices))
	for i, p := range prices {
		views[i] = PackPrice(p)
	}
	return views
}

func adminPack(p Pack) AdminPack {
	return AdminPack{
		ID: p.ID, Slug: p.Slug, Translations: p.Name.Translations(p.Description), FeatureCode: p.FeatureCode,
		Amount: shape.Quantity{Quantity: p.Amount}, ExpiresAfterDays: p.ExpiresAfterDays, Prices: viewPrices(p.Prices),
		IsActive: p.IsActive, CreatedAt: shape.T(p.CreatedAt), UpdatedAt: shape.T(p.UpdatedAt),
	}
}

type noInput struct{}

// Public handles GET /catalog/packs.
func (h *HTTP) Public(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]PublicPack], error) {
	packs, err := h.svc.OnSale(ctx)
	if err != nil {
		return nil, err
	}
	locale, views := i18n.Locale(ctx), make([]PublicPack, len(packs))
	for i, p := range packs {
		views[i] = PublicPack{
			ID: p.ID, Slug: p.Slug, Name: p.Name.Localize(locale), FeatureCode: p.FeatureCode, Amount: shape.Quantity{Quantity: p.Amount},
			ExpiresAfterDays: p.ExpiresAfterDays, Prices: viewPrices(p.Prices),
		}
		if text := p.Description.Localize(locale); text != "" {
			views[i].Description = &text
		}
	}
	return rest.NewCachedAnswer(views, catalog.PublicMaxAge)
}

// List handles GET /admin/packs.
func (h *HTTP) List(ctx context.Context, _ *noInput) (*rest.Body[page.Page[AdminPack]], error) {
	q, err := List().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	packs, total, err := h.svc.Page(ctx, q)
	if err != nil {
		return nil, err
	}
	views := make([]AdminPack, len(packs))
	for i, p := range packs {
		views[i] = adminPack(p)
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/packs", views, total)), nil
}

type packInput struct {
	Pack string `path:"pack" format:"uuid"`
}

// Get handles GET /admin/packs/{pack}.
func (h *HTTP) Get(ctx context.Context, in *packInput) (*rest.Data[AdminPack], error) {
	id, err := shape.ParseID(in.Pack)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(adminPack(p)), nil
}

// Exists is the rest.Exists check for routes with {pack}.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("pack"))
	if err == nil {
		_, err = h.svc.Get(ctx, id)
	}
	return err
}

// packPriceFields is one price of a set in a request.
type packPriceFields struct {
	Currency   string `json:"currency" format:"currency" doc:"ISO 4217 code of an existing currency. Unique in the list."`
	PriceCents int64  `json:"price_cents" minimum:"1" maximum:"999999999999" doc:"Price of one pack, in minor units of the currency."`
}

func pricesOf(fields []packPriceFields) []Price {
	prices := make([]Price, len(fields))
	for i, f := range fields {
		prices[i] = Price{Currency: f.Currency, PriceCents: f.PriceCents}
	}
	return prices
}

type createInput struct {
	Body struct {
		Slug             string            `json:"slug" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name             shape.Texts       `json:"name" format:"name" maxLength:"255"`
		Description      shape.Texts       `json:"description,omitempty" nullable:"true" maxLength:"65535" format:"multiline"`
		FeatureCode      string            `json:"feature_code" minLength:"1" maxLength:"255" doc:"Code of a meter that adds up or counts its events."`
		Amount           shape.Quantity    `json:"amount" exclusiveMinimum:"0" doc:"Number of units, above 0, with at most six decimals."`
		ExpiresAfterDays *int32            `json:"expires_after_days,omitempty" nullable:"true" minimum:"1" maximum:"36500" doc:"Days from the payment until the units expire. Null for never."`
		Prices           []packPriceFields `json:"prices" minItems:"1" maxItems:"200"`
		IsActive         *bool             `json:"is_active,omitempty" default:"true"`
	}
}

func (in *createInput) pack() Pack {
	b := in.Body
	p := Pack{
		Slug: b.Slug, Name: catalog.Text(nil).With(b.Name), Description: catalog.Text(nil).With(b.Description), FeatureCode: b.FeatureCode,
		Amount: b.Amount.Quantity, ExpiresAfterDays: b.ExpiresAfterDays, IsActive: b.IsActive == nil || *b.IsActive,
	}
	p.SetPrices(pricesOf(b.Prices))
	return p
}

// CheckCreate is the rest.Checks check for Create.
func (h *HTTP) CheckCreate(ctx context.Context, in *createInput) error {
	return h.svc.Check(ctx, in.pack())
}

// Create handles POST /admin/packs.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[AdminPack], error) {
	p, err := h.svc.Create(ctx, in.pack())
	if err != nil {
		return nil, err
	}
	return rest.OK(adminPack(p)), nil
}

type updateInput struct {
	Pack string `path:"pack" format:"uuid"`
	Body struct {
		Slug             shape.Opt[string]            `json:"slug,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name             shape.Opt[shape.TextsChange] `json:"name,omitzero" format:"name" maxLength:"255" doc:"Display name by language. Other languages are not changed. Null removes a language; English cannot be removed."`
		Description      shape.Opt[shape.TextsChange] `json:"description,omitzero" nullable:"true" maxLength:"65535" format:"multiline" doc:"Description by language, in the same form as the name. Null removes the description."`
		FeatureCode      shape.Opt[string]            `json:"feature_code,omitzero" minLength:"1" maxLength:"255" doc:"Code of a meter that adds up or counts its events."`
		Amount           shape.Opt[shape.Quantity]    `json:"amount,omitzero" exclusiveMinimum:"0" doc:"Number of units, above 0, with at most six decimals."`
		ExpiresAfterDays shape.Opt[int32]             `json:"expires_after_days,omitzero" nullable:"true" minimum:"1" maximum:"36500" doc:"Days from the payment until the units expire. Null for never."`
		Prices           *[]packPriceFields           `json:"prices,omitempty" minItems:"1" maxItems:"200" doc:"Prices. Replaces all existing prices."`
		IsActive         shape.Opt[bool]              `json:"is_active,omitzero"`
	}
}

func (in *updateInput) change(p *Pack) {
	b := &in.Body
	p.Slug, p.FeatureCode = b.Slug.OrValue(p.Slug), b.FeatureCode.OrValue(p.FeatureCode)
	p.Name = p.Name.With(b.Name.Value)
	if b.Description.Null {
		p.Description = nil
	} else {
		p.Description = p.Description.With(b.Description.Value)
	}
	p.Amount = b.Amount.OrValue(shape.Quantity{Quantity: p.Amount}).Quantity
	p.ExpiresAfterDays = b.ExpiresAfterDays.Or(p.ExpiresAfterDays)
	if b.Prices != nil {
		p.SetPrices(pricesOf(*b.Prices))
	}
	p.IsActive = b.IsActive.OrValue(p.IsActive)
}

// CheckUpdate is the rest.Checks check for Update.
func (h *HTTP) CheckUpdate(ctx context.Context, in *updateInput) error {
	id, err := shape.ParseID(in.Pack)
	if err != nil {
		return err
	}
	return h.svc.CheckChange(ctx, id, in.change)
}

// Update handles PATCH /admin/packs/{pack}.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Data[AdminPack], error) {
	id, err := shape.ParseID(in.Pack)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.Update(ctx, id, in.change)
	if err != nil {
		return nil, err
	}
	return rest.OK(adminPack(p)), nil
}

// Delete handles DELETE /admin/packs/{pack}.
func (h *HTTP) Delete(ctx context.Context, in *packInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Pack)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Delete(ctx, id)
}

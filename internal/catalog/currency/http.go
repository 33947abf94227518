package currency

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the admin handlers of currencies (rules: catalog#currencies).
type HTTP struct {
	svc     *Service
	catalog *catalog.Service
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc, catalog: svc.catalog} }

// AdminCurrency is the admin representation of a currency.
type AdminCurrency struct {
	Code       string `json:"code"`
	Name       string `json:"name"`
	Symbol     string `json:"symbol"`
	MinorUnits int32  `json:"minor_units"`
	IsActive   bool   `json:"is_active"`
}

type noInput struct{}

// List handles GET /admin/currencies.
func (h *HTTP) List(ctx context.Context, _ *noInput) (*rest.Data[[]AdminCurrency], error) {
	currencies, err := h.catalog.Currencies(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]AdminCurrency, len(currencies))
	for i, c := range currencies {
		views[i] = AdminCurrency(c)
	}
	return rest.OK(views), nil
}

// ListAddable handles GET /admin/currencies/catalog.
func (h *HTTP) ListAddable(ctx context.Context, _ *noInput) (*rest.Data[[]catalog.PublicCurrency], error) {
	currencies, err := h.svc.ListAddable(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]catalog.PublicCurrency, len(currencies))
	for i, c := range currencies {
		views[i] = c.Public()
	}
	return rest.OK(views), nil
}

type createInput struct {
	Body struct {
		Code       string `json:"code" minLength:"3" maxLength:"3" pattern:"^[A-Za-z]{3}$" doc:"Three-letter code. Not case-sensitive."`
		Name       string `json:"name" format:"name" minLength:"1" maxLength:"100"`
		Symbol     string `json:"symbol" format:"name" minLength:"1" maxLength:"10"`
		MinorUnits int32  `json:"minor_units" enum:"0,2,3" doc:"Number of decimal places of an amount."`
		IsActive   *bool  `json:"is_active,omitempty" default:"true"`
	}
}

// Create handles POST /admin/currencies.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[AdminCurrency], error) {
	b := in.Body
	c := catalog.Currency{
		Code: strings.ToUpper(b.Code), Name: b.Name, Symbol: b.Symbol, MinorUnits: b.MinorUnits,
		IsActive: b.IsActive == nil || *b.IsActive,
	}
	if err := h.svc.Create(ctx, c); err != nil {
		return nil, err
	}
	return rest.OK(AdminCurrency(c)), nil
}

// CheckCreate is the rest.Checks check for Create.
func (h *HTTP) CheckCreate(ctx context.Context, in *createInput) error {
	exists, err := h.catalog.CurrencyExists(ctx, strings.ToUpper(in.Body.Code))
	if err == nil && exists {
		err = errTaken
	}
	return err
}

type addInput struct {
	Body struct {
		// The maximum is large enough for all of ISO 4217.
		Codes []string `json:"codes" minItems:"1" maxItems:"500" doc:"ISO 4217 codes. Not case-sensitive."`
	}
}

// AddListed handles POST /admin/currencies/bulk.
func (h *HTTP) AddListed(ctx context.Context, in *addInput) (*rest.Body[AddedCurrencies], error) {
	added, err := h.svc.AddListed(ctx, in.Body.Codes)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(added), nil
}

type pathInput struct {
	Currency string `path:"currency" doc:"Code of the currency. Not case-sensitive."`
}

type updateInput struct {
	Currency string `path:"currency" doc:"Code of the currency. Not case-sensitive."`
	Body     struct {
		Name       shape.Opt[string] `json:"name,omitzero" format:"name" minLength:"1" maxLength:"100"`
		Symbol     shape.Opt[string] `json:"symbol,omitzero" format:"name" minLength:"1" maxLength:"10"`
		MinorUnits shape.Opt[int32]  `json:"minor_units,omitzero" enum:"0,2,3" doc:"Number of decimal places. Cannot be changed while amounts in the currency exist."`
		IsActive   shape.Opt[bool]   `json:"is_active,omitzero"`
	}
}

// Update handles PATCH /admin/currencies/{currency}.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Data[AdminCurrency], error) {
	b := in.Body
	c, err := h.svc.Update(ctx, strings.ToUpper(in.Currency), func(c catalog.Currency) catalog.Currency {
		c.Name, c.Symbol = b.Name.OrValue(c.Name), b.Symbol.OrValue(c.Symbol)
		c.MinorUnits, c.IsActive = b.MinorUnits.OrValue(c.MinorUnits), b.IsActive.OrValue(c.IsActive)
		return c
	})
	if err != nil {
		return nil, err
	}
	return rest.OK(AdminCurrency(c)), nil
}

// Delete handles DELETE /admin/currencies/{currency}.
func (h *HTTP) Delete(ctx context.Context, in *pathInput) (*rest.NoBody, error) {
	return nil, h.svc.Delete(ctx, strings.ToUpper(in.Currency))
}

// Exists is the rest.Exists check for routes with {currency}: an unknown currency is a 404 before
// the body is validated.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	_, err := h.catalog.Currency(ctx, strings.ToUpper(param("currency")))
	return err
}

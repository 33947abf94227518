package catalog

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/rest"
)

// AdminCurrency is a currency as the administration sees it (spec: Currency).
type AdminCurrency struct {
	Code       string `json:"code"`
	Name       string `json:"name"`
	Symbol     string `json:"symbol"`
	MinorUnits int32  `json:"minor_units"`
	IsActive   bool   `json:"is_active"`
}

func adminCurrency(c Currency) AdminCurrency { return AdminCurrency(c) }

func publicCurrency(c Currency) PublicCurrency {
	return PublicCurrency{Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits}
}

// AdminCurrencies answers GET /admin/currencies.
func (h *HTTP) AdminCurrencies(ctx context.Context, _ *noInput) (*rest.Data[[]AdminCurrency], error) {
	currencies, err := h.svc.Currencies(ctx)
	if err != nil {
		return nil, err
	}
	return rest.List(all(currencies, adminCurrency)), nil
}

// CurrencyCatalog answers GET /admin/currencies/catalog.
func (h *HTTP) CurrencyCatalog(ctx context.Context, _ *noInput) (*rest.Data[[]PublicCurrency], error) {
	currencies, err := h.svc.CurrencyCatalog(ctx)
	if err != nil {
		return nil, err
	}
	return rest.List(all(currencies, publicCurrency)), nil
}

type createCurrencyInput struct {
	Body struct {
		Code       string `json:"code" minLength:"3" maxLength:"3" pattern:"^[A-Za-z]{3}$" doc:"Three letters, in either case."`
		Name       string `json:"name" minLength:"1" maxLength:"100"`
		Symbol     string `json:"symbol" minLength:"1" maxLength:"10"`
		MinorUnits int32  `json:"minor_units" enum:"0,2,3" doc:"How many decimals an amount has."`
		IsActive   *bool  `json:"is_active,omitempty" default:"true"`
	}
}

// CreateCurrency answers POST /admin/currencies.
func (h *HTTP) CreateCurrency(ctx context.Context, in *createCurrencyInput) (*rest.Data[AdminCurrency], error) {
	b := in.Body
	c := Currency{
		Code: strings.ToUpper(b.Code), Name: b.Name, Symbol: b.Symbol, MinorUnits: b.MinorUnits, IsActive: active(b.IsActive),
	}
	if err := h.svc.CreateCurrency(ctx, c); err != nil {
		return nil, err
	}
	return rest.OK(adminCurrency(c)), nil
}

type addCurrenciesInput struct {
	Body struct {
		// All of ISO 4217 fit, with room.
		Codes []string `json:"codes" minItems:"1" maxItems:"500" doc:"Codes of ISO 4217, in either case."`
	}
}

// AddCurrencies answers POST /admin/currencies/bulk.
func (h *HTTP) AddCurrencies(ctx context.Context, in *addCurrenciesInput) (*rest.Plain[AddedCurrencies], error) {
	added, err := h.svc.AddCurrencies(ctx, in.Body.Codes)
	if err != nil {
		return nil, err
	}
	return rest.Bare(added), nil
}

type currencyInput struct {
	Currency string `path:"currency" doc:"The code, in either case."`
}

type updateCurrencyInput struct {
	Currency string `path:"currency" doc:"The code, in either case."`
	Body     struct {
		Name       rest.Opt[string] `json:"name,omitzero" minLength:"1" maxLength:"100"`
		Symbol     rest.Opt[string] `json:"symbol,omitzero" minLength:"1" maxLength:"10"`
		MinorUnits rest.Opt[int32]  `json:"minor_units,omitzero" enum:"0,2,3" doc:"Stays while amounts are kept in the currency."`
		IsActive   rest.Opt[bool]   `json:"is_active,omitzero"`
	}
}

// UpdateCurrency answers PATCH /admin/currencies/{currency}.
func (h *HTTP) UpdateCurrency(ctx context.Context, in *updateCurrencyInput) (*rest.Data[AdminCurrency], error) {
	b := in.Body
	c, err := h.svc.UpdateCurrency(ctx, strings.ToUpper(in.Currency), func(c Currency) Currency {
		c.Name, c.Symbol = b.Name.OrValue(c.Name), b.Symbol.OrValue(c.Symbol)
		c.MinorUnits, c.IsActive = b.MinorUnits.OrValue(c.MinorUnits), b.IsActive.OrValue(c.IsActive)
		return c
	})
	if err != nil {
		return nil, err
	}
	return rest.OK(adminCurrency(c)), nil
}

// DeleteCurrency answers DELETE /admin/currencies/{currency}.
func (h *HTTP) DeleteCurrency(ctx context.Context, in *currencyInput) (*rest.Empty, error) {
	return nil, h.svc.DeleteCurrency(ctx, strings.ToUpper(in.Currency))
}

// CurrencyKnown is the check behind rest.Exists for routes with {currency}: 404
// before anything is said of the body.
func (h *HTTP) CurrencyKnown(ctx context.Context, param func(string) string) error {
	_, err := h.svc.Currency(ctx, strings.ToUpper(param("currency")))
	return err
}

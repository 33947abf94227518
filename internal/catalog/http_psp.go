package catalog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// PSPHTTP has the handlers of the administration of prices at the payment
// provider (spec: Payment-provider price management).
type PSPHTTP struct {
	prices   *PSPPrices
	messages *i18n.Catalog
}

// NewPSPHTTP returns the handlers; messages are what a status is explained with.
func NewPSPHTTP(prices *PSPPrices, messages *i18n.Catalog) *PSPHTTP {
	return &PSPHTTP{prices: prices, messages: messages}
}

type unlinkPSPPriceInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
}

// parseIDs reads the ids of a plan and of a price of it.
func parseIDs(planID, priceID string) (plan, price uuid.UUID, err error) {
	if plan, err = rest.ParseID(planID); err != nil {
		return plan, price, err
	}
	price, err = rest.ParseID(priceID)
	return plan, price, err
}

// PriceExists is the check behind rest.Exists for routes with {plan} and {price}:
// 404 before anything is said of the body.
func (h *PSPHTTP) PriceExists(ctx context.Context, param func(string) string) error {
	plan, price, err := parseIDs(param("plan"), param("price"))
	if err != nil {
		return err
	}
	_, _, err = h.prices.Find(ctx, plan, price)
	return err
}

type createPSPPriceInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
	Body  struct {
		ProductID string `json:"product_id" minLength:"1" maxLength:"255" doc:"A product of the payment provider (prod_…), or the id of the plan's product here, whose counterpart is made if there is none."`
		Nickname  string `json:"nickname,omitempty" maxLength:"255" doc:"An internal name at the payment provider; the plan's slug when omitted."`
	}
}

// Create answers POST …/prices/{price}/psp-create.
func (h *PSPHTTP) Create(ctx context.Context, in *createPSPPriceInput) (*rest.Data[AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return answerPrice(h.prices.Create(ctx, plan, price, CreateParams{Product: in.Body.ProductID, Nickname: in.Body.Nickname}))
}

func answerPrice(p Price, err error) (*rest.Data[AdminPrice], error) {
	if err != nil {
		return nil, err
	}
	return rest.OK(adminPrice(p)), nil
}

// pspPriceBody names a price of the provider.
type pspPriceBody struct {
	PSPPriceID string `json:"psp_price_id" minLength:"1" maxLength:"255" pattern:"^price_[A-Za-z0-9_]+$"`
}

type linkPSPPriceInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
	Body  pspPriceBody
}

// Link answers POST …/prices/{price}/psp-link.
func (h *PSPHTTP) Link(ctx context.Context, in *linkPSPPriceInput) (*rest.Data[AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return answerPrice(h.prices.Link(ctx, plan, price, in.Body.PSPPriceID))
}

// Unlink answers POST …/prices/{price}/psp-unlink.
func (h *PSPHTTP) Unlink(ctx context.Context, in *unlinkPSPPriceInput) (*rest.Data[AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return answerPrice(h.prices.Unlink(ctx, plan, price))
}

type importPSPPriceInput struct {
	Plan string `path:"plan" format:"uuid"`
	Body pspPriceBody
}

// Import answers POST …/prices/psp-import.
func (h *PSPHTTP) Import(ctx context.Context, in *importPSPPriceInput) (*rest.Data[AdminPrice], error) {
	plan, err := rest.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	return answerPrice(h.prices.Import(ctx, plan, in.Body.PSPPriceID))
}

// AdminPriceStatus is how a price agrees with the provider's.
type AdminPriceStatus struct {
	PriceID    uuid.UUID `json:"price_id" format:"uuid"`
	Currency   string    `json:"currency"`
	PSPPriceID *string   `json:"psp_price_id"`
	Status     string    `json:"status" enum:"linked,missing,mismatch,stripe_missing,inactive,error"`
	Message    *string   `json:"message" doc:"What is wrong, for a reader; null when linked."`
}

// Statuses answers GET …/psp-price-status.
func (h *PSPHTTP) Statuses(ctx context.Context, in *planInput) (*rest.Data[[]AdminPriceStatus], error) {
	plan, err := rest.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	statuses, err := h.prices.Statuses(ctx, plan)
	if err != nil {
		return nil, err
	}
	return rest.List(all(statuses, func(s PriceStatus) AdminPriceStatus {
		return AdminPriceStatus{
			PriceID: s.Price.ID, Currency: s.Price.Currency, PSPPriceID: s.Price.PSPPriceID,
			Status: string(s.Status), Message: h.explain(ctx, s),
		}
	})), nil
}

// explain tells in the reader's language what is wrong, nil if nothing is.
func (h *PSPHTTP) explain(ctx context.Context, s PriceStatus) *string {
	if s.Status == PSPLinked {
		return nil
	}
	fields := all(s.Differences, func(d Difference) string { return d.Field })
	text := h.messages.Text(i18n.Locale(ctx), "psp_price."+string(s.Status), map[string]any{"fields": strings.Join(fields, ", ")})
	return &text
}

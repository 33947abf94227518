package pricelink

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the admin handlers for prices at the payment provider (rules: catalog#provider-prices).
type HTTP struct {
	prices   *Service
	messages *i18n.Catalog
}

// NewHTTP returns the handlers. messages has the texts that explain a status.
func NewHTTP(prices *Service, messages *i18n.Catalog) *HTTP {
	return &HTTP{prices: prices, messages: messages}
}

type unlinkInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
}

// parseIDs parses the IDs of a plan and of one of its prices.
func parseIDs(planID, priceID string) (plan, price uuid.UUID, err error) {
	if plan, err = shape.ParseID(planID); err != nil {
		return plan, price, err
	}
	price, err = shape.ParseID(priceID)
	return plan, price, err
}

// PriceExists is the rest.Exists check for routes with {plan} and {price}: an unknown price is a
// 404 before the body is validated.
func (h *HTTP) PriceExists(ctx context.Context, param func(string) string) error {
	plan, price, err := parseIDs(param("plan"), param("price"))
	if err != nil {
		return err
	}
	_, _, err = h.prices.Find(ctx, plan, price)
	return err
}

type createInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
	Body  struct {
		ProductID string `json:"product_id" minLength:"1" maxLength:"255" doc:"ID of a product at the payment provider (prod_…), or ID of the plan's product. In the second case, the product is created at the payment provider if it does not exist."`
		Nickname  string `json:"nickname,omitempty" format:"name" maxLength:"255" doc:"Internal name of the price at the payment provider. Default: the slug of the plan."`
	}
}

// Create handles POST …/prices/{price}/psp-create.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[catalog.AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return newPriceResponse(h.prices.Create(ctx, plan, price, CreateParams{Product: in.Body.ProductID, Nickname: in.Body.Nickname}))
}

func newPriceResponse(p catalog.Price, err error) (*rest.Data[catalog.AdminPrice], error) {
	if err != nil {
		return nil, err
	}
	return rest.OK(p.Admin()), nil
}

// pspPriceBody is a request body with a provider price ID.
type pspPriceBody struct {
	PSPPriceID string `json:"psp_price_id" minLength:"1" maxLength:"255" pattern:"^price_[A-Za-z0-9_]+$"`
}

type linkInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
	Body  pspPriceBody
}

// Link handles POST …/prices/{price}/psp-link.
func (h *HTTP) Link(ctx context.Context, in *linkInput) (*rest.Data[catalog.AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return newPriceResponse(h.prices.Link(ctx, plan, price, in.Body.PSPPriceID))
}

// Unlink handles POST …/prices/{price}/psp-unlink.
func (h *HTTP) Unlink(ctx context.Context, in *unlinkInput) (*rest.Data[catalog.AdminPrice], error) {
	plan, price, err := parseIDs(in.Plan, in.Price)
	if err != nil {
		return nil, err
	}
	return newPriceResponse(h.prices.Unlink(ctx, plan, price))
}

type importInput struct {
	Plan string `path:"plan" format:"uuid"`
	Body pspPriceBody
}

// Import handles POST …/prices/psp-import.
func (h *HTTP) Import(ctx context.Context, in *importInput) (*rest.Data[catalog.AdminPrice], error) {
	plan, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	return newPriceResponse(h.prices.Import(ctx, plan, in.Body.PSPPriceID))
}

// AdminPriceStatus is the sync status of a price with the provider's price.
type AdminPriceStatus struct {
	PriceID    uuid.UUID     `json:"price_id" format:"uuid"`
	Currency   string        `json:"currency"`
	PSPPriceID *string       `json:"psp_price_id"`
	Status     string        `json:"status" enum:"linked,missing,mismatch,stripe_missing,inactive,error"`
	Message    *string       `json:"message" doc:"Description of the problem. Null if the price is linked."`
	Warning    *string       `json:"warning" doc:"Reason why a linked price still cannot be sold: it is below the payment provider's minimum, its currency is not supported, or the plan bills too many meters. Null otherwise."`
	Meters     []MeterSwitch `json:"meters" nullable:"false" doc:"Billed meters of a usage-based plan, with the progress of moving existing subscriptions to new prices. Empty for other plans."`
}

// MeterSwitch is the progress of moving running subscriptions to the current price of a meter.
type MeterSwitch struct {
	MeterCode  string      `json:"meter_code"`
	PSPPriceID *string     `json:"psp_price_id" doc:"ID of the meter's current price at the payment provider. Null if the meter is not billed."`
	Pending    int64       `json:"pending_subscriptions" doc:"Number of subscriptions that change to the current price in their next period."`
	NextAt     *shape.Time `json:"next_switch_at" doc:"Time of the next of these changes, in UTC. Null if no change is pending."`
}

type planInput struct {
	Plan string `path:"plan" format:"uuid"`
}

// Statuses handles GET …/psp-price-status.
func (h *HTTP) Statuses(ctx context.Context, in *planInput) (*rest.Data[[]AdminPriceStatus], error) {
	plan, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	statuses, err := h.prices.Statuses(ctx, plan)
	if err != nil {
		return nil, err
	}
	views := make([]AdminPriceStatus, len(statuses))
	for i, s := range statuses {
		views[i] = AdminPriceStatus{
			PriceID: s.Price.ID, Currency: s.Price.Currency, PSPPriceID: s.Price.PSPPriceID,
			Status: string(s.Status), Message: h.explain(ctx, s), Warning: h.warningText(ctx, s), Meters: switchViews(s.Meters),
		}
	}
	return rest.OK(views), nil
}

func switchViews(switches []Switch) []MeterSwitch {
	views := make([]MeterSwitch, len(switches))
	for i, sw := range switches {
		views[i] = MeterSwitch{MeterCode: sw.MeterCode, Pending: sw.Pending}
		if sw.PSPPriceID != "" {
			views[i].PSPPriceID = &sw.PSPPriceID
		}
		if !sw.Next.IsZero() {
			next := shape.Time(sw.Next)
			views[i].NextAt = &next
		}
	}
	return views
}

// explain returns the explanation of a status in the caller's language, or nil for StatusLinked.
func (h *HTTP) explain(ctx context.Context, s PriceStatus) *string {
	if s.Status == StatusLinked {
		return nil
	}
	fields := make([]string, len(s.Mismatches))
	for i, m := range s.Mismatches {
		fields[i] = h.messages.Text(i18n.Locale(ctx), "psp_price.field."+m.Field, nil)
	}
	text := h.messages.Text(i18n.Locale(ctx), "psp_price."+string(s.Status), map[string]any{"fields": strings.Join(fields, ", ")})
	return &text
}

// warningText returns the warning about a price in the caller's language, or nil.
func (h *HTTP) warningText(ctx context.Context, s PriceStatus) *string {
	if s.Warning == "" {
		return nil
	}
	text := h.messages.Text(i18n.Locale(ctx), "psp_price."+string(s.Warning), map[string]any{"minimum": s.Minimum, "currency": s.Price.Currency})
	return &text
}

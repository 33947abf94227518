package discounts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// All are the discounts of all subscriptions.
var All = kernel.Kind[Discount]{Name: "discount", Prefix: "di", Label: "discount"}

// Discount is the application of a coupon to a subscription.
type Discount struct {
	ID               string    `json:"id"`
	Object           string    `json:"object"`
	CheckoutSession  *string   `json:"checkout_session"`
	Customer         string    `json:"customer"`
	CustomerAccount  form.Null `json:"customer_account"`
	End              *int64    `json:"end"`
	Invoice          form.Null `json:"invoice"`
	InvoiceItem      form.Null `json:"invoice_item"`
	PromotionCode    *string   `json:"promotion_code"`
	Source           source    `json:"source"`
	Start            int64     `json:"start"`
	Subscription     *string   `json:"subscription"`
	SubscriptionItem form.Null `json:"subscription_item"`
}

// Head implements kernel.Object.
func (d Discount) Head() kernel.Header {
	return kernel.Header{ID: d.ID, Object: d.Object, Created: d.Start}
}

// IDs are the IDs of discounts.
type IDs []string

// MarshalJSON writes an empty list for nil.
func (ids IDs) MarshalJSON() ([]byte, error) {
	if ids == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(ids)) //nolint:wrapcheck // cannot fail
}

// Amounts are the parts of a discount on a line or an invoice.
type Amounts []Amount

// MarshalJSON writes an empty list for nil.
func (a Amounts) MarshalJSON() ([]byte, error) {
	if a == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Amount(a)) //nolint:wrapcheck // cannot fail
}

// Sum returns the sum of the amounts.
func (a Amounts) Sum() (sum int64) {
	for _, part := range a {
		sum += part.Amount
	}
	return sum
}

// Amount is the part of a discount on a line or an invoice.
type Amount struct {
	Amount   int64  `json:"amount"`
	Discount string `json:"discount"`
}

// ActiveDiscount is a discount with its coupon.
type ActiveDiscount struct {
	Discount Discount
	Coupon   Coupon
	code     *PromotionCode
	isNew    bool
}

// AppliesAt reports whether the discount applies to a period that begins at the time at.
func (a *ActiveDiscount) AppliesAt(at int64) bool {
	return a != nil && (a.Discount.End == nil || at < *a.Discount.End)
}

// Load returns the discount with the id.
func Load(ctx context.Context, q kernel.Querier, id string) (*ActiveDiscount, error) {
	d, err := All.Get(ctx, q, id, "discounts")
	if err != nil {
		return nil, err
	}
	co, err := Coupons.Get(ctx, q, d.Source.Coupon, "coupon")
	if err != nil {
		return nil, err
	}
	return &ActiveDiscount{Discount: *d, Coupon: *co}, nil
}

// DiscountChoice is the parameter discounts of a request. The sandbox supports one discount. It is also the
// form in which a checkout session stores its discount.
type DiscountChoice struct {
	Coupon        *string `json:"coupon"`
	PromotionCode *string `json:"promotion_code"`

	existing *string
	given    bool
	params   *form.Params
}

// IsGiven reports whether the request has the parameter. An empty value removes the discount.
func (w *DiscountChoice) IsGiven() bool { return w.given }

// IsEmpty reports whether the request names no discount.
func (w *DiscountChoice) IsEmpty() bool {
	return w.Coupon == nil && w.PromotionCode == nil && w.existing == nil
}

// Read reads the parameter discounts. If reuse is true, the request can name an existing discount.
func Read(p *form.Params, reuse bool) DiscountChoice {
	w := DiscountChoice{given: p.Has("discounts"), params: p}
	if p.IsCleared("discounts") {
		p.ReadClearable("discounts", new(*string))
		return w
	}
	given := p.List("discounts")
	if len(given) > 1 {
		p.Fail("discounts", "", "The sandbox supports one discount.")
	}
	for _, g := range given {
		w.params = g
		g.ReadClearable("coupon", &w.Coupon)
		g.ReadClearable("promotion_code", &w.PromotionCode)
		if reuse {
			g.ReadClearable("discount", &w.existing)
		}
		n := 0
		for _, id := range []*string{w.Coupon, w.PromotionCode, w.existing} {
			if id != nil {
				n++
			}
		}
		if n != 1 {
			p.Fail("discounts", "", "You must pass exactly one of coupon, discount or promotion_code.")
		}
	}
	return w
}

// Buyer is the context in which a discount is redeemed.
type Buyer struct {
	Customer, Currency string
	// Amount is the amount to pay without the discount.
	Amount int64
	// Present is the discount that the subscription already has, or nil.
	Present *ActiveDiscount
}

// Resolve returns the discount that a request names, or nil if the request names no discount. It
// refuses coupons and codes that the buyer cannot redeem. It stores nothing: see Redeem.
func (w DiscountChoice) Resolve(ctx context.Context, st *kernel.Step, b Buyer) (*ActiveDiscount, error) {
	switch {
	case w.existing != nil:
		if b.Present == nil || b.Present.Discount.ID != *w.existing {
			return nil, form.NewMissing(All.Label, *w.existing, w.params.Name("discount"))
		}
		return b.Present, nil
	case w.IsEmpty():
		return nil, nil //nolint:nilnil // a request without a discount
	}
	param := w.name("coupon")
	if w.Coupon == nil {
		param = w.name("promotion_code")
	}
	a, err := w.find(ctx, st, b.Customer, param)
	if err != nil {
		return nil, err
	}
	if a.code != nil {
		if err := a.code.check(ctx, st, b, param); err != nil {
			return nil, err
		}
	}
	if !a.Coupon.isValid(st.Now) {
		return nil, form.Refuse(param, "coupon_expired", "Coupon expired: %s", a.Coupon.ID)
	}
	if _, ok := a.Coupon.amountIn(b.Currency); a.Coupon.AmountOff != nil && !ok {
		return nil, form.Refuse(param, "", "The coupon %s cannot be applied: its amounts do not include the currency %s.", a.Coupon.ID, b.Currency)
	}
	return a, nil
}

// Accept returns the discount of a checkout session that is being completed.
func (w DiscountChoice) Accept(ctx context.Context, st *kernel.Step, customer string) (*ActiveDiscount, error) {
	return w.find(ctx, st, customer, "discounts")
}

// find returns a new discount of the coupon or the promotion code.
func (w DiscountChoice) find(ctx context.Context, st *kernel.Step, customer, param string) (*ActiveDiscount, error) {
	a := &ActiveDiscount{isNew: true, Discount: Discount{
		ID: form.NewID(All.Prefix), Object: All.Name, Customer: customer, Source: source{Type: "coupon"}, Start: st.Now,
	}}
	var id string
	if w.Coupon != nil {
		id = *w.Coupon
	} else {
		pc, err := Codes.Get(ctx, st.Q, *w.PromotionCode, param)
		if err != nil {
			return nil, err
		}
		a.code, a.Discount.PromotionCode, id = pc, &pc.ID, pc.Promotion.Coupon
	}
	co, err := Coupons.Get(ctx, st.Q, id, param)
	if err != nil {
		return nil, err
	}
	a.Coupon, a.Discount.Source.Coupon = *co, co.ID
	if co.Duration == Repeating {
		end := addMonths(st.Now, *co.DurationInMonths)
		a.Discount.End = &end
	}
	return a, nil
}

// name returns the full name of a parameter, or only the key for a stored request.
func (w DiscountChoice) name(key string) string {
	if w.params == nil {
		return key
	}
	return w.params.Name(key)
}

// check refuses a promotion code that the buyer cannot redeem.
func (pc *PromotionCode) check(ctx context.Context, st *kernel.Step, b Buyer, param string) error {
	active, err := pc.isActive(ctx, st)
	low, paid := pc.Restrictions.MinimumAmount, false
	if err == nil && pc.Restrictions.FirstTimeTransaction {
		err = st.Q.QueryRowContext(ctx, `SELECT EXISTS (
			SELECT 1 FROM stripe_objects
			WHERE kind = 'invoice' AND doc ->> '$.customer' = ? AND doc ->> '$.status' = 'paid' AND doc ->> '$.amount_paid' > 0
		)`, b.Customer).Scan(&paid)
	}
	switch {
	case err != nil:
		return fmt.Errorf("check promotion code: %w", err)
	case !active:
		return form.Refuse(param, "promotion_code_expired", "This promotion code has expired, is inactive or was redeemed too often: %s", pc.Code)
	case pc.Customer != nil && *pc.Customer != b.Customer:
		return form.Refuse(param, "customer_not_allowed", "This promotion code cannot be redeemed by the customer %s.", b.Customer)
	case paid:
		return form.Refuse(param, "", "This promotion code cannot be redeemed because the associated customer has prior transactions.")
	case low != nil && (*pc.Restrictions.MinimumAmountCurrency != b.Currency || b.Amount < *low):
		return form.Refuse(param, "", "This promotion code cannot be redeemed because the amount is below the minimum of %s.",
			form.FormatAmount(*low, *pc.Restrictions.MinimumAmountCurrency))
	}
	return nil
}

// Redeem stores a new discount of a subscription and counts it on the coupon and the code. It does
// nothing for a discount that the subscription already has.
func (a *ActiveDiscount) Redeem(ctx context.Context, st *kernel.Step, subscription string) error {
	if a == nil || !a.isNew {
		return nil
	}
	a.isNew, a.Discount.Subscription = false, &subscription
	a.Coupon.TimesRedeemed++
	if err := kernel.Put(ctx, st.Q, a.Coupon); err != nil {
		return err
	}
	if a.code != nil {
		a.code.TimesRedeemed++
		if err := kernel.Put(ctx, st.Q, *a.code); err != nil {
			return err
		}
	}
	return st.Create(ctx, "customer.discount.created", a.Discount)
}

// Remove emits the event about a discount that a subscription no longer has.
func (a *ActiveDiscount) Remove(ctx context.Context, st *kernel.Step) error {
	return st.Emit(ctx, "customer.discount.deleted", a.Discount, nil)
}

// addMonths returns the time months later. If that month is too short, it uses the last day of the
// month.
func addMonths(at, months int64) int64 {
	t := time.Unix(at, 0).UTC()
	next := t.AddDate(0, int(months), 0)
	if next.Day() != t.Day() {
		next = next.AddDate(0, 0, -next.Day())
	}
	return next.Unix()
}

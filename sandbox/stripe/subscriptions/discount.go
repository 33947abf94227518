package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerDiscountEnds fires at the end of a repeating discount. Timers with the same time fire in the
// order of their names, so the discount ends before a renewal at that time.
const timerDiscountEnds = "subscription.discount_ends"

// loadDiscount loads the discount of the subscription, if it has one.
func (sub *Subscription) loadDiscount(ctx context.Context, st *kernel.Step) (err error) {
	if sub.off == nil && len(sub.Discounts) > 0 {
		sub.off, err = discounts.Load(ctx, st.Q, sub.Discounts[0])
	}
	return err
}

// setDiscount sets the discount that a request names.
func (sub *Subscription) setDiscount(ctx context.Context, st *kernel.Step, w discounts.DiscountChoice, cu *customers.Customer) error {
	if !w.IsGiven() {
		return nil
	}
	if err := sub.loadDiscount(ctx, st); err != nil {
		return err
	}
	b := discounts.Buyer{Customer: cu.ID, Currency: sub.Currency, Present: sub.off}
	for _, item := range sub.Items.Data {
		b.Amount += item.amount()
	}
	a, err := w.Resolve(ctx, st, b)
	if err != nil {
		return err
	}
	sub.off, sub.Discounts = a, nil
	if a != nil {
		sub.Discounts = discounts.IDs{a.Discount.ID}
	}
	return nil
}

// storeDiscount stores a discount that a request has set, and emits the event about the removal of
// the previous discount.
func (sub *Subscription) storeDiscount(ctx context.Context, st *kernel.Step, before *Subscription) error {
	if was := before.off; was != nil && (sub.off == nil || sub.off.Discount.ID != was.Discount.ID) {
		if err := was.Remove(ctx, st); err != nil {
			return err
		}
	}
	return sub.off.Redeem(ctx, st, sub.ID)
}

// Redeem gives a new subscription the discount of a checkout session. The restrictions were checked
// when the session was created.
func (sub *Subscription) Redeem(ctx context.Context, st *kernel.Step, w discounts.DiscountChoice) error {
	a, err := w.Accept(ctx, st, sub.Customer)
	if err != nil {
		return err
	}
	sub.off, sub.Discounts = a, discounts.IDs{a.Discount.ID}
	return a.Redeem(ctx, st, sub.ID)
}

// changeDiscount sets and stores the discount that an update names.
func (sub *Subscription) changeDiscount(ctx context.Context, st *kernel.Step, before *Subscription, w discounts.DiscountChoice) error {
	if err := before.loadDiscount(ctx, st); err != nil || !w.IsGiven() {
		return err
	}
	cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
	if err != nil {
		return err
	}
	if sub.IsEnded() {
		return form.Refuse("discounts", "", "A canceled subscription can only update its cancellation_details and metadata.")
	}
	if err := sub.setDiscount(ctx, st, w, cu); err != nil {
		return err
	}
	return sub.storeDiscount(ctx, st, before)
}

// useDiscount records the discount of an invoice that is being issued. A discount with the duration
// once ends with the subscription's next invoice, whatever its amount: Stripe does not document that
// an invoice of 0 is skipped.
func (sub *Subscription) useDiscount(ctx context.Context, st *kernel.Step, in *invoices.Invoice, at int64) error {
	off := map[string]int64{}
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		if id := line.SubscriptionItem(); id != "" {
			off[id] = line.DiscountAmounts.Sum()
		}
	}
	if err := storeBilledOff(ctx, st, off); err != nil || sub.off == nil {
		return err
	}
	if sub.off.AppliesAt(at) && sub.off.Coupon.Duration != discounts.Once {
		return nil
	}
	return sub.endDiscount(ctx, st)
}

// endDiscount removes the discount of the subscription. The caller stores the subscription.
func (sub *Subscription) endDiscount(ctx context.Context, st *kernel.Step) error {
	ended := sub.off
	sub.off, sub.Discounts = nil, nil
	return ended.Remove(ctx, st)
}

// discountEnds removes a repeating discount at its end.
func discountEnds(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || len(sub.Discounts) == 0 {
		return err
	}
	before := sub.Clone()
	if err := sub.loadDiscount(ctx, st); err != nil || sub.off.AppliesAt(st.Now) {
		return err
	}
	if err := sub.endDiscount(ctx, st); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// setDiscountTimer sets or stops the timer of the discount's end.
func setDiscountTimer(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if err := sub.loadDiscount(ctx, st); err != nil {
		return err
	}
	if sub.off == nil || sub.off.Discount.End == nil || sub.IsEnded() {
		return st.StopTimer(ctx, timerDiscountEnds, sub.ID)
	}
	return st.SetTimer(ctx, timerDiscountEnds, sub.ID, *sub.off.Discount.End)
}

// deleteDiscount handles DELETE /v1/subscriptions/{id}/discount.
func deleteDiscount(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := All.Get(ctx, c.Q, c.ID, "id")
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err == nil {
		err = sub.loadDiscount(ctx, c.Step)
	}
	if err != nil {
		return nil, err
	}
	if sub.off == nil {
		return nil, form.Refuse("", "resource_missing", "No active discount for subscription: %s", sub.ID)
	}
	before, ended := sub.Clone(), sub.off.Discount
	if err := sub.endDiscount(ctx, c.Step); err != nil {
		return nil, err
	}
	return deletedDiscount{Discount: ended, Deleted: true}, Save(ctx, c.Step, before, sub)
}

// deletedDiscount is a discount without its end.
type deletedDiscount struct {
	discounts.Discount
	End     *int64 `json:"end,omitempty"`
	Deleted bool   `json:"deleted"`
}

// billedOff is the amount that a discount takes off the whole current period of an item. Credit for
// unused time is based on the amount that was debited
// (https://docs.stripe.com/billing/subscriptions/prorations#credit-prorations). The amount is
// stored under the id of the item and is internal to the sandbox.
type billedOff struct {
	kernel.Header
	Off int64 `json:"off"`
}

var billedOffs = kernel.Kind[billedOff]{Name: "sandbox.billed_off"}

// storeBilledOff stores the discounts of items, by id.
func storeBilledOff(ctx context.Context, st *kernel.Step, off map[string]int64) error {
	for id, amount := range off {
		was, err := readBilledOff(ctx, st, id)
		if err != nil {
			return err
		}
		if was == amount {
			continue
		}
		o := billedOff{Header: kernel.Header{ID: id, Object: billedOffs.Name, Created: st.Now}, Off: amount}
		if err := kernel.Put(ctx, st.Q, o); err != nil {
			return err
		}
	}
	return nil
}

func readBilledOff(ctx context.Context, st *kernel.Step, id string) (int64, error) {
	o, err := billedOffs.Find(ctx, st.Q, id)
	if errors.Is(err, kernel.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return o.Off, nil
}

// periodOff returns the amount that the current discount takes off an item's whole period.
func (sub *Subscription) periodOff(item Item, at int64) int64 {
	if !sub.off.AppliesAt(at) {
		return 0
	}
	shares := make([]discounts.Share, len(sub.Items.Data))
	at0 := -1
	for i, other := range sub.Items.Data {
		if !other.Price.IsMetered() {
			shares[i] = discounts.Share{Product: other.Price.Product, Amount: other.amount()}
		}
		if other.ID == item.ID {
			at0 = i
		}
	}
	if at0 < 0 {
		return 0
	}
	return sub.off.Coupon.AmountsOff(shares, sub.Currency)[at0]
}

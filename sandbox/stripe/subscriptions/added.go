package subscriptions

import (
	"context"
	"strconv"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// addedItem is an element of add_invoice_items: a one-time charge on the next invoice.
type addedItem struct {
	params            *form.Params
	currency, product string
	amount, quantity  int64
	discountable      bool
	period            invoices.Period // zero means the current period
	metadata          map[string]string
}

// maxAdded is the maximum number of added items per update.
const maxAdded = 20

// readAddedItems reads add_invoice_items. The sandbox supports price_data but not price. The discount of
// the subscription applies to an item unless discountable is false
// (https://docs.stripe.com/changelog/dahlia/2026-05-27/invoice-items-discount-eligibility).
func readAddedItems(p *form.Params, now int64) (all []addedItem) {
	given := p.List("add_invoice_items")
	if len(given) > maxAdded {
		p.Fail("add_invoice_items", "", "You may pass up to %d items.", maxAdded)
	}
	for _, g := range given {
		item := addedItem{params: g, quantity: 1, discountable: true, metadata: map[string]string{}}
		g.Require("price_data")
		if data := g.Hash("price_data"); data != nil {
			data.Require("currency", "product", "unit_amount")
			form.ReadCurrency(data, "currency", &item.currency)
			data.Text("product", &item.product)
			most := billing.MaxAmount(item.currency)
			data.Integer("unit_amount", -most, most, &item.amount)
		}
		g.Integer("quantity", 1, maxQuantity, &item.quantity)
		g.Boolean("discountable", &item.discountable)
		g.Metadata(&item.metadata)
		if period := g.Hash("period"); period != nil {
			item.period.Start = readMoment(period, "start", now)
			item.period.End = readMoment(period, "end", now)
		}
		all = append(all, item)
	}
	return all
}

// readMoment reads the start or end of a period. The sandbox supports only timestamps.
func readMoment(p *form.Params, key string, now int64) int64 {
	p.Require(key)
	at := now
	if given := p.Hash(key); given != nil {
		given.Require("type", "timestamp")
		given.Choice("type", new(string), "timestamp")
		given.Integer("timestamp", 0, 1<<40, &at)
	}
	return at
}

// addItems creates the invoice items that an update adds.
func (rev *revision) addItems(ctx context.Context, st *kernel.Step, sub *Subscription, added []addedItem) error {
	for _, item := range added {
		data := item.params.Hash("price_data")
		if item.currency != sub.Currency {
			return catalog.WrongCurrency(data.Name("currency"), item.currency, sub.Currency)
		}
		product, err := catalog.Products.Get(ctx, st.Q, item.product, data.Name("product"))
		if err != nil {
			return err
		}
		if item.period == (invoices.Period{}) {
			item.period.Start, item.period.End = sub.Period()
		}
		if item.period.End < item.period.Start {
			return form.Refuse(item.params.Name("period"), "", "The end of the period must be greater than or equal to its start.")
		}
		ii := &invoices.Item{
			Header: invoices.Items.Start(st.Now), Amount: item.amount * item.quantity, Currency: sub.Currency, Customer: sub.Customer, Date: st.Now,
			Description: product.Name, Discountable: item.discountable, Metadata: item.metadata, Period: item.period,
			// Stripe creates a price for this item only.
			Pricing:  invoices.NewPricing(catalog.Price{Header: kernel.Header{ID: form.NewID("price")}, Product: product.ID, UnitAmountDecimal: strconv.FormatInt(item.amount, 10)}),
			Quantity: item.quantity, QuantityText: strconv.FormatInt(item.quantity, 10), TestClock: sub.TestClock,
		}
		ii.SetSubscription(sub.ID, nil)
		rev.prorations = append(rev.prorations, ii)
	}
	return nil
}

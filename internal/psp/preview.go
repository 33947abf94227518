package psp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// PreviewChange returns the invoice that a change would create immediately. It has no ID and can
// include lines that are pending for the next invoice. It returns ErrRefused if the provider cannot
// compute the preview.
func (c *Client) PreviewChange(ctx context.Context, ch Change) (Invoice, error) {
	behavior, date := ch.proration()
	changed := []*stripe.InvoiceCreatePreviewSubscriptionDetailsItemParams{{
		ID: stripe.String(ch.ItemID), Price: ch.newPrice(), Quantity: stripe.Int64(ch.Quantity),
	}}
	for _, m := range meteredParams(ch.Metered) {
		changed = append(changed, &stripe.InvoiceCreatePreviewSubscriptionDetailsItemParams{ID: m.ID, Price: m.Price, Deleted: m.Deleted})
	}
	raw, err := read(ctx, c, "preview change", ch.SubscriptionID, func(ctx context.Context) (*stripe.Invoice, error) {
		params := &stripe.InvoiceCreatePreviewParams{
			Subscription: stripe.String(ch.SubscriptionID),
			SubscriptionDetails: &stripe.InvoiceCreatePreviewSubscriptionDetailsParams{
				Items:             changed,
				ProrationBehavior: behavior,
				ProrationDate:     date,
				TrialEnd:          ch.trialEnd(),
			},
			InvoiceItems: ch.pendingItems(),
		}
		if ch.RemovesDiscount {
			params.UnsetFields = append(params.UnsetFields, stripe.InvoiceCreatePreviewParamsUnsetFieldDiscounts)
		}
		if ch.PromotionCodeID != "" {
			params.Discounts = []*stripe.InvoiceCreatePreviewDiscountParams{{PromotionCode: stripe.String(ch.PromotionCodeID)}}
		}
		return c.api.V1Invoices.CreatePreview(ctx, params)
	})
	if err != nil {
		return Invoice{}, err
	}
	preview, err := c.loadPreviewLines(ctx, raw, ch)
	if err != nil {
		return Invoice{}, err
	}
	return c.convertUnits(ctx, preview)
}

// pendingItems returns the items that a preview treats as pending. There are at most two, so that
// the change's own lines are among the first ten. They are dated before the change.
func (ch Change) pendingItems() (items []*stripe.InvoiceCreatePreviewInvoiceItemParams) {
	for _, line := range ch.waitingLines() {
		items = append(items, &stripe.InvoiceCreatePreviewInvoiceItemParams{
			Amount: stripe.Int64(line.Amount), Currency: stripe.String(line.Currency), Discountable: stripe.Bool(false),
			Period: &stripe.InvoiceCreatePreviewInvoiceItemPeriodParams{
				Start: stripe.Int64(line.PeriodStart.Unix()), End: stripe.Int64(line.PeriodEnd.Unix()),
			},
		})
	}
	return items
}

func (ch Change) waitingLines() (lines []InvoiceLine) {
	for _, amount := range []int64{ch.Waiting.Credit, ch.Waiting.Charge} {
		if amount != 0 {
			lines = append(lines, InvoiceLine{
				Amount: amount, Currency: ch.Waiting.Currency, Quantity: 1, SubscriptionID: ch.SubscriptionID,
				PeriodStart: ch.ProrationDate.Add(-time.Second), PeriodEnd: ch.ProrationDate,
			})
		}
	}
	return lines
}

// loadPreviewLines returns a preview with all of its lines. Stripe returns only the first ten lines
// of a preview, and there is no second page: Stripe would compute the preview again, with other
// line IDs. Invoice items come first, newest first, so the items of the change are among the ten.
// Items pending for the next invoice can be listed separately. Subscription items come last, so the
// rest of the subtotal is the new period of the change.
func (c *Client) loadPreviewLines(ctx context.Context, raw *stripe.Invoice, ch Change) (Invoice, error) {
	preview := newInvoice(raw)
	if raw.Lines == nil || !raw.Lines.HasMore {
		return preview, nil
	}
	pending, err := c.pendingLines(ctx, preview.CustomerID, ch.SubscriptionID)
	if err != nil {
		return Invoice{}, err
	}
	waits := map[string]bool{}
	for _, line := range pending {
		waits[line.ItemID] = true
	}
	known := func(l InvoiceLine) bool { return waits[l.ItemID] || l.ItemID != "" && l.SubscriptionItemID == "" }
	lines := slices.Concat(slices.DeleteFunc(preview.Lines, known), pending, ch.waitingLines())
	rest, off := raw.Subtotal, preview.Discount
	for _, line := range lines {
		rest -= line.Amount
		off -= line.Discount
	}
	if rest != 0 {
		lines = append(lines, InvoiceLine{
			Amount: rest, Discount: off, Currency: preview.Currency, Quantity: ch.Quantity, PriceID: ch.PriceID,
			SubscriptionID: ch.SubscriptionID, SubscriptionItemID: ch.ItemID,
			PeriodStart: ch.ProrationDate, PeriodEnd: ch.ProrationDate,
		})
	}
	preview.Lines = lines
	return preview, nil
}

// pendingLines returns the invoice items of a subscription that are pending for the next invoice,
// as invoice lines.
func (c *Client) pendingLines(ctx context.Context, customerID, subscriptionID string) ([]InvoiceLine, error) {
	var pending []InvoiceLine
	id := func(item *stripe.InvoiceItem) string { return item.ID }
	for item, err := range walk("", id, func(cursor string) (page[*stripe.InvoiceItem], error) {
		return call(ctx, c, "list pending invoice items", func(ctx context.Context) (page[*stripe.InvoiceItem], error) {
			list := c.api.V1InvoiceItems.List(ctx, &stripe.InvoiceItemListParams{
				ListParams: stripe.ListParams{Limit: stripe.Int64(listPage), StartingAfter: stringOrNil(cursor)},
				Customer:   stripe.String(customerID),
				Pending:    stripe.Bool(true),
			})
			if err := list.Err(); err != nil {
				return page[*stripe.InvoiceItem]{}, err
			}
			return page[*stripe.InvoiceItem]{list.Data(), list.Meta().HasMore}, nil
		})
	}) {
		if err != nil {
			return nil, err
		}
		if line := newPendingLine(item); line.SubscriptionID == subscriptionID {
			pending = append(pending, line)
		}
	}
	return pending, nil
}

func newPendingLine(item *stripe.InvoiceItem) InvoiceLine {
	line := InvoiceLine{
		ItemID: item.ID, Description: item.Description, Amount: item.Amount, Quantity: item.Quantity,
		Currency: strings.ToUpper(string(item.Currency)), Proration: item.Proration,
	}
	if p := item.Pricing; p != nil && p.PriceDetails != nil && p.PriceDetails.Price != nil {
		line.PriceID = p.PriceDetails.Price.ID
	}
	if p := item.Period; p != nil {
		line.PeriodStart, line.PeriodEnd = timeFromUnix(p.Start), timeFromUnix(p.End)
	}
	if p := item.Parent; p != nil && p.SubscriptionDetails != nil {
		line.SubscriptionID, line.SubscriptionItemID = p.SubscriptionDetails.Subscription, p.SubscriptionDetails.SubscriptionItem
	}
	line.restoreFromMetadata(item.Metadata)
	return line
}

package psp

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/money"
)

// MaxInvoices is the maximum number of invoices on one of the provider's pages.
const MaxInvoices = listPage

// Invoice is an invoice at the provider with all of its lines. Amounts are in minor units of the
// currency.
type Invoice struct {
	ID              string
	Number          string // empty for a draft
	Status          string // draft, open, paid, void or uncollectible
	CustomerID      string
	SubscriptionID  string // empty if it bills no subscription
	PaymentIntentID string // the payment that was made or is expected; can be empty
	BillingReason   string // such as "subscription_cycle"
	Currency        string // ISO 4217, upper case
	// Subtotal excludes taxes: Subtotal minus discounts plus Tax is Total.
	Subtotal int64
	Tax      int64
	Total    int64
	// Discount is the sum of the discounts on the lines, and CouponID the coupon of the first one.
	Discount int64
	CouponID string
	// AmountDue is the amount to pay after the customer's balance is applied. It consists of Paid
	// and Open.
	AmountDue, Paid, Open int64
	// BalanceApplied is the part of the total that the customer's balance paid. It is negative if
	// the invoice added to the balance, as an invoice with a negative total does.
	BalanceApplied   int64
	CreatedAt        time.Time
	FinalizedAt      *time.Time
	DueAt            *time.Time
	PaidAt, VoidedAt *time.Time
	// Attempts is the number of attempts to collect the invoice, and NextAttemptAt is when the next
	// attempt is due.
	Attempts      int64
	NextAttemptAt *time.Time
	PDFURL        string // can be empty
	HostedURL     string
	// IsSent means that the invoice is sent to the customer instead of being charged. AutoAdvance
	// means that the provider finalizes the draft.
	IsSent, AutoAdvance bool
	// PaidOutside means that the invoice was paid, but not by a payment at the provider.
	PaidOutside bool
	// Metadata is the metadata of the subscription when the invoice was finalized.
	Metadata map[string]string
	// Action is the action that the invoice requires from the payer.
	Action money.PaymentAction
	// InProgress means that a bank debit is paying the invoice, so nothing is due.
	InProgress bool
	Billed     BilledCustomer
	Lines      []InvoiceLine
	// Credited is the sum of its credit notes.
	Credited int64
}

// BilledCustomer is the customer at the time when the invoice was finalized. Fields that were
// unknown then are empty.
type BilledCustomer struct {
	Name    string
	Email   string
	Address Address
}

// Address is a postal address. Unknown parts are empty.
type Address struct {
	Line1, Line2, City, State, PostalCode string
	Country                               string // ISO 3166-1, two letters
}

// InvoiceLine is one line of an invoice.
type InvoiceLine struct {
	ID          string
	ItemID      string // the invoice item that it bills; empty for the item of a subscription
	Description string
	Amount      int64 // minor units, negative for a credit
	Discount    int64 // the part of Amount that a discount takes off; prorations are net already
	Currency    string
	Quantity    int64
	// ExactQuantity is decimal text if the quantity is not whole, in which case Quantity is
	// rounded. Otherwise it is empty.
	ExactQuantity string
	// UnitAmount is decimal text in minor units with up to twelve decimals, or empty if the
	// provider sends none.
	UnitAmount         string
	PriceID            string // empty for a line without a price
	ProductID          string // of the price
	SubscriptionID     string
	SubscriptionItemID string
	Proration          bool
	PeriodStart        time.Time
	PeriodEnd          time.Time
}

// InvoiceQuery selects a page of a customer's invoices, newest first.
type InvoiceQuery struct {
	CustomerID string
	Status     string // empty for all
	After      string // the ID of the last invoice on the previous page; empty for the first page
	Limit      int    // up to MaxInvoices, which is the default
}

// InvoicePage is a page of invoices. More reports whether another page follows.
type InvoicePage struct {
	Invoices []Invoice
	More     bool
}

// GetInvoice returns an invoice, or ErrNotFound.
func (c *Client) GetInvoice(ctx context.Context, id string) (Invoice, error) {
	raw, err := read(ctx, c, "get invoice", id, func(ctx context.Context) (*stripe.Invoice, error) {
		params := &stripe.InvoiceRetrieveParams{}
		params.AddExpand("payments")
		params.AddExpand("discounts")
		return c.api.V1Invoices.Retrieve(ctx, id, params)
	})
	if err != nil {
		return Invoice{}, err
	}
	return c.loadAllLines(ctx, raw)
}

// ListInvoices returns one page of a customer's invoices.
func (c *Client) ListInvoices(ctx context.Context, q InvoiceQuery) (InvoicePage, error) {
	if q.Limit == 0 {
		q.Limit = MaxInvoices
	}
	raw, err := read(ctx, c, "list invoices", q.CustomerID, func(ctx context.Context) (page[*stripe.Invoice], error) {
		params := &stripe.InvoiceListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(int64(q.Limit)), StartingAfter: stringOrNil(q.After)},
			Customer:   stripe.String(q.CustomerID),
			Status:     stringOrNil(q.Status),
		}
		params.AddExpand("data.payments")
		params.AddExpand("data.discounts")
		list := c.api.V1Invoices.List(ctx, params)
		if err := list.Err(); err != nil {
			return page[*stripe.Invoice]{}, err
		}
		return page[*stripe.Invoice]{list.Data(), list.Meta().HasMore}, nil
	})
	if err != nil {
		return InvoicePage{}, err
	}
	invoices := InvoicePage{More: raw.more}
	for _, in := range raw.items {
		invoice, err := c.loadAllLines(ctx, in)
		if err != nil {
			return InvoicePage{}, err
		}
		invoices.Invoices = append(invoices.Invoices, invoice)
	}
	return invoices, nil
}

// loadAllLines reads the remaining lines of an invoice. The object of the invoice contains only the
// first lines.
func (c *Client) loadAllLines(ctx context.Context, in *stripe.Invoice) (Invoice, error) {
	invoice := newInvoice(in)
	var err error
	if invoice.Action, invoice.InProgress, err = c.paymentAction(ctx, in); err != nil {
		return Invoice{}, err
	}
	if in.Lines == nil || !in.Lines.HasMore {
		return c.convertUnits(ctx, invoice)
	}
	invoice.Lines = nil
	lines := walk("", func(l InvoiceLine) string { return l.ID }, func(cursor string) (page[InvoiceLine], error) {
		return c.linePage(ctx, in.ID, cursor)
	})
	for line, err := range lines {
		if err != nil {
			return Invoice{}, err
		}
		invoice.Lines = append(invoice.Lines, line)
	}
	return c.convertUnits(ctx, invoice)
}

// convertUnits returns an invoice with its amounts in the minor units of this service.
func (c *Client) convertUnits(ctx context.Context, in Invoice) (Invoice, error) {
	units, err := c.UnitsRead(ctx, in.Currency)
	if err != nil {
		return Invoice{}, err
	}
	for _, amount := range []*int64{&in.Subtotal, &in.Tax, &in.Total, &in.AmountDue, &in.Paid, &in.Open, &in.Credited, &in.BalanceApplied, &in.Discount} {
		*amount = units.FromProvider(*amount)
	}
	for i := range in.Lines {
		line := &in.Lines[i]
		line.Discount = units.FromProvider(line.Discount)
		line.Amount, line.UnitAmount = units.FromProvider(line.Amount), units.Decimal(line.UnitAmount)
	}
	return in, nil
}

func (c *Client) linePage(ctx context.Context, invoiceID, after string) (page[InvoiceLine], error) {
	return call(ctx, c, "list invoice lines", func(ctx context.Context) (page[InvoiceLine], error) {
		list := c.api.V1Invoices.ListLines(ctx, &stripe.InvoiceListLinesParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage), StartingAfter: stringOrNil(after)},
			Invoice:    stripe.String(invoiceID),
		})
		if err := list.Err(); err != nil {
			return page[InvoiceLine]{}, err
		}
		return page[InvoiceLine]{newInvoiceLines(list.Data()), list.Meta().HasMore}, nil
	})
}

func newInvoice(in *stripe.Invoice) Invoice {
	invoice := Invoice{
		ID:              in.ID,
		Number:          in.Number,
		Status:          string(in.Status),
		PaymentIntentID: paymentIntentOf(in.Payments),
		BillingReason:   string(in.BillingReason),
		Currency:        strings.ToUpper(string(in.Currency)),
		Subtotal:        in.Subtotal,
		Total:           in.Total,
		AmountDue:       in.AmountDue,
		Paid:            in.AmountPaid,
		Open:            in.AmountRemaining,
		Attempts:        in.AttemptCount,
		NextAttemptAt:   timeFromUnixOrNil(in.NextPaymentAttempt),
		CreatedAt:       timeFromUnix(in.Created),
		DueAt:           timeFromUnixOrNil(in.DueDate),
		PDFURL:          in.InvoicePDF,
		HostedURL:       in.HostedInvoiceURL,
		Credited:        in.PrePaymentCreditNotesAmount + in.PostPaymentCreditNotesAmount,
		IsSent:          in.CollectionMethod == stripe.InvoiceCollectionMethodSendInvoice,
		AutoAdvance:     in.AutoAdvance,
		PaidOutside:     isPaidOutside(in),
		Billed:          BilledCustomer{Name: in.CustomerName, Email: in.CustomerEmail, Address: newAddress(in.CustomerAddress)},
	}
	// A draft has not used the balance yet, and a void invoice has returned it. At the provider,
	// credit is a negative balance.
	if in.Status != stripe.InvoiceStatusDraft && in.Status != stripe.InvoiceStatusVoid {
		invoice.BalanceApplied = in.EndingBalance - in.StartingBalance
	}
	for _, tax := range in.TotalTaxes {
		invoice.Tax += tax.Amount
		if tax.TaxBehavior == stripe.InvoiceTotalTaxTaxBehaviorInclusive {
			invoice.Subtotal -= tax.Amount // the provider's subtotal includes the tax
		}
	}
	for _, off := range in.TotalDiscountAmounts {
		invoice.Discount += off.Amount
	}
	if len(in.Discounts) > 0 && in.Discounts[0].Source != nil && in.Discounts[0].Source.Coupon != nil {
		invoice.CouponID = in.Discounts[0].Source.Coupon.ID
	}
	if in.Customer != nil {
		invoice.CustomerID = in.Customer.ID
	}
	if p := in.Parent; p != nil && p.SubscriptionDetails != nil && p.SubscriptionDetails.Subscription != nil {
		invoice.SubscriptionID, invoice.Metadata = p.SubscriptionDetails.Subscription.ID, p.SubscriptionDetails.Metadata
	}
	if t := in.StatusTransitions; t != nil {
		invoice.FinalizedAt, invoice.PaidAt, invoice.VoidedAt = timeFromUnixOrNil(t.FinalizedAt), timeFromUnixOrNil(t.PaidAt), timeFromUnixOrNil(t.VoidedAt)
	}
	if in.Lines != nil {
		invoice.Lines = newInvoiceLines(in.Lines.Data)
	}
	return invoice
}

// isPaidOutside reports whether an invoice was paid, but not by a payment at the provider. The
// invoice must have its payments expanded.
func isPaidOutside(in *stripe.Invoice) bool {
	if in.Status != stripe.InvoiceStatusPaid || in.AmountDue <= 0 {
		return false
	}
	return in.Payments == nil || !slices.ContainsFunc(in.Payments.Data, func(p *stripe.InvoicePayment) bool {
		return p.Status == "paid" && paymentOf(p) != (payment{})
	})
}

// paymentIntentOf returns the payment that was made, or else the payment that the provider would make.
func paymentIntentOf(payments *stripe.InvoicePaymentList) string {
	if payments == nil {
		return ""
	}
	expected := ""
	for _, p := range payments.Data {
		if p.Payment == nil || p.Payment.PaymentIntent == nil {
			continue
		}
		if p.Status == "paid" {
			return p.Payment.PaymentIntent.ID
		}
		if p.IsDefault {
			expected = p.Payment.PaymentIntent.ID
		}
	}
	return expected
}

func newAddress(a *stripe.Address) Address {
	if a == nil {
		return Address{}
	}
	return Address{
		Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
	}
}

func newInvoiceLines(raw []*stripe.InvoiceLineItem) []InvoiceLine {
	lines := make([]InvoiceLine, len(raw))
	for i, l := range raw {
		lines[i] = newInvoiceLine(l)
	}
	return lines
}

func newInvoiceLine(l *stripe.InvoiceLineItem) InvoiceLine {
	line := InvoiceLine{
		ID: l.ID, Description: l.Description, Amount: l.Amount,
		Currency: strings.ToUpper(string(l.Currency)), Quantity: l.Quantity,
	}
	for _, off := range l.DiscountAmounts {
		line.Discount += off.Amount
	}
	if p := l.Pricing; p != nil {
		// The library decodes the decimal text as a float. Its shortest representation equals the
		// provider's text for up to fifteen digits. The library decodes null as 0. Null means a
		// price without a single amount per unit, such as tiers.
		if p.UnitAmountDecimal != 0 || l.Amount == 0 {
			line.UnitAmount = strconv.FormatFloat(p.UnitAmountDecimal, 'f', -1, 64)
		}
		if p.PriceDetails != nil && p.PriceDetails.Price != nil {
			line.PriceID = p.PriceDetails.Price.ID
		}
		if p.PriceDetails != nil {
			line.ProductID = p.PriceDetails.Product
		}
	}
	if l.QuantityDecimal != math.Trunc(l.QuantityDecimal) {
		line.ExactQuantity = strconv.FormatFloat(l.QuantityDecimal, 'f', -1, 64)
	}
	if p := l.Period; p != nil {
		line.PeriodStart, line.PeriodEnd = timeFromUnix(p.Start), timeFromUnix(p.End)
	}
	if l.Parent == nil {
		return line
	}
	if d := l.Parent.SubscriptionItemDetails; d != nil {
		line.ItemID = d.InvoiceItem
		line.SubscriptionID, line.SubscriptionItemID, line.Proration = d.Subscription, d.SubscriptionItem, d.Proration
	}
	if d := l.Parent.InvoiceItemDetails; d != nil {
		line.ItemID, line.SubscriptionID, line.Proration = d.InvoiceItem, d.Subscription, d.Proration
	}
	line.restoreFromMetadata(l.Metadata)
	return line
}

// Metadata of invoice items.
const (
	// MetaReplacedItem and MetaPrice are the replaced item and its price. They belong to an item that
	// replaces a proration whose invoice was voided.
	MetaReplacedItem = "stands_in_for"
	MetaPrice        = "price"
	// MetaUnpaid marks an item that charges a credit again because its time was never paid for. Its
	// value is the subscription item of the credit.
	MetaUnpaid = "unpaid_credit_of"
)

// restoreFromMetadata restores the fields that the provider does not store for a line that replaces
// another line. The quantity is 0, so that no change mistakes the line for its own.
func (l *InvoiceLine) restoreFromMetadata(metadata map[string]string) {
	if metadata[MetaReplacedItem] != "" {
		l.Proration, l.Quantity, l.PriceID = true, 0, metadata[MetaPrice]
	}
}

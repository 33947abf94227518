package invoice

import (
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// references map the provider's ids to ours. An id that is missing belongs to something
// that this service did not make.
type references struct {
	subscriptions map[string]subscriptionRef // by the provider's subscription
	plans         map[string]uuid.UUID       // by the provider's price
	meters        map[string]uuid.UUID       // by the provider's price
}

type subscriptionRef struct{ id, planID uuid.UUID }

// fromProvider converts a provider's invoice to an invoice of a tenant.
func fromProvider(tenantID uuid.UUID, in psp.Invoice, refs references) Invoice {
	id := stableID(in.ID, in.CreatedAt)
	amount := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: in.Currency} }
	inv := Invoice{
		ID: id, TenantID: tenantID, PSPInvoiceID: in.ID, PSPPaymentIntentID: in.PaymentIntentID,
		Number: in.Number, Status: Status(in.Status),
		Subtotal: amount(in.Total - in.Tax), Tax: amount(in.Tax), Total: amount(in.Total),
		IssueDate: in.CreatedAt, DueDate: in.DueAt, PaidAt: in.PaidAt, HasPDF: in.PDFURL != "",
		Billed: Billed{
			Name: orNil(in.Billed.Name), Email: orNil(in.Billed.Email),
			Address: BilledAddress{
				Line1: orNil(in.Billed.Address.Line1), Line2: orNil(in.Billed.Address.Line2), City: orNil(in.Billed.Address.City),
				State: orNil(in.Billed.Address.State), PostalCode: orNil(in.Billed.Address.PostalCode), Country: orNil(in.Billed.Address.Country),
			},
		},
		CreatedAt: in.CreatedAt, UpdatedAt: in.CreatedAt,
	}
	if in.FinalizedAt != nil {
		inv.IssueDate, inv.UpdatedAt = *in.FinalizedAt, *in.FinalizedAt
	}
	if in.PaidAt != nil {
		inv.UpdatedAt = *in.PaidAt
	}
	if inv.Number == "" {
		inv.Number = draftNumber
	}
	if ref, ok := refs.subscriptions[in.SubscriptionID]; ok {
		inv.SubscriptionID = &ref.id
	}
	for i, l := range in.Lines {
		line := lineFromProvider(l, refs)
		line.ID = stableID(fmt.Sprintf("%s/%d/%s", in.ID, i, l.ID), in.CreatedAt)
		inv.Lines = append(inv.Lines, line)
	}
	return inv
}

// draftNumber is shown for a draft, which gets its number when it is finalized.
const draftNumber = "DRAFT"

func lineFromProvider(l psp.InvoiceLine, refs references) Line {
	line := Line{
		Description: l.Description, Type: AdjustmentLine,
		Amount: money.Money{AmountCents: l.Amount, Currency: l.Currency},
	}
	line.Quantity, line.UnitPrice = units(l)
	switch {
	case l.Proration:
		line.Type = ProrationLine
	case l.SubscriptionID != "" || l.SubscriptionItemID != "":
		line.Type = SubscriptionLine
	}
	meter, metered := refs.meters[l.PriceID]
	plan, planned := refs.plans[l.PriceID]
	switch {
	case metered:
		line.MeterID = &meter
	case planned:
		line.PlanID = &plan
	case line.Type != AdjustmentLine:
		// No plan has the price any more, but the subscription still has its plan.
		if ref, ok := refs.subscriptions[l.SubscriptionID]; ok {
			line.PlanID = &ref.planID
		}
	}
	if !l.PeriodStart.IsZero() {
		start, end := l.PeriodStart, l.PeriodEnd
		line.PeriodStart, line.PeriodEnd = &start, &end
	}
	return line
}

// units splits a line's amount into a quantity and the price of one, whose product is
// the amount. An amount that its quantity does not divide, such as part of a month or a
// price below one cent, is one unit.
func units(l psp.InvoiceLine) (int64, money.Money) {
	price := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: l.Currency} }
	if l.Quantity > 0 && l.Amount%l.Quantity == 0 {
		unit := l.Amount / l.Quantity
		// Where units of a price were free, a unit price of 0 would be wrong: such a
		// line is one unit.
		if l.Amount != 0 || l.UnitAmount == "" || isZero(l.UnitAmount) {
			return l.Quantity, price(unit)
		}
	}
	return 1, price(l.Amount)
}

func isZero(decimal string) bool {
	f, err := strconv.ParseFloat(decimal, 64)
	return err == nil && f == 0
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

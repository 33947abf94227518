// Package invoice manages the invoices of tenants (rules: invoices). A setting selects the source:
// either the payment provider's own invoices, or invoices that this service issues for the
// provider's charges, with its own numbers and documents. Callers see the same Invoice either way.
package invoice

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Status is the status of an invoice (rules: invoices#status).
type Status string

// Invoice statuses. Paid, void and uncollectible are final.
const (
	StatusDraft         Status = "draft"
	StatusOpen          Status = "open"
	StatusPaid          Status = "paid"
	StatusVoid          Status = "void"
	StatusUncollectible Status = "uncollectible"
)

// IsFinal reports whether the status can no longer change.
func (s Status) IsFinal() bool { return s == StatusPaid || s == StatusVoid || s == StatusUncollectible }

// LineType is the type of an invoice line.
type LineType string

// Line types.
const (
	SubscriptionLine LineType = "subscription" // a plan for one period, or usage
	ProrationLine    LineType = "proration"    // part of a period, after a mid-period change
	AdjustmentLine   LineType = "adjustment"   // anything else
)

// Invoice is an invoice of a tenant with its lines.
type Invoice struct {
	ID                 uuid.UUID
	TenantID           uuid.UUID
	SubscriptionID     *uuid.UUID
	PSPInvoiceID       string
	PSPPaymentIntentID string // empty before a payment
	Number             string
	Status             Status
	Subtotal           money.Money
	Tax                money.Money
	Total              money.Money // Subtotal plus Tax
	// BalanceApplied is the part of Total that was paid from the customer's credit. It is negative
	// if the invoice added to the credit.
	BalanceApplied money.Money
	// Credited is the sum of the credit notes that are not void, and Refunded the sum of the refunds that
	// have not failed.
	Credited, Refunded money.Money
	IssueDate          time.Time
	DueDate            *time.Time
	PaidAt             *time.Time
	HasPDF             bool
	Action             money.PaymentAction // the action that the payer must take
	Billed             BilledParty
	// PurchaseOrder is the customer's purchase order, or empty.
	PurchaseOrder string
	// PaidOn and PaymentReference are the day (YYYY-MM-DD) and the reference of a payment that the
	// platform has recorded. They are empty for other invoices.
	PaidOn, PaymentReference string

	Lines     []Line
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ChargedAmount returns the part of the total that is not paid from the customer's credit.
func (inv Invoice) ChargedAmount() money.Money {
	return money.Money{AmountCents: inv.Total.AmountCents - max(0, inv.BalanceApplied.AmountCents), Currency: inv.Total.Currency}
}

// amountDue returns the amount that is left to pay of an open invoice.
func (inv Invoice) amountDue() money.Money {
	due := inv.ChargedAmount()
	due.AmountCents -= inv.Credited.AmountCents
	return due
}

// BilledParty is the recipient of an invoice, as recorded when the invoice was created.
type BilledParty struct {
	Name    *string       `json:"name"`
	Email   *string       `json:"email"`
	Address BilledAddress `json:"address"`
}

// BilledAddress is a postal address; unknown parts are null.
type BilledAddress struct {
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postal_code"`
	Country    *string `json:"country"` // ISO 3166-1 alpha-2
}

// Line is one line of an invoice. Amount is Quantity times UnitPrice.
type Line struct {
	ID          uuid.UUID
	Description string
	Type        LineType
	Quantity    int64
	UnitPrice   money.Money
	Amount      money.Money
	PlanID      *uuid.UUID
	MeterID     *uuid.UUID
	PeriodStart *time.Time
	PeriodEnd   *time.Time
	// Discount is the part of the amount that a discount takes off, and Credited the part that credit
	// notes have credited, in minor units.
	Discount, Credited int64
}

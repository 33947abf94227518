// Package invoice has the invoices of tenants (rules: invoices). A setting decides
// whether they are the payment provider's own, or are issued here for what the provider
// bills, with numbers and documents of our own. Callers see the same Invoice either way.
package invoice

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Status is the state of an invoice (rules: invoices#status).
type Status string

// The states of an invoice. Paid, void and uncollectible are final.
const (
	StatusDraft         Status = "draft"
	StatusOpen          Status = "open"
	StatusPaid          Status = "paid"
	StatusVoid          Status = "void"
	StatusUncollectible Status = "uncollectible"
)

// Final reports whether the state never changes again.
func (s Status) Final() bool { return s == StatusPaid || s == StatusVoid || s == StatusUncollectible }

// LineType says what a line bills.
type LineType string

// The types of lines.
const (
	SubscriptionLine LineType = "subscription" // a period of a plan, or usage
	ProrationLine    LineType = "proration"    // part of a period, for a change within it
	AdjustmentLine   LineType = "adjustment"   // anything else
)

// Invoice is an invoice of a tenant with its lines.
type Invoice struct {
	ID                 uuid.UUID
	TenantID           uuid.UUID
	SubscriptionID     *uuid.UUID
	PSPInvoiceID       string
	PSPPaymentIntentID string // empty where there is no payment
	Number             string
	Status             Status
	Subtotal           money.Money
	Tax                money.Money
	Total              money.Money // Subtotal plus Tax
	// BalanceApplied is what the customer's credit paid of Total; negative where the invoice
	// added to the credit.
	BalanceApplied money.Money
	IssueDate      time.Time
	DueDate        *time.Time
	PaidAt         *time.Time
	HasPDF         bool
	Action         money.PaymentAction // what it asks of a person
	Billed         BilledParty
	Lines          []Line
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// chargedAmount returns what is paid of the total by other means than the customer's credit.
func (inv Invoice) chargedAmount() money.Money {
	return money.Money{AmountCents: inv.Total.AmountCents - max(0, inv.BalanceApplied.AmountCents), Currency: inv.Total.Currency}
}

// BilledParty is who an invoice was made out to, as of that time.
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
}

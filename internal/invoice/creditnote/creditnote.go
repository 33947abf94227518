// Package creditnote issues credit notes, which reduce or return the amount of an invoice, and
// refunds (rules: invoices#credit-notes). Each credit note also exists at the payment provider.
package creditnote

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The statuses of a credit note. The outcome of a pending request is unknown; only issued and void
// credit notes are shown.
const (
	statusPending = "pending"
	statusIssued  = "issued"
	statusVoid    = "void"
)

// Settlement is how the amount of a credit note is returned.
type Settlement string

// Settlements.
const (
	SettleRefund Settlement = "refund" // to the card
	SettleCredit Settlement = "credit" // for the next invoices
	SettleNone   Settlement = "none"   // not by this service
)

// Reason is the reason of a credit note.
type Reason string

// Reasons. The provider does not have ReasonOther.
const (
	ReasonDuplicate      Reason = "duplicate"
	ReasonFraudulent     Reason = "fraudulent"
	ReasonOrderChange    Reason = "order_change"
	ReasonUnsatisfactory Reason = "product_unsatisfactory"
	ReasonOther          Reason = "other"
)

// Note is a credit note of a tenant's invoice.
type Note struct {
	ID           uuid.UUID
	TenantID     uuid.UUID
	InvoiceID    uuid.UUID
	Number       string
	Status       string
	Subtotal     money.Money
	Tax          money.Money
	Total        money.Money // Subtotal plus Tax
	Settlement   Settlement
	Reason       Reason
	Memo         string // or empty
	RefundStatus string // or empty
	IssueDate    time.Time
	Lines        []Line
	HasPDF       bool

	pspInvoiceID, pspID    string
	pspRefundID, pspPDF    string
	year                   int
	sequence               int64 // 0 if the provider numbers credit notes
	request                *request
	retry                  *retry
	isAnswered             bool
	leasedUntil, createdAt time.Time
}

// Line is a line of a credit note.
type Line struct {
	LineID      *uuid.UUID // of the invoice
	Description string
	Amount      money.Money

	pspLineID string
}

// request is the stored form of a request to credit an invoice.
type request struct {
	Lines       []requestLine `json:"lines,omitempty"`
	AmountCents int64         `json:"amount_cents,omitempty"`
	Settlement  Settlement    `json:"settlement"`
	Reason      Reason        `json:"reason"`
	Memo        string        `json:"memo,omitempty"`
	By          authz.Origin  `json:"by"`
	// RequestID identifies a request with an idempotency key; otherwise it is empty.
	RequestID string `json:"request_id,omitempty"`
}

type requestLine struct {
	LineID      uuid.UUID `json:"line_id"`
	AmountCents int64     `json:"amount_cents"`
}

// isRetryOf reports whether a request is a retry of the request that made the note.
func (r request) isRetryOf(n Note, invoiceID uuid.UUID) bool {
	if n.request == nil || n.InvoiceID != invoiceID {
		return false
	}
	return r.fingerprint() == n.request.fingerprint()
}

// fingerprint returns the request as text. It identifies the caller only by user and API key.
func (r request) fingerprint() string {
	r.By = authz.Origin{UserID: r.By.UserID, KeyID: r.By.KeyID}
	text, _ := json.Marshal(r) // cannot fail
	return string(text)
}

// retry is the stored form of a refund that replaces a failed refund.
type retry struct {
	ID uuid.UUID    `json:"id"`
	By authz.Origin `json:"by"`
}

// retryKey identifies the refund of a retry at the provider.
func (n Note) retryKey() string { return n.ID.String() + "/" + n.retry.ID.String() }

func encode(v any) (sqldb.JSON, error) {
	text, err := json.Marshal(v)
	return text, sqldb.Wrap(err, "encode request of credit note")
}

package invoice

import (
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// The views are the JSON representation in the API and in webhook events.

// InvoiceLineView is a line of an invoice (rules: invoices#lines).
type InvoiceLineView struct {
	ID          uuid.UUID   `json:"id"`
	InvoiceID   uuid.UUID   `json:"invoice_id"`
	Description string      `json:"description"`
	Type        LineType    `json:"type"`
	Quantity    int64       `json:"quantity"`
	UnitPrice   money.Money `json:"unit_price"`
	Amount      money.Money `json:"amount"`
	Creditable  money.Money `json:"creditable" doc:"Amount that a credit note can still credit. 0 for a line of type adjustment."`
	PlanID      *uuid.UUID  `json:"plan_id"`
	MeterID     *uuid.UUID  `json:"meter_id"`
	PeriodStart *shape.Time `json:"period_start"`
	PeriodEnd   *shape.Time `json:"period_end"`
	CreatedAt   shape.Time  `json:"created_at"`
	UpdatedAt   shape.Time  `json:"updated_at"`
}

// InvoiceView is the invoice resource (rules: invoices). It is the same for both sources.
type InvoiceView struct {
	ID                 uuid.UUID            `json:"id"`
	TenantID           uuid.UUID            `json:"tenant_id"`
	SubscriptionID     *uuid.UUID           `json:"subscription_id"`
	PSPInvoiceID       *string              `json:"psp_invoice_id"`
	PSPPaymentIntentID *string              `json:"psp_payment_intent_id"`
	Number             string               `json:"number"`
	Status             Status               `json:"status"`
	Subtotal           money.Money          `json:"subtotal"`
	Tax                money.Money          `json:"tax"`
	Total              money.Money          `json:"total"`
	BalanceApplied     money.Money          `json:"balance_applied" doc:"Amount of the total that was paid with the tenant's credit. Negative if the invoice increased the credit, for example because its total is below zero."`
	Credited           money.Money          `json:"credited" doc:"Sum of the credit notes that are not void."`
	Refunded           money.Money          `json:"refunded" doc:"Sum of the refunds that have not failed."`
	IssueDate          string               `json:"issue_date" format:"date"`
	DueDate            *string              `json:"due_date" format:"date"`
	PaidAt             *shape.Time          `json:"paid_at"`
	PaidOn             *string              `json:"paid_on" format:"date" doc:"Day of a payment outside of the payment provider, as recorded by the platform. Null without such a payment."`
	PaymentReference   *string              `json:"payment_reference" doc:"Reference of a payment outside of the payment provider, as recorded by the platform. Null if not set."`
	PurchaseOrder      *string              `json:"purchase_order" doc:"The customer's purchase order. Null if not set."`
	PDFURL             *string              `json:"pdf_url"`
	PaymentAction      *money.PaymentAction `json:"payment_action"`
	BillingInfo        BilledParty          `json:"billing_info"`
	Lines              []InvoiceLineView    `json:"lines"`
	CreatedAt          shape.Time           `json:"created_at"`
	UpdatedAt          shape.Time           `json:"updated_at"`
}

// creditable returns the amount of a line that a credit note can still credit: the amount minus the
// discount and earlier credit notes, but at most the rest of the invoice.
func (inv Invoice) creditable(l Line) money.Money {
	left := money.Money{Currency: l.Amount.Currency}
	if l.Type == AdjustmentLine || inv.Status == StatusDraft || inv.Status == StatusVoid {
		return left
	}
	left.AmountCents = max(min(l.Amount.AmountCents-l.Discount-l.Credited, inv.Total.AmountCents-inv.Credited.AmountCents), 0)
	return left
}

func view(inv Invoice) InvoiceView {
	v := InvoiceView{
		ID: inv.ID, TenantID: inv.TenantID, SubscriptionID: inv.SubscriptionID,
		PSPInvoiceID: orNil(inv.PSPInvoiceID), PSPPaymentIntentID: orNil(inv.PSPPaymentIntentID),
		Number: inv.Number, Status: inv.Status, Subtotal: inv.Subtotal, Tax: inv.Tax, Total: inv.Total, BalanceApplied: inv.BalanceApplied,
		Credited: inv.Credited, Refunded: inv.Refunded,
		IssueDate: dateOf(inv.IssueDate), PaidAt: shape.TP(inv.PaidAt), PaymentAction: inv.Action.OrNil(), BillingInfo: inv.Billed,
		PaidOn: orNil(inv.PaidOn), PaymentReference: orNil(inv.PaymentReference), PurchaseOrder: orNil(inv.PurchaseOrder),
		CreatedAt: shape.T(inv.CreatedAt), UpdatedAt: shape.T(inv.UpdatedAt),
	}
	if inv.DueDate != nil {
		date := dateOf(*inv.DueDate)
		v.DueDate = &date
	}
	if inv.HasPDF {
		url := "/api/v1/tenant/" + inv.TenantID.String() + "/invoices/" + inv.ID.String() + "/pdf"
		v.PDFURL = &url
	}
	for _, l := range inv.Lines {
		v.Lines = append(v.Lines, InvoiceLineView{
			ID: l.ID, InvoiceID: inv.ID, Description: l.Description, Type: l.Type, Quantity: l.Quantity,
			UnitPrice: l.UnitPrice, Amount: l.Amount, Creditable: inv.creditable(l), PlanID: l.PlanID, MeterID: l.MeterID,
			PeriodStart: shape.TP(l.PeriodStart), PeriodEnd: shape.TP(l.PeriodEnd),
			CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		})
	}
	return v
}

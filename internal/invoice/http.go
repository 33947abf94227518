package invoice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers of invoices.
type HTTP struct {
	svc       *Service
	publicURL string
}

// NewHTTP returns the handlers. publicURL is where clients reach the service,
// without a slash at its end.
func NewHTTP(svc *Service, publicURL string) *HTTP { return &HTTP{svc, publicURL} }

// InvoiceLineView is a line of an invoice (rules: invoices#lines).
type InvoiceLineView struct {
	ID          uuid.UUID   `json:"id"`
	InvoiceID   uuid.UUID   `json:"invoice_id"`
	Description string      `json:"description"`
	Type        LineType    `json:"type"`
	Quantity    int64       `json:"quantity"`
	UnitPrice   money.Money `json:"unit_price"`
	Amount      money.Money `json:"amount"`
	PlanID      *uuid.UUID  `json:"plan_id"`
	MeterID     *uuid.UUID  `json:"meter_id"`
	PeriodStart *shape.Time `json:"period_start"`
	PeriodEnd   *shape.Time `json:"period_end"`
	CreatedAt   shape.Time  `json:"created_at"`
	UpdatedAt   shape.Time  `json:"updated_at"`
}

// InvoiceView is the invoice resource (rules: invoices), whatever the invoice's source.
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
	BalanceApplied     money.Money          `json:"balance_applied" doc:"What the tenant's credit paid of the total. It is negative where the invoice added to the credit, as one with a total below zero does."`
	IssueDate          string               `json:"issue_date" format:"date"`
	DueDate            *string              `json:"due_date" format:"date"`
	PaidAt             *shape.Time          `json:"paid_at"`
	PDFURL             *string              `json:"pdf_url"`
	PaymentAction      *money.PaymentAction `json:"payment_action"`
	BillingInfo        Billed               `json:"billing_info"`
	Lines              []InvoiceLineView    `json:"lines"`
	CreatedAt          shape.Time           `json:"created_at"`
	UpdatedAt          shape.Time           `json:"updated_at"`
}

func view(inv Invoice) InvoiceView {
	v := InvoiceView{
		ID: inv.ID, TenantID: inv.TenantID, SubscriptionID: inv.SubscriptionID,
		PSPInvoiceID: orNil(inv.PSPInvoiceID), PSPPaymentIntentID: orNil(inv.PSPPaymentIntentID),
		Number: inv.Number, Status: inv.Status, Subtotal: inv.Subtotal, Tax: inv.Tax, Total: inv.Total, BalanceApplied: inv.BalanceApplied,
		IssueDate: dateOf(inv.IssueDate), PaidAt: shape.TP(inv.PaidAt), PaymentAction: inv.Action.OrNil(), BillingInfo: inv.Billed,
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
			UnitPrice: l.UnitPrice, Amount: l.Amount, PlanID: l.PlanID, MeterID: l.MeterID,
			PeriodStart: shape.TP(l.PeriodStart), PeriodEnd: shape.TP(l.PeriodEnd),
			CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		})
	}
	return v
}

// InvoiceList says how the list of invoices can be filtered (rules: invoices#reading).
func InvoiceList() page.Spec {
	return page.Spec{
		Params: map[string]page.Filter{"status": {
			Kind: page.Enum, Exprs: []string{"i.status"},
			Values: []string{string(Draft), string(Open), string(Paid), string(Void), string(Uncollectible)},
		}},
		Sorts: map[string]string{"issue_date": "i.issue_date"}, DefaultSort: "-issue_date", Tiebreak: "i.id",
	}
}

// InvoicePage is a page of invoices.
type InvoicePage struct {
	Data  []InvoiceView `json:"data"`
	Meta  InvoiceMeta   `json:"meta"`
	Links page.Links    `json:"links"`
}

// InvoiceMeta says where in the list a page is. From and To count from 1 and are
// null on an empty page.
type InvoiceMeta struct {
	CurrentPage int64  `json:"current_page"`
	LastPage    int64  `json:"last_page"`
	PerPage     int64  `json:"per_page"`
	Total       int64  `json:"total"`
	From        *int64 `json:"from"`
	To          *int64 `json:"to"`
}

type listInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// List handles GET /invoices.
func (h *HTTP) List(ctx context.Context, _ *listInput) (*rest.Plain[InvoicePage], error) {
	q, err := InvoiceList().Parse(rest.Query(ctx))
	if err != nil {
		return nil, err
	}
	tenantID := authz.TenantID(ctx)
	invoices, total, err := h.svc.source.list(ctx, tenantID, Status(q.Param("status")), q)
	if err != nil {
		return nil, err
	}
	views := make([]InvoiceView, len(invoices))
	for i, inv := range invoices {
		views[i] = view(inv)
	}
	p := page.New(q, h.publicURL+"/api/v1/tenant/"+tenantID.String()+"/invoices", views, total)
	out := InvoicePage{Data: p.Data, Links: p.Links, Meta: InvoiceMeta{
		CurrentPage: p.Meta.CurrentPage, LastPage: p.Meta.LastPage, PerPage: p.Meta.PerPage, Total: p.Meta.Total,
	}}
	if n := int64(len(views)); n > 0 {
		from := (p.Meta.CurrentPage-1)*p.Meta.PerPage + 1
		to := from + n - 1
		out.Meta.From, out.Meta.To = &from, &to
	}
	return rest.Bare(out), nil
}

type invoiceInput struct {
	Tenant  string `path:"tenantId" format:"uuid"`
	Invoice string `path:"invoiceId" format:"uuid"`
}

// Show handles GET /invoices/{invoiceId}.
func (h *HTTP) Show(ctx context.Context, in *invoiceInput) (*rest.Data[InvoiceView], error) {
	id, err := shape.ParseID(in.Invoice)
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.Get(ctx, authz.TenantID(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(inv)), nil
}

// PDF handles GET /invoices/{invoiceId}/pdf.
func (h *HTTP) PDF(ctx context.Context, in *invoiceInput) (*rest.Blob, error) {
	id, err := shape.ParseID(in.Invoice)
	if err != nil {
		return nil, err
	}
	file, err := h.svc.source.document(ctx, authz.TenantID(ctx), id)
	if err != nil {
		return nil, err
	}
	return &rest.Blob{
		ContentType: "application/pdf", Stream: file.Body, Length: file.Length,
		Disposition: rest.Attachment("invoice-" + file.Number + ".pdf"),
	}, nil
}

// Pay handles POST /invoices/{invoiceId}/pay.
func (h *HTTP) Pay(ctx context.Context, in *invoiceInput) (*rest.Data[InvoiceView], error) {
	id, err := shape.ParseID(in.Invoice)
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.Pay(ctx, authz.TenantID(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(inv)), nil
}

type adminInvoiceInput struct {
	Tenant  string `path:"tenant" format:"uuid"`
	Invoice string `path:"invoice" format:"uuid"`
}

// AdminVoid handles POST /admin/tenants/{tenant}/invoices/{invoice}/void.
func (h *HTTP) AdminVoid(ctx context.Context, in *adminInvoiceInput) (*rest.Data[InvoiceView], error) {
	tenantID, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	id, err := shape.ParseID(in.Invoice)
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.Void(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(view(inv), "invoice.voided"), nil
}

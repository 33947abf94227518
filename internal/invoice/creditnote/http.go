package creditnote

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// HTTP has the handlers of credit notes.
type HTTP struct {
	svc       *Service
	publicURL string
	decimals  sheet.Decimals
}

// NewHTTP returns the handlers. publicURL is the service's public base URL, without a trailing slash.
func NewHTTP(svc *Service, publicURL string, decimals sheet.Decimals) *HTTP {
	return &HTTP{svc, publicURL, decimals}
}

// CreditNoteLineView is a line of a credit note.
type CreditNoteLineView struct {
	LineID      *uuid.UUID  `json:"line_id" doc:"The credited line of the invoice. Null for an amount without a line."`
	Description string      `json:"description"`
	Amount      money.Money `json:"amount" doc:"Credited amount, with tax where prices include it."`
}

// CreditNoteView is the credit note resource (rules: invoices#credit-notes).
type CreditNoteView struct {
	ID           uuid.UUID            `json:"id"`
	Number       string               `json:"number"`
	InvoiceID    uuid.UUID            `json:"invoice_id"`
	Status       string               `json:"status" enum:"issued,void" doc:"A credit note is void if it was voided at the payment provider."`
	Subtotal     money.Money          `json:"subtotal"`
	Tax          money.Money          `json:"tax"`
	Total        money.Money          `json:"total"`
	Settlement   Settlement           `json:"settlement" doc:"How the amount is returned: to the card, as credit for the next invoices, or not at all."`
	RefundStatus *string              `json:"refund_status" enum:"pending,succeeded,failed" doc:"Status of the refund. A refund can fail after it succeeded. Null without a refund."`
	Reason       Reason               `json:"reason"`
	Memo         *string              `json:"memo" doc:"Text on the document. Null without one."`
	IssueDate    string               `json:"issue_date" format:"date"`
	Lines        []CreditNoteLineView `json:"lines"`
	PDFURL       *string              `json:"pdf_url" doc:"Path of the PDF. Null until it exists."`
}

func view(n Note) CreditNoteView {
	v := CreditNoteView{
		ID: n.ID, Number: n.Number, InvoiceID: n.InvoiceID, Status: n.Status, Subtotal: n.Subtotal, Tax: n.Tax, Total: n.Total, Settlement: n.Settlement,
		RefundStatus: orNil(n.RefundStatus), Reason: n.Reason, Memo: orNil(n.Memo), IssueDate: n.IssueDate.UTC().Format(time.DateOnly),
		Lines: make([]CreditNoteLineView, len(n.Lines)),
	}
	for i, l := range n.Lines {
		v.Lines[i] = CreditNoteLineView{LineID: l.LineID, Description: l.Description, Amount: l.Amount}
	}
	if n.HasPDF {
		url := "/api/v1/tenant/" + n.TenantID.String() + "/credit-notes/" + n.ID.String() + "/pdf"
		v.PDFURL = &url
	}
	return v
}

// CreditNotePreview has the amounts of a credit note before it is issued.
type CreditNotePreview struct {
	Subtotal   money.Money `json:"subtotal"`
	Tax        money.Money `json:"tax"`
	Total      money.Money `json:"total"`
	Refundable money.Money `json:"refundable" doc:"Amount that can be refunded: the sum that cards paid minus all refunds."`
}

// CreditLine is an amount to credit of a line.
type CreditLine struct {
	LineID      string `json:"line_id" format:"uuid" doc:"ID of the line of the invoice."`
	AmountCents int64  `json:"amount_cents" minimum:"1" maximum:"999999999999999" doc:"Amount in minor units of the currency, with tax where prices include it."`
}

type creditInput struct {
	Tenant  string `path:"tenant" format:"uuid"`
	Invoice string `path:"invoice" format:"uuid"`
	Body    struct {
		Lines       []CreditLine `json:"lines,omitempty" minItems:"1" maxItems:"1000" doc:"Lines to credit, each once. Use either lines or amount_cents."`
		AmountCents int64        `json:"amount_cents,omitempty" minimum:"1" maximum:"999999999999999" doc:"Total to credit, with tax, in minor units of the currency."`
		Settlement  Settlement   `json:"settlement" enum:"refund,credit,none" doc:"How the amount is returned: to the card, as credit for the next invoices, or not at all. An open invoice requires none."`
		Reason      Reason       `json:"reason" enum:"duplicate,fraudulent,order_change,product_unsatisfactory,other"`
		Memo        string       `json:"memo,omitempty" format:"multiline" maxLength:"500" doc:"Text that the customer reads on the document."`
	}
}

func (in *creditInput) request() request {
	b := in.Body
	r := request{AmountCents: b.AmountCents, Settlement: b.Settlement, Reason: b.Reason, Memo: b.Memo}
	for _, l := range b.Lines {
		id, _ := shape.ParseID(l.LineID) // the format was checked
		r.Lines = append(r.Lines, requestLine{id, l.AmountCents})
	}
	return r
}

// CheckCredit is the check that rest.Checks runs for Preview and Create.
func (h *HTTP) CheckCredit(ctx context.Context, in *creditInput) error {
	var errs []error
	if !rest.IsBroken(ctx, "amount_cents") && !rest.IsBroken(ctx, "lines") && (in.Body.AmountCents != 0) == (len(in.Body.Lines) > 0) {
		errs = append(errs, errOneAmount)
	}
	seen := map[string]bool{}
	for i, l := range in.Body.Lines {
		if seen[l.LineID] {
			errs = append(errs, fault.OnField(fmt.Sprintf("lines.%d.line_id", i), "validation.repeated"))
		}
		seen[l.LineID] = true
	}
	return fault.Join(errs...)
}

func (in *creditInput) ids() (tenantID, invoiceID uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(in.Tenant); err != nil {
		return tenantID, invoiceID, err
	}
	invoiceID, err = shape.ParseID(in.Invoice)
	return tenantID, invoiceID, err
}

// Preview handles POST /admin/tenants/{tenant}/invoices/{invoice}/credit-notes/preview.
func (h *HTTP) Preview(ctx context.Context, in *creditInput) (*rest.Data[CreditNotePreview], error) {
	if err := h.CheckCredit(ctx, in); err != nil {
		return nil, err
	}
	tenantID, invoiceID, err := in.ids()
	if err != nil {
		return nil, err
	}
	st, p, err := h.svc.preview(ctx, tenantID, invoiceID, in.request())
	if err != nil {
		return nil, err
	}
	return rest.OK(CreditNotePreview{Subtotal: st.money(p.subtotal), Tax: st.money(p.tax), Total: st.money(p.total), Refundable: st.money(p.refundable)}), nil
}

// Create handles POST /admin/tenants/{tenant}/invoices/{invoice}/credit-notes.
func (h *HTTP) Create(ctx context.Context, in *creditInput) (*rest.Data[CreditNoteView], error) {
	if err := h.CheckCredit(ctx, in); err != nil {
		return nil, err
	}
	tenantID, invoiceID, err := in.ids()
	if err != nil {
		return nil, err
	}
	n, err := h.svc.create(ctx, tenantID, invoiceID, in.request())
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(n)), nil
}

type adminNoteInput struct {
	Tenant     string `path:"tenant" format:"uuid"`
	CreditNote string `path:"creditNote" format:"uuid"`
}

// RetryRefund handles POST /admin/tenants/{tenant}/credit-notes/{creditNote}/retry-refund.
func (h *HTTP) RetryRefund(ctx context.Context, in *adminNoteInput) (*rest.Data[CreditNoteView], error) {
	tenantID, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	id, err := shape.ParseID(in.CreditNote)
	if err != nil {
		return nil, err
	}
	n, err := h.svc.retryRefund(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(n)), nil
}

// NoteList returns the sort order of the list of credit notes.
func NoteList() page.Spec {
	return page.Spec{Sorts: map[string]string{"issue_date": "n.issue_date"}, DefaultSort: "-issue_date", Tiebreak: "n.id"}
}

type listInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// List handles GET /credit-notes.
func (h *HTTP) List(ctx context.Context, _ *listInput) (*rest.Body[page.Page[CreditNoteView]], error) {
	q, err := NoteList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	tenantID := authz.TenantID(ctx)
	notes, total, err := h.svc.store.page(ctx, tenantID, q)
	if err != nil {
		return nil, err
	}
	views := make([]CreditNoteView, len(notes))
	for i, n := range notes {
		views[i] = view(n)
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/tenant/"+tenantID.String()+"/credit-notes", views, total)), nil
}

type noteInput struct {
	Tenant     string `path:"tenantId" format:"uuid"`
	CreditNote string `path:"creditNoteId" format:"uuid"`
}

// Show handles GET /credit-notes/{creditNoteId}.
func (h *HTTP) Show(ctx context.Context, in *noteInput) (*rest.Data[CreditNoteView], error) {
	id, err := shape.ParseID(in.CreditNote)
	if err != nil {
		return nil, err
	}
	n, err := h.svc.get(ctx, authz.TenantID(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(n)), nil
}

// PDF handles GET /credit-notes/{creditNoteId}/pdf.
func (h *HTTP) PDF(ctx context.Context, in *noteInput) (*rest.Blob, error) {
	id, err := shape.ParseID(in.CreditNote)
	if err != nil {
		return nil, err
	}
	return h.document(ctx, authz.TenantID(ctx), id)
}

// document returns the PDF of a credit note as a download.
func (h *HTTP) document(ctx context.Context, tenantID, id uuid.UUID) (*rest.Blob, error) {
	file, err := h.svc.document(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return &rest.Blob{
		ContentType: "application/pdf", Stream: file.Body, Length: file.Length, Disposition: rest.Attachment("credit-note-" + file.Number + ".pdf"),
	}, nil
}

// NoteExists is the check of routes that name a credit note of a tenant.
func (h *HTTP) NoteExists(ctx context.Context, param func(string) string) error {
	tenantID, err := shape.ParseID(param("tenant"))
	if err != nil {
		return err
	}
	id, err := shape.ParseID(param("creditNote"))
	if err != nil {
		return err
	}
	_, err = h.svc.get(ctx, tenantID, id)
	return err
}

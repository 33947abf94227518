package invoice

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// HTTP has the invoice handlers.
type HTTP struct {
	svc       *Service
	publicURL string
	decimals  sheet.Decimals
	rates     exchangeRates
}

// exchangeRates returns the current factors to the base currency, by currency. Without a base currency,
// Factors returns nil.
type exchangeRates interface {
	Factors(ctx context.Context) (map[string]string, error)
}

// NewHTTP returns the handlers. publicURL is the service's public base URL, without a trailing slash.
// Only the list across tenants needs decimals and rates.
func NewHTTP(svc *Service, publicURL string, decimals sheet.Decimals, rates exchangeRates) *HTTP {
	return &HTTP{svc, publicURL, decimals, rates}
}

// InvoiceList returns the filters and sort orders of the invoice list (rules: invoices#reading).
func InvoiceList() page.Spec {
	return page.Spec{
		Params: map[string]page.Filter{"status": {
			Kind: page.Enum, Exprs: []string{"i.status"},
			Values: []string{string(StatusDraft), string(StatusOpen), string(StatusPaid), string(StatusVoid), string(StatusUncollectible)},
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

// InvoiceMeta is the position of a page in the list. From and To count from 1 and are null on an
// empty page.
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
func (h *HTTP) List(ctx context.Context, _ *listInput) (*rest.Body[InvoicePage], error) {
	q, err := InvoiceList().Parse(rest.RequestOf(ctx).Query())
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
	return rest.NewBody(out), nil
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
	return h.document(ctx, authz.TenantID(ctx), id)
}

// document returns the PDF of an invoice as a download.
func (h *HTTP) document(ctx context.Context, tenantID, id uuid.UUID) (*rest.Blob, error) {
	file, err := h.svc.source.document(ctx, tenantID, id)
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

type markPaidInput struct {
	Tenant  string `path:"tenant" format:"uuid"`
	Invoice string `path:"invoice" format:"uuid"`
	Body    struct {
		PaidOn    string `json:"paid_on,omitempty" format:"date" doc:"Day of the payment, not in the future. Default: today."`
		Reference string `json:"reference,omitempty" maxLength:"140" doc:"Reference of the payment, such as the number of a transfer."`
	}
}

// CheckMarkPaid is the check that rest.Checks runs for AdminMarkPaid.
func (h *HTTP) CheckMarkPaid(_ context.Context, in *markPaidInput) error {
	if in.Body.PaidOn > h.svc.today() { // both are YYYY-MM-DD
		return fault.OnField("paid_on", "validation.date_future")
	}
	return nil
}

// AdminMarkPaid handles POST /admin/tenants/{tenant}/invoices/{invoice}/mark-paid.
func (h *HTTP) AdminMarkPaid(ctx context.Context, in *markPaidInput) (*rest.Data[InvoiceView], error) {
	if err := h.CheckMarkPaid(ctx, in); err != nil {
		return nil, err
	}
	tenantID, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	id, err := shape.ParseID(in.Invoice)
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.markPaid(ctx, tenantID, id, marking{PaidOn: cmp.Or(in.Body.PaidOn, h.svc.today()), Reference: in.Body.Reference})
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(inv)), nil
}

// InvoiceExists is the check of routes that name an invoice of a tenant.
func (h *HTTP) InvoiceExists(ctx context.Context, param func(string) string) error {
	tenantID, err := shape.ParseID(param("tenant"))
	if err != nil {
		return err
	}
	id, err := shape.ParseID(param("invoice"))
	if err != nil {
		return err
	}
	_, err = h.svc.store.pspInvoice(ctx, tenantID, id)
	return err
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
	return rest.OKMessage(platformView(inv), "invoice.voided"), nil
}

package invoice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// ids returns the tenant and the invoice in the path.
func (in *adminInvoiceInput) ids() (tenantID, id uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(in.Tenant); err != nil {
		return uuid.UUID{}, uuid.UUID{}, err
	}
	id, err = shape.ParseID(in.Invoice)
	return tenantID, id, err
}

// AdminShow handles GET /admin/tenants/{tenant}/invoices/{invoice}.
func (h *HTTP) AdminShow(ctx context.Context, in *adminInvoiceInput) (*rest.Data[InvoiceView], error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.Get(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(inv)), nil
}

// platformView is view for the platform: pdf_url is the path of its PDF route.
func platformView(inv Invoice) InvoiceView {
	v := view(inv)
	if v.PDFURL != nil {
		url := "/api/v1/admin/tenants/" + inv.TenantID.String() + "/invoices/" + inv.ID.String() + "/pdf"
		v.PDFURL = &url
	}
	return v
}

// AdminPay handles POST /admin/tenants/{tenant}/invoices/{invoice}/pay.
func (h *HTTP) AdminPay(ctx context.Context, in *adminInvoiceInput) (*rest.Data[InvoiceView], error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	inv, err := h.svc.Pay(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(inv)), nil
}

// AdminPDF handles GET /admin/tenants/{tenant}/invoices/{invoice}/pdf.
func (h *HTTP) AdminPDF(ctx context.Context, in *adminInvoiceInput) (*rest.Blob, error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return h.document(ctx, tenantID, id)
}

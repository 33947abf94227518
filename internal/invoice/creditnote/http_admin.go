package creditnote

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// ids returns the tenant and the credit note in the path.
func (in *adminNoteInput) ids() (tenantID, id uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(in.Tenant); err != nil {
		return uuid.UUID{}, uuid.UUID{}, err
	}
	id, err = shape.ParseID(in.CreditNote)
	return tenantID, id, err
}

// AdminShow handles GET /admin/tenants/{tenant}/credit-notes/{creditNote}.
func (h *HTTP) AdminShow(ctx context.Context, in *adminNoteInput) (*rest.Data[CreditNoteView], error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	n, err := h.svc.get(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(platformView(n)), nil
}

// platformView is view for the platform: pdf_url is the path of its PDF route.
func platformView(n Note) CreditNoteView {
	v := view(n)
	if v.PDFURL != nil {
		url := "/api/v1/admin/tenants/" + n.TenantID.String() + "/credit-notes/" + n.ID.String() + "/pdf"
		v.PDFURL = &url
	}
	return v
}

// AdminPDF handles GET /admin/tenants/{tenant}/credit-notes/{creditNote}/pdf.
func (h *HTTP) AdminPDF(ctx context.Context, in *adminNoteInput) (*rest.Blob, error) {
	tenantID, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return h.document(ctx, tenantID, id)
}

package invoice

import (
	"bytes"
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
)

// localSource is the source for invoices that this service issues.
type localSource struct{ store store }

func (l localSource) list(ctx context.Context, tenantID uuid.UUID, _ Status, q page.Query) ([]Invoice, int64, error) {
	return l.store.page(ctx, tenantID, q) // q already filters by status
}

func (l localSource) get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	return l.store.invoice(ctx, tenantID, id)
}

func (l localSource) document(ctx context.Context, tenantID, id uuid.UUID) (Document, error) {
	inv, err := l.store.invoice(ctx, tenantID, id)
	if err != nil {
		return Document{}, err
	}
	file, err := l.store.document(ctx, tenantID, id)
	if err != nil {
		return Document{}, err
	}
	return Document{Number: inv.Number, Body: io.NopCloser(bytes.NewReader(file)), Length: int64(len(file))}, nil
}

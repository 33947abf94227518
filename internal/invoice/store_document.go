package invoice

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// documentDetails are the fields that a document shows in addition to the invoice.
type documentDetails struct {
	vatNumber string // the tenant's; empty if unset
	taxRate   int64  // millionths
	locale    string

	reverseCharge bool
}

func (s store) documentDetails(ctx context.Context, tenantID, id uuid.UUID) (documentDetails, error) {
	row, err := s.q(ctx).IssuedDetails(ctx, invoicesql.IssuedDetailsParams{TenantID: tenantID, ID: id})
	details := documentDetails{taxRate: row.TaxRate, locale: row.Locale, reverseCharge: row.IsReverseCharge}
	if row.VATNumber != nil {
		details.vatNumber = *row.VATNumber
	}
	return details, sqldb.WrapAbsent(err, "read details of an invoice", errNotFound)
}

// insertDocument stores the document of an invoice unless it already has one.
func (s store) insertDocument(ctx context.Context, tenantID, invoiceID uuid.UUID, file []byte, now time.Time) error {
	err := s.q(ctx).InsertDocument(ctx, invoicesql.InsertDocumentParams{
		TenantID: tenantID, InvoiceID: invoiceID, Bytes: file, CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert document")
}

// document reads the document of an invoice. It returns errNotFound if it is missing.
func (s store) document(ctx context.Context, tenantID, id uuid.UUID) ([]byte, error) {
	file, err := s.q(ctx).Document(ctx, invoicesql.DocumentParams{TenantID: tenantID, InvoiceID: id})
	return file, sqldb.WrapAbsent(err, "read document", errNotFound)
}

// minorUnits returns the number of decimals of a currency.
func (s store) minorUnits(ctx context.Context, currency string) (int, error) {
	units, err := s.q(ctx).MinorUnits(ctx, currency)
	return int(units), sqldb.Wrap(err, "read minor units of "+currency)
}

// noteFailure records that the event reported a failed payment. It returns true if the event is
// new.
func (s store) noteFailure(ctx context.Context, tenantID uuid.UUID, pspID, event string) (bool, error) {
	noted, err := s.q(ctx).NoteFailedPayment(ctx, invoicesql.NoteFailedPaymentParams{TenantID: tenantID, PSPInvoiceID: pspID, Event: &event})
	return noted > 0, sqldb.Wrap(err, "store failed payment")
}

// billedPlan reads the plan name, by locale, of a provider subscription. It returns errNoPlan if
// the tenant has no such subscription.
func (s store) billedPlan(ctx context.Context, tenantID uuid.UUID, pspSubscriptionID string) (map[string]string, error) {
	name, err := s.q(ctx).PlanNameOfSubscription(ctx, invoicesql.PlanNameOfSubscriptionParams{
		TenantID: tenantID, PSPSubscriptionID: pspSubscriptionID,
	})
	if err != nil {
		return nil, sqldb.WrapAbsent(err, "read name of the billed plan", errNoPlan)
	}
	var texts map[string]string
	err = json.Unmarshal(name, &texts)
	return texts, sqldb.Wrap(err, "parse name of the billed plan")
}

package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/payments/paymentssql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *paymentssql.Queries { return paymentssql.New(s.db.Conn(ctx)) }

// noteState stores the state of an invoice. It reports whether it did: a state that is older than
// the stored one is discarded.
func (s store) noteState(ctx context.Context, tenantID uuid.UUID, issued time.Time, failedAt *time.Time, st State) (bool, error) {
	in, year := st.Invoice, int32(issued.UTC().Year())
	n, err := s.q(ctx).NoteState(ctx, paymentssql.NoteStateParams{
		TenantID: tenantID, PSPInvoiceID: in.ID, Status: &in.Status, Number: orNil(in.Number), Currency: &in.Currency,
		TotalCents: in.Total, PaidCents: in.Paid, OpenCents: amountDue(in), IssuedAt: &issued, Year: &year, Attempts: int32(in.Attempts),
		NextAttemptAt: in.NextAttemptAt, FailedAt: failedAt, FailedKey: orNil(st.Failure.Key), DeclineCode: orNil(st.Failure.Code),
		IsSent: in.IsSent, DueAt: in.DueAt, Final: in.Status != draft && in.Status != statusOpen,
	})
	return n == 1, sqldb.Wrap(err, "store the status of an invoice")
}

// state returns the stored state of a provider invoice, or errNotFound.
func (s store) state(ctx context.Context, tenantID uuid.UUID, pspID string) (paymentssql.StateRow, error) {
	row, err := s.q(ctx).State(ctx, paymentssql.StateParams{TenantID: tenantID, PSPInvoiceID: pspID})
	return row, sqldb.WrapAbsent(err, "read the state of an invoice", errNotFound)
}

// add stores a history entry unless it is stored already. It reports whether it did.
func (s store) add(ctx context.Context, tenantID, id uuid.UUID, e entry) (bool, error) {
	n, err := s.q(ctx).AddEntry(ctx, paymentssql.AddEntryParams{
		TenantID: tenantID, InvoiceID: id, Key: e.key, Type: e.kind, Currency: e.currency, AmountCents: e.amount,
		DeclineCode: orNil(e.declineCode), NextAttemptAt: e.nextAttemptAt, HappenedAt: e.at,
	})
	return n == 1, sqldb.Wrap(err, "insert payment entry")
}

// failRefund marks a stored refund as failed.
func (s store) failRefund(ctx context.Context, tenantID, id uuid.UUID, refundID string) error {
	err := s.q(ctx).FailRefund(ctx, paymentssql.FailRefundParams{TenantID: tenantID, InvoiceID: id, Key: refundID})
	return sqldb.Wrap(err, "mark refund as failed")
}

func (s store) sumRefunds(ctx context.Context, tenantID, id uuid.UUID) error {
	err := s.q(ctx).SumRefunds(ctx, paymentssql.SumRefundsParams{TenantID: tenantID, InvoiceID: id})
	return sqldb.Wrap(err, "sum the refunds of an invoice")
}

// sums returns a tenant's invoice totals by year and currency, newest year first.
func (s store) sums(ctx context.Context, tenantID uuid.UUID) ([]paymentssql.SumsRow, error) {
	rows, err := s.q(ctx).Sums(ctx, tenantID)
	return rows, sqldb.Wrap(err, "sum invoices")
}

// lastFailed returns the tenant's open invoice with the most recent failed payment, or errNotFound.
func (s store) lastFailed(ctx context.Context, tenantID uuid.UUID) (paymentssql.LastFailedRow, error) {
	row, err := s.q(ctx).LastFailed(ctx, tenantID)
	if row.OwnNumber != nil {
		row.Number = row.OwnNumber
	}
	return row, sqldb.WrapAbsent(err, "read the last failed payment", errNotFound)
}

// payer returns the tenant's customer at the provider and its subscription there, if it has one. It
// returns errNotFound if the tenant lacks a customer.
func (s store) payer(ctx context.Context, tenantID uuid.UUID) (customer, subscription string, err error) {
	row, err := s.q(ctx).Payer(ctx, tenantID)
	if row.PSPSubscriptionID != nil {
		subscription = *row.PSPSubscriptionID
	}
	return row.PSPCustomerID, subscription, sqldb.WrapAbsent(err, "find the customer of a tenant", errNotFound)
}

// exists returns errNoTenant if the tenant does not exist.
func (s store) exists(ctx context.Context, tenantID uuid.UUID) error {
	n, err := s.q(ctx).CountTenants(ctx, tenantID)
	if err == nil && n == 0 {
		return errNoTenant
	}
	return sqldb.Wrap(err, "find tenant")
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

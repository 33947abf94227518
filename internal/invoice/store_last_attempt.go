package invoice

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// listLastAttempts lists invoices for which the given number of attempts were made and whose next
// attempt is within attemptNotice.
func (s store) listLastAttempts(ctx context.Context, attempts int, now time.Time) ([]lastAttempt, error) {
	before := now.Add(attemptNotice)
	rows, err := s.q(ctx).ListLastAttempts(ctx, invoicesql.ListLastAttemptsParams{
		Attempts: int32(attempts), Now: &now, Before: &before, Most: attemptsPerRun,
	})
	list := make([]lastAttempt, len(rows))
	for i, row := range rows {
		list[i] = lastAttempt{row.TenantID, row.PSPInvoiceID, row.PSPSubscriptionID}
	}
	return list, sqldb.Wrap(err, "list last attempts")
}

// noteLastAttempt records that the tenant is notified. It reports false if that was recorded before,
// or if the subscription has ended or will end.
func (s store) noteLastAttempt(ctx context.Context, a lastAttempt) (bool, error) {
	n, err := s.q(ctx).NoteLastAttempt(ctx, invoicesql.NoteLastAttemptParams{
		TenantID: a.tenantID, PSPInvoiceID: a.pspInvoiceID, PSPSubscriptionID: a.pspSubscriptionID,
	})
	return n == 1, sqldb.Wrap(err, "record the notice of the last attempt")
}

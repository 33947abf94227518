package invoice

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the domain's SQL. Its methods use the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *invoicesql.Queries { return invoicesql.New(s.db.Conn(ctx)) }

// hasCreditNote reports whether an invoice has a credit note that is not void.
func (s store) hasCreditNote(ctx context.Context, tenantID, id uuid.UUID) (bool, error) {
	n, err := s.q(ctx).CountCreditNotes(ctx, invoicesql.CountCreditNotesParams{TenantID: tenantID, InvoiceID: id})
	return n > 0, sqldb.Wrap(err, "count credit notes of invoice")
}

const invoiceColumns = `i.id, i.tenant_id, i.subscription_id, i.psp_invoice_id, i.psp_payment_intent_id, i.number, i.status, i.currency,
	i.subtotal_cents, i.tax_cents, i.total_cents, i.balance_applied_cents, i.issue_date, i.due_date, i.paid_at, i.billing_info, i.created_at, i.updated_at,
	i.payment_action, i.payment_url, i.purchase_order,
	(SELECT p.marking FROM psp_invoices p WHERE p.tenant_id = i.tenant_id AND p.id = i.id),
	COALESCE((SELECT p.refunded_cents FROM psp_invoices p WHERE p.tenant_id = i.tenant_id AND p.id = i.id), 0),
	(SELECT COALESCE(sum(n.total_cents), 0)::bigint FROM credit_notes n WHERE n.tenant_id = i.tenant_id AND n.invoice_id = i.id AND n.status = 'issued'),
	EXISTS (SELECT 1 FROM invoice_documents d WHERE d.tenant_id = i.tenant_id AND d.invoice_id = i.id)`

func scanInvoice(row page.Scanner) (Invoice, error) {
	var (
		inv      Invoice
		intent   *string
		action   *string
		url      *string
		currency string
		billed   sqldb.JSON
		order    *string
		marked   sqldb.JSON
	)
	err := row.Scan(&inv.ID, &inv.TenantID, &inv.SubscriptionID, &inv.PSPInvoiceID, &intent, &inv.Number, &inv.Status, &currency,
		&inv.Subtotal.AmountCents, &inv.Tax.AmountCents, &inv.Total.AmountCents, &inv.BalanceApplied.AmountCents, &inv.IssueDate, &inv.DueDate, &inv.PaidAt, &billed,
		&inv.CreatedAt, &inv.UpdatedAt, &action, &url, &order, &marked,
		&inv.Refunded.AmountCents, &inv.Credited.AmountCents, &inv.HasPDF)
	if err != nil {
		return Invoice{}, err
	}
	inv.Subtotal.Currency, inv.Tax.Currency, inv.Total.Currency, inv.BalanceApplied.Currency = currency, currency, currency, currency
	inv.Refunded.Currency, inv.Credited.Currency = currency, currency
	if intent != nil {
		inv.PSPPaymentIntentID = *intent
	}
	if action != nil && url != nil {
		inv.Action = money.PaymentAction{Type: *action, URL: *url}
	}
	if order != nil {
		inv.PurchaseOrder = *order
	}
	if err := inv.setMarking(marked); err != nil {
		return inv, err
	}
	err = json.Unmarshal(billed, &inv.Billed)
	return inv, err
}

// page reads a page of a tenant's invoices with their lines. The number of queries is constant.
func (s store) page(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Invoice, int64, error) {
	sel := page.Select{Columns: invoiceColumns, From: "invoices i", Where: "i.tenant_id = $1", Args: []any{tenantID}}
	invoices, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, scanInvoice)
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list invoices")
	}
	return invoices, total, s.addLines(ctx, tenantID, invoices)
}

// invoice reads an issued invoice with its lines. It returns errNotFound if the tenant has no
// invoice with the ID.
func (s store) invoice(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	row := s.db.Conn(ctx).QueryRowContext(ctx, "SELECT "+invoiceColumns+" FROM invoices i WHERE i.tenant_id = $1 AND i.id = $2", tenantID, id)
	inv, err := scanInvoice(row)
	if err != nil {
		return Invoice{}, sqldb.WrapAbsent(err, "read invoice", errNotFound)
	}
	list := []Invoice{inv}
	err = s.addLines(ctx, tenantID, list)
	return list[0], err
}

// addLines reads the lines of several invoices of a tenant in one query.
func (s store) addLines(ctx context.Context, tenantID uuid.UUID, invoices []Invoice) error {
	if len(invoices) == 0 {
		return nil
	}
	var places strings.Builder
	args := []any{tenantID}
	at := map[uuid.UUID]int{}
	for i, inv := range invoices {
		if i > 0 {
			places.WriteByte(',')
		}
		args = append(args, inv.ID)
		places.WriteString("$" + strconv.Itoa(len(args)))
		at[inv.ID] = i
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT invoice_id, id, description, type, quantity, unit_price_cents, amount_cents,
	plan_id, meter_id, period_start, period_end, discount_cents
FROM invoice_lines WHERE tenant_id = $1 AND invoice_id IN (`+places.String()+`) ORDER BY invoice_id, position`, args...)
	if err != nil {
		return sqldb.Wrap(err, "read invoice lines")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var (
			of   uuid.UUID
			line Line
		)
		if err := rows.Scan(&of, &line.ID, &line.Description, &line.Type, &line.Quantity, &line.UnitPrice.AmountCents,
			&line.Amount.AmountCents, &line.PlanID, &line.MeterID, &line.PeriodStart, &line.PeriodEnd, &line.Discount); err != nil {
			return sqldb.Wrap(err, "read invoice lines")
		}
		inv := &invoices[at[of]]
		line.UnitPrice.Currency, line.Amount.Currency = inv.Total.Currency, inv.Total.Currency
		inv.Lines = append(inv.Lines, line)
	}
	if err := rows.Err(); err != nil {
		return sqldb.Wrap(err, "read invoice lines")
	}
	return s.addCredited(ctx, tenantID, invoices)
}

// issuedInvoice is an invoice with the fields that are stored but not exposed.
type issuedInvoice struct {
	Invoice
	year      int
	sequence  int64   // sequence number in the year
	taxRate   int64   // millionths
	vatNumber *string // the tenant's
	locale    string

	reverseCharge bool
}

// insert stores an issued invoice with its lines.
func (s store) insert(ctx context.Context, n issuedInvoice) error {
	billed, err := json.Marshal(n.Billed)
	if err != nil {
		return sqldb.Wrap(err, "encode billing details")
	}
	action, url := actionColumns(n.Action)
	err = s.q(ctx).InsertInvoice(ctx, invoicesql.InsertInvoiceParams{
		ID: n.ID, TenantID: n.TenantID, SubscriptionID: n.SubscriptionID, PSPInvoiceID: n.PSPInvoiceID,
		PSPPaymentIntentID: orNil(n.PSPPaymentIntentID), Number: n.Number, Year: int32(n.year), Sequence: n.sequence,
		Status: string(n.Status), Currency: n.Total.Currency, SubtotalCents: n.Subtotal.AmountCents, TaxCents: n.Tax.AmountCents,
		TotalCents: n.Total.AmountCents, BalanceAppliedCents: n.BalanceApplied.AmountCents, TaxRate: n.taxRate, IssueDate: n.IssueDate, DueDate: n.DueDate, PaidAt: n.PaidAt,
		BillingInfo: billed, VATNumber: n.vatNumber, IsReverseCharge: n.reverseCharge, Locale: n.locale, PaymentAction: action, PaymentURL: url, CreatedAt: n.CreatedAt,
		PurchaseOrder: orNil(n.PurchaseOrder),
	})
	if err != nil {
		return sqldb.Wrap(err, "insert invoice")
	}
	for i, l := range n.Lines {
		err := s.q(ctx).InsertLine(ctx, invoicesql.InsertLineParams{
			InvoiceID: n.ID, Position: int32(i), ID: l.ID, TenantID: n.TenantID, Description: l.Description, Type: string(l.Type),
			Quantity: l.Quantity, UnitPriceCents: l.UnitPrice.AmountCents, AmountCents: l.Amount.AmountCents,
			PlanID: l.PlanID, MeterID: l.MeterID, PeriodStart: l.PeriodStart, PeriodEnd: l.PeriodEnd, DiscountCents: l.Discount,
		})
		if err != nil {
			return sqldb.Wrap(err, "insert invoice line")
		}
	}
	return nil
}

// actionColumns returns the columns of a payment action.
func actionColumns(a money.PaymentAction) (action, url *string) { return orNil(a.Type), orNil(a.URL) }

// nextNumber takes the next number of a year. It must run in the transaction that inserts the
// invoice.
func (s store) nextNumber(ctx context.Context, year int) (int64, error) {
	if err := s.q(ctx).StartNumbers(ctx, int32(year)); err != nil {
		return 0, sqldb.Wrap(err, "start the invoice numbers of a year")
	}
	number, err := s.q(ctx).NextNumber(ctx, int32(year))
	return number, sqldb.Wrap(err, "take the next invoice number")
}

// move updates the status of an invoice. A final status never changes.
func (s store) move(ctx context.Context, inv Invoice, now time.Time) error {
	action, url := actionColumns(inv.Action)
	_, err := s.q(ctx).MoveInvoice(ctx, invoicesql.MoveInvoiceParams{
		TenantID: inv.TenantID, ID: inv.ID, Status: string(inv.Status), PaidAt: inv.PaidAt,
		PSPPaymentIntentID: orNil(inv.PSPPaymentIntentID), BalanceAppliedCents: inv.BalanceApplied.AmountCents,
		PaymentAction: action, PaymentURL: url, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "update the status of an invoice")
}

package creditnote

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/creditnote/creditnotesql"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the domain's SQL. Its methods use the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *creditnotesql.Queries {
	return creditnotesql.New(s.db.Conn(ctx))
}

// setCurrency sets the currency of the amounts.
func (n *Note) setCurrency(code string) {
	n.Subtotal.Currency, n.Tax.Currency, n.Total.Currency = code, code, code
	for i := range n.Lines {
		n.Lines[i].Amount.Currency = code
	}
}

func toNote(row creditnotesql.CreditNote) (Note, error) {
	n := Note{
		ID: row.ID, TenantID: row.TenantID, InvoiceID: row.InvoiceID, Number: text(row.Number), Status: row.Status,
		Subtotal: money.Money{AmountCents: row.SubtotalCents}, Tax: money.Money{AmountCents: row.TaxCents}, Total: money.Money{AmountCents: row.TotalCents},
		Settlement: Settlement(row.Settlement), Reason: Reason(row.Reason), Memo: text(row.Memo), RefundStatus: text(row.RefundStatus),
		pspInvoiceID: row.PSPInvoiceID, pspID: text(row.PSPCreditNoteID), pspRefundID: text(row.PSPRefundID), pspPDF: text(row.PSPPDFURL),
		isAnswered: row.IsAnswered, leasedUntil: row.LeasedUntil, createdAt: row.CreatedAt, HasPDF: row.PSPPDFURL != nil,
	}
	n.setCurrency(row.Currency)
	if row.IssueDate != nil {
		n.IssueDate = *row.IssueDate
	}
	if row.Year != nil && row.Sequence != nil {
		n.year, n.sequence = int(*row.Year), *row.Sequence
	}
	for _, stored := range []struct {
		text sqldb.JSON
		into any
	}{{row.Request, &n.request}, {row.Retry, &n.retry}} {
		if stored.text == nil {
			continue
		}
		if err := json.Unmarshal(stored.text, stored.into); err != nil {
			return n, sqldb.Wrap(err, "read request of credit note")
		}
	}
	return n, nil
}

// pendingNote returns the request of a tenant whose outcome is unknown, or errNoNote.
func (s store) pendingNote(ctx context.Context, tenantID uuid.UUID) (Note, error) {
	row, err := s.q(ctx).PendingNote(ctx, tenantID)
	if err != nil {
		return Note{}, sqldb.WrapAbsent(err, "read pending credit note", errNoNote)
	}
	return toNote(row)
}

// get returns a credit note of a tenant, whatever its status, or errNotFound.
func (s store) get(ctx context.Context, tenantID, id uuid.UUID) (Note, error) {
	row, err := s.q(ctx).Note(ctx, creditnotesql.NoteParams{TenantID: tenantID, ID: id})
	if err != nil {
		return Note{}, sqldb.WrapAbsent(err, "read credit note", errNotFound)
	}
	n, err := toNote(row)
	if err != nil {
		return n, err
	}
	one := []Note{n}
	err = s.addDetails(ctx, tenantID, one)
	return one[0], err
}

// ofInvoice lists the credit notes of an invoice without their lines, oldest first.
func (s store) ofInvoice(ctx context.Context, tenantID, invoiceID uuid.UUID) ([]Note, error) {
	rows, err := s.q(ctx).NotesOfInvoice(ctx, creditnotesql.NotesOfInvoiceParams{TenantID: tenantID, InvoiceID: invoiceID})
	if err != nil {
		return nil, sqldb.Wrap(err, "list credit notes of an invoice")
	}
	notes := make([]Note, len(rows))
	for i, row := range rows {
		if notes[i], err = toNote(row); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

const noteColumns = `n.id, n.invoice_id, n.number, n.status, n.currency, n.subtotal_cents, n.tax_cents, n.total_cents, n.settlement, n.reason, n.memo,
	n.refund_status, n.issue_date, n.psp_pdf_url IS NOT NULL`

// scan reads noteColumns, and more columns after them.
func (n *Note) scan(row page.Scanner, more ...any) error {
	var currency string
	var memo, refund *string
	err := row.Scan(append([]any{
		&n.ID, &n.InvoiceID, &n.Number, &n.Status, &currency, &n.Subtotal.AmountCents, &n.Tax.AmountCents, &n.Total.AmountCents,
		&n.Settlement, &n.Reason, &memo, &refund, &n.IssueDate, &n.HasPDF,
	}, more...)...)
	n.Memo, n.RefundStatus = text(memo), text(refund)
	n.setCurrency(currency)
	return err
}

// page returns a page of a tenant's credit notes with their lines.
func (s store) page(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Note, int64, error) {
	sel := page.Select{
		Columns: noteColumns,
		From:    "credit_notes n", Where: "n.tenant_id = $1 AND n.status <> 'pending'", Args: []any{tenantID},
	}
	notes, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (Note, error) {
		n := Note{TenantID: tenantID}
		err := n.scan(row)
		return n, err
	})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list credit notes")
	}
	return notes, total, s.addDetails(ctx, tenantID, notes)
}

// addDetails reads the lines of credit notes of a tenant, and whether this service has rendered their
// documents.
func (s store) addDetails(ctx context.Context, tenantID uuid.UUID, notes []Note) error {
	if len(notes) == 0 {
		return nil
	}
	args, at := []any{tenantID}, map[uuid.UUID]int{}
	places := make([]string, len(notes))
	for i, n := range notes {
		args, at[n.ID] = append(args, n.ID), i
		places[i] = "$" + strconv.Itoa(len(args))
	}
	in := " IN (" + strings.Join(places, ", ") + ")"
	err := s.rows(ctx, `SELECT credit_note_id, line_id, description, amount_cents FROM credit_note_lines WHERE tenant_id = $1 AND credit_note_id`+in+
		` ORDER BY credit_note_id, position`, args, func(scan func(...any) error) error {
		var id uuid.UUID
		var line Line
		if err := scan(&id, &line.LineID, &line.Description, &line.Amount.AmountCents); err != nil {
			return err
		}
		n := &notes[at[id]]
		line.Amount.Currency = n.Total.Currency
		n.Lines = append(n.Lines, line)
		return nil
	})
	if err != nil {
		return err
	}
	return s.rows(ctx, `SELECT credit_note_id FROM credit_note_documents WHERE tenant_id = $1 AND credit_note_id`+in, args, func(scan func(...any) error) error {
		var id uuid.UUID
		err := scan(&id)
		if i, ok := at[id]; ok {
			notes[i].HasPDF = true
		}
		return err
	})
}

func (s store) rows(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return sqldb.Wrap(err, "read details of credit notes")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return sqldb.Wrap(err, "read details of credit notes")
		}
	}
	return sqldb.Wrap(rows.Err(), "read details of credit notes")
}

// insert stores a request, or a credit note with its lines.
func (s store) insert(ctx context.Context, n Note) error {
	p := creditnotesql.InsertNoteParams{
		TenantID: n.TenantID, ID: n.ID, InvoiceID: n.InvoiceID, PSPInvoiceID: n.pspInvoiceID, PSPCreditNoteID: orNil(n.pspID), Number: orNil(n.Number),
		Status: n.Status, Currency: n.Total.Currency, SubtotalCents: n.Subtotal.AmountCents, TaxCents: n.Tax.AmountCents, TotalCents: n.Total.AmountCents,
		Settlement: string(n.Settlement), Reason: string(n.Reason), Memo: orNil(n.Memo), PSPRefundID: orNil(n.pspRefundID), RefundStatus: orNil(n.RefundStatus),
		PSPPDFURL: orNil(n.pspPDF), LeasedUntil: n.leasedUntil, CreatedAt: n.createdAt,
	}
	p.Year, p.Sequence = n.position()
	if !n.IssueDate.IsZero() {
		p.IssueDate = &n.IssueDate
	}
	if n.request != nil {
		var err error
		if p.Request, err = encode(n.request); err != nil {
			return err
		}
	}
	if err := s.q(ctx).InsertNote(ctx, p); err != nil {
		return sqldb.Wrap(err, "insert credit note")
	}
	return s.insertLines(ctx, n)
}

// position returns the columns of the position in the series.
func (n Note) position() (year *int32, sequence *int64) {
	if n.sequence == 0 {
		return nil, nil
	}
	y := int32(n.year)
	return &y, &n.sequence
}

func (s store) insertLines(ctx context.Context, n Note) error {
	for i, l := range n.Lines {
		err := s.q(ctx).InsertLine(ctx, creditnotesql.InsertLineParams{
			TenantID: n.TenantID, CreditNoteID: n.ID, Position: int32(i), LineID: l.LineID, Description: l.Description, AmountCents: l.Amount.AmountCents,
		})
		if err != nil {
			return sqldb.Wrap(err, "insert credit note line")
		}
	}
	return nil
}

// prepare stores the amounts and lines of a request before it is sent.
func (s store) prepare(ctx context.Context, n Note) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		err := s.q(ctx).PrepareNote(ctx, creditnotesql.PrepareNoteParams{
			TenantID: n.TenantID, ID: n.ID, SubtotalCents: n.Subtotal.AmountCents, TaxCents: n.Tax.AmountCents, TotalCents: n.Total.AmountCents, Currency: n.Total.Currency,
		})
		if err != nil {
			return sqldb.Wrap(err, "prepare credit note")
		}
		return s.insertLines(ctx, n)
	})
}

// issue stores that the provider has made the credit note of a request.
func (s store) issue(ctx context.Context, n Note) error {
	p := creditnotesql.IssueNoteParams{
		TenantID: n.TenantID, ID: n.ID, PSPCreditNoteID: orNil(n.pspID), Number: orNil(n.Number), IssueDate: &n.IssueDate,
		PSPRefundID: orNil(n.pspRefundID), RefundStatus: orNil(n.RefundStatus), PSPPDFURL: orNil(n.pspPDF),
	}
	p.Year, p.Sequence = n.position()
	_, err := s.q(ctx).IssueNote(ctx, p)
	return sqldb.Wrap(err, "issue credit note")
}

func (s store) lease(ctx context.Context, n Note, until time.Time) error {
	err := s.q(ctx).LeaseNote(ctx, creditnotesql.LeaseNoteParams{TenantID: n.TenantID, ID: n.ID, LeasedUntil: until})
	return sqldb.Wrap(err, "lease credit note")
}

// answer records that a response has returned the credit note to the caller.
func (s store) answer(ctx context.Context, n Note) error {
	err := s.q(ctx).AnswerNote(ctx, creditnotesql.AnswerNoteParams{TenantID: n.TenantID, ID: n.ID})
	return sqldb.Wrap(err, "store response of credit note")
}

// discard deletes a request that had no effect.
func (s store) discard(ctx context.Context, n Note) error {
	err := s.q(ctx).DeleteNote(ctx, creditnotesql.DeleteNoteParams{TenantID: n.TenantID, ID: n.ID})
	return sqldb.Wrap(err, "delete pending credit note")
}

func (s store) void(ctx context.Context, n Note) error {
	_, err := s.q(ctx).VoidNote(ctx, creditnotesql.VoidNoteParams{TenantID: n.TenantID, ID: n.ID})
	return sqldb.Wrap(err, "void credit note")
}

func (s store) setRefundStatus(ctx context.Context, tenantID uuid.UUID, refundID, status string) error {
	err := s.q(ctx).SetRefundStatus(ctx, creditnotesql.SetRefundStatusParams{TenantID: tenantID, PSPRefundID: &refundID, RefundStatus: &status})
	return sqldb.Wrap(err, "store status of refund")
}

// setRetry stores a retry with the end of its lease, or deletes the retry if r is nil.
func (s store) setRetry(ctx context.Context, n Note, r *retry, until time.Time) error {
	p := creditnotesql.SetRetryParams{TenantID: n.TenantID, ID: n.ID, LeasedUntil: until}
	if r != nil {
		var err error
		if p.Retry, err = encode(r); err != nil {
			return err
		}
	}
	return sqldb.Wrap(s.q(ctx).SetRetry(ctx, p), "store retry of refund")
}

func (s store) completeRetry(ctx context.Context, n Note, r invoices.Refund) error {
	err := s.q(ctx).CompleteRetry(ctx, creditnotesql.CompleteRetryParams{TenantID: n.TenantID, ID: n.ID, PSPRefundID: &r.ID, RefundStatus: &r.Status})
	return sqldb.Wrap(err, "store retried refund")
}

// creditedLines returns the credited amounts of the lines of an invoice.
func (s store) creditedLines(ctx context.Context, tenantID, invoiceID uuid.UUID) (map[uuid.UUID]int64, error) {
	rows, err := s.q(ctx).CreditedLines(ctx, creditnotesql.CreditedLinesParams{TenantID: tenantID, InvoiceID: invoiceID})
	lines := make(map[uuid.UUID]int64, len(rows))
	for _, row := range rows {
		lines[row.LineID] = row.AmountCents
	}
	return lines, sqldb.Wrap(err, "sum credited lines")
}

// nextNumber takes the next number of a year. It must run in the transaction that issues the credit
// note.
func (s store) nextNumber(ctx context.Context, year int) (int64, error) {
	if err := s.q(ctx).StartNumbers(ctx, int32(year)); err != nil {
		return 0, sqldb.Wrap(err, "start the credit note numbers of a year")
	}
	number, err := s.q(ctx).NextNumber(ctx, int32(year))
	return number, sqldb.Wrap(err, "take the next credit note number")
}

func (s store) insertDocument(ctx context.Context, n Note, file []byte, now time.Time) error {
	err := s.q(ctx).InsertDocument(ctx, creditnotesql.InsertDocumentParams{TenantID: n.TenantID, CreditNoteID: n.ID, Bytes: file, CreatedAt: now})
	return sqldb.Wrap(err, "insert document of credit note")
}

func (s store) document(ctx context.Context, n Note) ([]byte, error) {
	file, err := s.q(ctx).Document(ctx, creditnotesql.DocumentParams{TenantID: n.TenantID, CreditNoteID: n.ID})
	return file, sqldb.WrapAbsent(err, "read document of credit note", errNotFound)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

package invoice_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// books is a provider that has an invoice for every ID, all of one customer.
type books struct{}

func (books) GetInvoice(_ context.Context, id string) (psp.Invoice, error) {
	at := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)
	return psp.Invoice{
		ID: id, Status: "open", CustomerID: "cus_1", Currency: "EUR", Total: 900, CreatedAt: at, FinalizedAt: &at,
		Lines: []psp.InvoiceLine{{ID: "il_" + id, Description: "A line", Amount: 900, Quantity: 1, Currency: "EUR"}},
	}, nil
}

func (books) ListInvoices(context.Context, psp.InvoiceQuery) (psp.InvoicePage, error) {
	return psp.InvoicePage{}, nil
}

func (books) PayInvoice(context.Context, string, string) error                       { return nil }
func (books) MarkPaid(context.Context, string, string) error                         { return nil }
func (books) FinalizeInvoice(context.Context, string) error                          { return nil }
func (books) HasEnded(context.Context, string) (bool, error)                         { return false, nil }
func (books) InvoiceReminder(context.Context, string, string, letters.Invoice) error { return nil }
func (books) Invoice(context.Context, string, string, letters.Invoice, ...mail.Attachment) error {
	return nil
}

func (books) VoidInvoice(context.Context, string, string) error  { return nil }
func (books) SubscriptionEvent(context.Context, psp.Event) error { return nil }
func (books) PaymentFailed(context.Context, string, string, letters.PaymentFailed) error {
	return nil
}

func (books) Receipt(context.Context, string, string, letters.Receipt) error         { return nil }
func (books) Sends(string) bool                                                      { return false }
func (books) LastAttempt(context.Context, string, string, letters.LastAttempt) error { return nil }
func (books) RecordPayment(context.Context, uuid.UUID, string, []uuid.UUID, time.Time) error {
	return nil
}
func (books) SendsReceipts() bool { return false }

func issuer(db *sqldb.DB) *invoice.Service {
	c := clock.System()
	trail := audit.New(audit.Deps{DB: db, Clock: c})
	return invoice.NewService(invoice.Deps{
		DB: db, Clock: c, Jobs: jobs.New(jobs.Deps{DB: db, Clock: c, Lease: c}), Audit: trail, Log: slog.New(slog.DiscardHandler),
		Tenants: tenant.NewService(tenant.Deps{DB: db, Clock: c}), Subscriptions: books{}, Provider: books{}, Letters: books{},
		Payments: payments.NewBook(db, c, customers.Wallet{}),
		Issuing:  &invoice.IssuingConfig{Numbers: invoice.DefaultNumbers, Render: func(invoice.Statement) ([]byte, string, error) { return []byte("%PDF"), "", nil }},
	})
}

// furnish stores the tenant that owns the invoices' customer.
func furnish(t *testing.T, db *sqldb.DB) {
	t.Helper()
	id, now := uuid.New(), clock.System().Now()
	for _, statement := range []struct {
		text string
		args []any
	}{
		{"INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'Acme', 'acme', 'EUR', $2, $2)", []any{id, now}},
		{"INSERT INTO psp_customers (tenant_id, psp_customer_id, created_at) VALUES ($1, 'cus_1', $2)", []any{id, now}},
	} {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement.text, statement.args...); err != nil {
			t.Fatal(err)
		}
	}
}

// gapless checks that the numbers of the year run from 1 without gaps and that each invoice has its
// line. It returns the number of invoices.
func gapless(t *testing.T, db *sqldb.DB) int {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT i.sequence, i.number, i.psp_invoice_id,
		(SELECT count(*) FROM invoice_lines l WHERE l.invoice_id = i.id) FROM invoices i ORDER BY i.sequence`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n, seen := 0, map[string]bool{}
	for rows.Next() {
		var sequence, lines int64
		var number, pspID string
		if err := rows.Scan(&sequence, &number, &pspID, &lines); err != nil {
			t.Fatal(err)
		}
		n++
		if sequence != int64(n) || number != fmt.Sprintf("INV-2026-%06d", n) || lines != 1 || seen[pspID] {
			t.Errorf("invoice %d is %s of %s with %d lines", n, number, pspID, lines)
		}
		seen[pspID] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Concurrent, repeated and aborted issuing leaves no gaps or duplicates in the numbers.
func TestNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		furnish(t, db)
		svc := issuer(db)
		const invoices = 50
		var wg sync.WaitGroup
		for i := range 3 * invoices {
			wg.Go(func() {
				ctx := t.Context()
				if i >= 2*invoices { // every third call is canceled midway
					limited, cancel := context.WithTimeout(ctx, time.Duration(i%10)*time.Millisecond)
					defer cancel()
					_ = svc.Event(limited, psp.Event{ID: "evt", Type: "invoice.finalized", ObjectID: "in_" + strconv.Itoa(i%invoices)})
					return
				}
				if err := svc.Event(ctx, psp.Event{ID: "evt", Type: "invoice.finalized", ObjectID: "in_" + strconv.Itoa(i%invoices)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := gapless(t, db); n != invoices {
			t.Errorf("%d invoices, want %d", n, invoices)
		}
	})
}

const childVariable = "TENANTRY_TEST_ISSUE_INTO"

// TestIssuing issues invoices until TestNumbersSurviveKills kills the process.
func TestIssuing(t *testing.T) {
	url := os.Getenv(childVariable)
	if url == "" {
		return // only the child process issues
	}
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Patience: dbtest.ConnTimeout})
	if err != nil {
		t.Fatal(err)
	}
	svc := issuer(db)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_ = svc.Event(context.Background(), psp.Event{ObjectID: fmt.Sprintf("in_%d_%d_%d", os.Getpid(), worker, i)})
			}
		})
	}
	wg.Wait()
}

// A process that is killed while it issues leaves no gap.
func TestNumbersSurviveKills(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			db := dbtest.Open(t, url)
			furnish(t, db)
			before := 0
			for range dbtest.Rounds(3, 20) {
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestIssuing$")
				child.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, childVariable) }), childVariable+"="+url)
				var out bytes.Buffer
				child.Stdout, child.Stderr = &out, &out
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				testkit.Eventually(t, "five more numbers", func() bool { return count(t, db) >= before+5 })
				_ = child.Process.Kill() // the child can exit by itself; the count below detects that
				_ = child.Wait()
				after := gapless(t, db)
				if after < before+5 {
					t.Fatalf("only %d invoices were issued: %s", after-before, out.String())
				}
				before = after
			}
		})
	}
}

func count(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), "SELECT count(*) FROM invoices").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

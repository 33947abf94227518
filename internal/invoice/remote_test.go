package invoice

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// shelf is a provider with total invoices of one customer, two for each point in time. It lists
// them in chunks, newest first. The request for the chunk breaksAt, counted from 1, fails.
type shelf struct {
	Provider
	total, breaksAt, asked int
}

var errShelf = errors.New("the provider is down")

func (s *shelf) ListInvoices(_ context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error) {
	s.asked++
	if s.asked == s.breaksAt {
		return psp.InvoicePage{}, errShelf
	}
	from := 0
	if q.After != "" {
		n, err := strconv.Atoi(q.After[len("in_"):])
		if err != nil {
			return psp.InvoicePage{}, err
		}
		from = n + 1
	}
	var page psp.InvoicePage
	for i := from; i < min(from+q.Limit, s.total); i++ {
		page.Invoices = append(page.Invoices, psp.Invoice{
			ID: fmt.Sprintf("in_%d", i), Number: strconv.Itoa(i), Status: "paid", CustomerID: q.CustomerID, Currency: "EUR",
			CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(i/2) * time.Hour),
		})
	}
	page.More = from+q.Limit < s.total
	return page, nil
}

// Deep pages are correct for any chunk size. A failed chunk is an error, never a shorter list.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenantID, now := uuid.New(), clock.System().Now()
		for _, text := range []string{
			"INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'Acme', 'acme', 'EUR', $2, $2)",
			"INSERT INTO psp_customers (tenant_id, psp_customer_id, created_at) VALUES ($1, 'cus_1', $2)",
		} {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), text, tenantID, now); err != nil {
				t.Fatal(err)
			}
		}
		provider := &shelf{total: 251}
		source := remoteSource{
			store: store{db}, tenants: tenant.NewService(tenant.Deps{DB: db, Clock: clock.System()}), provider: provider, clock: clock.System(),
			payments: payments.NewBook(db, clock.System(), customers.Wallet{}),
		}
		for _, test := range []struct{ page, perPage, first, count int }{
			{1, 25, 0, 25}, {5, 25, 100, 25}, {11, 25, 250, 1}, {12, 25, 0, 0}, {3, 100, 200, 51}, {126, 2, 250, 1},
		} {
			q, err := InvoiceList().Parse(url.Values{"page": {strconv.Itoa(test.page)}, "per_page": {strconv.Itoa(test.perPage)}})
			if err != nil {
				t.Fatal(err)
			}
			list, total, err := source.list(t.Context(), tenantID, "", q)
			if err != nil || total != 251 || len(list) != test.count || test.count > 0 && list[0].Number != strconv.Itoa(test.first) {
				t.Errorf("page %d of %d: %d of %d, %v", test.page, test.perPage, len(list), total, err)
			}
			for i, inv := range list {
				if inv.Number != strconv.Itoa(test.first+i) {
					t.Errorf("page %d of %d: %s is at %d", test.page, test.perPage, inv.Number, i)
				}
			}
		}
		q, err := InvoiceList().Parse(url.Values{})
		if err != nil {
			t.Fatal(err)
		}
		for chunk := 1; chunk <= 3; chunk++ {
			provider.asked, provider.breaksAt = 0, chunk
			if list, _, err := source.list(t.Context(), tenantID, "", q); !errors.Is(err, errShelf) || list != nil {
				t.Errorf("chunk %d fails: %d invoices, %v", chunk, len(list), err)
			}
		}
	})
}

package invoice

import (
	"context"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// adminInvoice is an invoice in the list across tenants.
type adminInvoice struct {
	InvoiceView
	AmountDue money.Money       `json:"amount_due" doc:"Amount left to pay of an open invoice, otherwise 0."`
	Tenant    sheet.NamedTenant `json:"tenant"`
}

// adminInvoicePage is a page of the list across tenants.
type adminInvoicePage struct {
	Data  []adminInvoice   `json:"data"`
	Meta  adminInvoiceMeta `json:"meta"`
	Links page.Links       `json:"links"`
}

// adminInvoiceMeta is the position of a page in the list across tenants, with the sums of the whole list.
type adminInvoiceMeta struct {
	CurrentPage int64         `json:"current_page"`
	LastPage    int64         `json:"last_page"`
	PerPage     int64         `json:"per_page"`
	Total       int64         `json:"total"`
	Totals      []invoiceSums `json:"totals" doc:"Sums of all pages, by currency."`
}

// invoiceSums are the sums of the invoices in a currency, in minor units.
type invoiceSums struct {
	Currency  string `json:"currency"`
	Count     int64  `json:"count" doc:"Number of invoices."`
	Total     int64  `json:"total" doc:"Sum of the totals, in minor units of the currency."`
	AmountDue int64  `json:"amount_due" doc:"Sum of the amounts left to pay, in minor units of the currency."`
}

// byTotal returns the columns of the sort by total. With a base currency, it sorts by the amount in the
// base currency; otherwise by currency and amount. factors contains the factor from each currency to
// the base currency, as a decimal; nil without a base currency.
func byTotal(factors map[string]string) []page.SortColumn {
	if len(factors) == 0 {
		return []page.SortColumn{{Expr: "c.currency", Ascending: true}, {Expr: "c.total_cents"}}
	}
	column := page.Converted("c.total_cents", "c.currency", factors)
	column.Unindexed = true
	return []page.SortColumn{column}
}

// AcrossList returns the filters and the sort orders of the list across tenants.
func (h *HTTP) AcrossList(factors map[string]string) page.Spec {
	today := h.svc.sellerDay()
	return page.Spec{
		Filters: map[string]page.Filter{
			"status": {Kind: page.AnyOf, Exprs: []string{"c.status"}, Values: []string{
				string(StatusDraft), string(StatusOpen), string(StatusPaid), string(StatusVoid), string(StatusUncollectible),
			}},
			"tenant":      {Kind: page.UUID, Exprs: []string{"c.tenant_id"}},
			"currency":    page.Currencies("c.currency"),
			"issued_from": {Kind: page.DayFrom, Exprs: []string{"c.issue_date"}},
			"issued_to":   {Kind: page.DayTo, Exprs: []string{"c.issue_date"}},
			"overdue":     {Kind: page.Bool, Condition: func(value any, arg func(any) string) string { return isOverdue(value == true, arg(today)) }},
			"number":      {Kind: page.Prefix, Exprs: []string{"c.number_key"}},
		},
		Sorts: map[string]string{"issue_date": "c.issue_date"},
		SortColumns: map[string][]page.SortColumn{
			"total":    byTotal(factors),
			"due_date": {{Expr: "c.due_date", Nullable: true}},
		},
		DefaultSort: "-issue_date",
		Tiebreak:    "c.id",
		CSV:         true,
	}
}

// isOverdue returns the SQL condition for invoices that are overdue, or that are not overdue.
func isOverdue(overdue bool, today string) string {
	if overdue {
		return "c.status = 'open' AND c.due_date < " + today
	}
	return "c.status <> 'open' OR c.due_date IS NULL OR c.due_date >= " + today
}

// sellerDay returns the current date in the seller's time zone, as midnight in UTC.
func (s *Service) sellerDay() time.Time {
	now := s.deps.Clock.Now().UTC()
	if s.deps.TimeZone != nil {
		now = now.In(s.deps.TimeZone)
	}
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
}

// ListAcross handles GET /admin/invoices.
func (h *HTTP) ListAcross(ctx context.Context, _ *struct{}) (*rest.Body[adminInvoicePage], error) {
	query := rest.RequestOf(ctx).Query()
	var factors map[string]string
	if strings.Contains(strings.Join(query["sort"], ","), "total") {
		var err error
		if factors, err = h.rates.Factors(ctx); err != nil {
			return nil, err
		}
	}
	q, err := h.AcrossList(factors).Parse(query)
	if err != nil {
		return nil, err
	}
	var totals []invoiceSums
	list := sheet.List[adminInvoice]{Name: "invoices", Decimals: h.decimals, Read: func(ctx context.Context, q page.Query) (_ []adminInvoice, _ int64, err error) {
		if !q.IsExport() {
			if totals, err = h.svc.store.sumAcross(ctx, q); err != nil {
				return nil, 0, err
			}
		}
		return h.readAcross(ctx, q, totals)
	}}
	return sheet.Answer(ctx, list, q, func(entries []adminInvoice, total int64) (adminInvoicePage, error) {
		p := page.New(q, h.publicURL+"/api/v1/admin/invoices", entries, total)
		m := p.Meta
		return adminInvoicePage{p.Data, adminInvoiceMeta{m.CurrentPage, m.LastPage, m.PerPage, m.Total, totals}, p.Links}, nil
	})
}

func (h *HTTP) readAcross(ctx context.Context, q page.Query, totals []invoiceSums) ([]adminInvoice, int64, error) {
	count := int64(0)
	for _, t := range totals {
		count += t.Count
	}
	entries, total, err := h.svc.store.pageAcross(ctx, q, count)
	if err != nil {
		return nil, 0, err
	}
	views := make([]adminInvoice, len(entries))
	for i, e := range entries {
		views[i] = adminInvoice{InvoiceView: platformView(e.Invoice), AmountDue: money.Money{AmountCents: e.due, Currency: e.Total.Currency}, Tenant: e.tenant}
	}
	return views, total, nil
}

package blackbox_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// issue stores an issued invoice with one line, dated the given number of days after 1 January
// 2020, and returns its ID. Optional fields are unset.
func issue(s *apptest.Server, o apptest.Owner, sequence, day int, status string) string {
	s.T.Helper()
	id, at := sqldb.NewID(), time.Date(2020, 1, 1, 23, 59, 59, 0, time.UTC).AddDate(0, 0, day)
	apptest.Exec(s.T, s.DB(), `INSERT INTO invoices (id, tenant_id, psp_invoice_id, number, year, sequence, status, currency,
		subtotal_cents, tax_cents, total_cents, tax_rate, issue_date, billing_info, locale, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 2020, $5, $6, 'EUR', 100, 19, 119, 190000, $7, $8, 'en', $7, $7)`,
		id, o.Tenant, fmt.Sprintf("in_test_%d", sequence), fmt.Sprintf("N-%d", sequence), sequence, status, at, sqldb.JSON(`{}`))
	apptest.Exec(s.T, s.DB(), `INSERT INTO invoice_lines (invoice_id, position, id, tenant_id, description, type, quantity, unit_price_cents, amount_cents)
		VALUES ($1, 0, $2, $3, 'A line', 'adjustment', 2, 50, 100)`, id, sqldb.NewID(), o.Tenant)
	return id.String()
}

// issuedStatuses are the statuses of the invoices that issueAll creates, by day of issue.
var issuedStatuses = []string{"paid", "open", "void", "paid", "uncollectible", "paid", "open"}

// issueAll issues one invoice per day, out of order, and returns the IDs by day.
func issueAll(s *apptest.Server, o apptest.Owner) []string {
	ids := make([]string, len(issuedStatuses))
	for i, day := range []int{3, 0, 6, 1, 5, 2, 4} {
		ids[day] = issue(s, o, i+1, day, issuedStatuses[day])
	}
	return ids
}

// startIssuing starts, on each database, a server that issues its own invoices.
func startIssuing(t *testing.T, f func(t *testing.T, s *apptest.Server)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, apptest.Start(t, dialect, apptest.WithPlatformInvoices))
		})
	}
}

func TestIssuedInvoicesListed(t *testing.T) {
	t.Parallel()
	startIssuing(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		ids := issueAll(s, o)
		theirs := issue(s, other, 99, 2, "paid")
		base := o.Path("/invoices")
		page := func(page, last, per, total, from, to any) apptest.Object {
			return apptest.Object{"current_page": page, "last_page": last, "per_page": per, "total": total, "from": from, "to": to}
		}
		for _, tt := range []struct {
			query string
			days  []int // issue days of the expected invoices, in order
			meta  apptest.Object
			prev  any // page number; nil if there is no such page
			next  any
		}{
			{"", []int{6, 5, 4, 3, 2, 1, 0}, page(1.0, 1.0, 25.0, 7.0, 1.0, 7.0), nil, nil},
			{"sort=issue_date", []int{0, 1, 2, 3, 4, 5, 6}, page(1.0, 1.0, 25.0, 7.0, 1.0, 7.0), nil, nil},
			{"sort=-issue_date", []int{6, 5, 4, 3, 2, 1, 0}, page(1.0, 1.0, 25.0, 7.0, 1.0, 7.0), nil, nil},
			{"per_page=3", []int{6, 5, 4}, page(1.0, 3.0, 3.0, 7.0, 1.0, 3.0), nil, "2"},
			{"per_page=3&page=2", []int{3, 2, 1}, page(2.0, 3.0, 3.0, 7.0, 4.0, 6.0), "1", "3"},
			{"per_page=3&page=3", []int{0}, page(3.0, 3.0, 3.0, 7.0, 7.0, 7.0), "2", nil},
			{"per_page=3&page=4", []int{}, page(4.0, 3.0, 3.0, 7.0, nil, nil), "3", nil},
			{"per_page=3&page=9", []int{}, page(9.0, 3.0, 3.0, 7.0, nil, nil), "3", nil},
			{"per_page=7", []int{6, 5, 4, 3, 2, 1, 0}, page(1.0, 1.0, 7.0, 7.0, 1.0, 7.0), nil, nil},
			{"per_page=100", []int{6, 5, 4, 3, 2, 1, 0}, page(1.0, 1.0, 100.0, 7.0, 1.0, 7.0), nil, nil},
			{"status=paid", []int{5, 3, 0}, page(1.0, 1.0, 25.0, 3.0, 1.0, 3.0), nil, nil},
			{"status=paid&per_page=2&page=2&sort=issue_date", []int{5}, page(2.0, 2.0, 2.0, 3.0, 3.0, 3.0), "1", nil},
			{"status=open", []int{6, 1}, page(1.0, 1.0, 25.0, 2.0, 1.0, 2.0), nil, nil},
			{"status=void", []int{2}, page(1.0, 1.0, 25.0, 1.0, 1.0, 1.0), nil, nil},
			{"status=uncollectible", []int{4}, page(1.0, 1.0, 25.0, 1.0, 1.0, 1.0), nil, nil},
			{"status=draft", []int{}, page(1.0, 1.0, 25.0, 0.0, nil, nil), nil, nil},
		} {
			a := s.Call("GET", base+"?"+tt.query, o.Token, nil).Want(200).As("?" + tt.query)
			want := []any{}
			for _, day := range tt.days {
				want = append(want, ids[day])
			}
			if diff := cmp.Diff(want, a.Column("id")); diff != "" {
				t.Errorf("?%s (-want +got)\n%s", tt.query, diff)
			}
			a.WantAt("meta", tt.meta)
			wantLink(t, a, "prev", s.URL+base, tt.query, tt.prev)
			wantLink(t, a, "next", s.URL+base, tt.query, tt.next)
			wantLink(t, a, "first", s.URL+base, tt.query, "1")
			wantLink(t, a, "last", s.URL+base, tt.query, fmt.Sprint(tt.meta["last_page"]))
		}
		if got := s.Call("GET", other.Path("/invoices"), other.Token, nil).Want(200).Column("id"); !slices.Equal(got, []any{theirs}) {
			t.Errorf("the other tenant's: %v", got)
		}
	})
}

// wantLink checks that a page link has the list's address, the query and the page number. A nil
// number means that the link must be null.
func wantLink(t *testing.T, a apptest.Reply, key, address, query string, number any) {
	t.Helper()
	if number == nil {
		a.WantAt("links."+key, nil)
		return
	}
	link, err := url.Parse(a.Str("links." + key))
	if err != nil {
		t.Fatal(err)
	}
	want, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	want.Set("page", number.(string))
	if diff := cmp.Diff(want, link.Query()); diff != "" || !strings.HasPrefix(link.String(), address+"?") {
		t.Errorf("?%s: link %s is %s\n%s", query, key, link, diff)
	}
}

// Every key is present, even if its value is null.
func TestIssuedInvoiceWithLeast(t *testing.T) {
	t.Parallel()
	startIssuing(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		ids := issueAll(s, o)
		path := o.Path("/invoices/") + ids[1]
		shown := s.Call("GET", path, o.Token, nil).Want(200)
		euros := func(cents float64) apptest.Object {
			return apptest.Object{"amount_cents": cents, "currency": "EUR"}
		}
		const at = "2020-01-02T23:59:59.000000Z"
		want := apptest.Object{
			"id": ids[1], "tenant_id": o.Tenant, "subscription_id": nil, "psp_invoice_id": "in_test_4", "psp_payment_intent_id": nil,
			"number": "N-4", "status": "open", "subtotal": euros(100), "tax": euros(19), "total": euros(119), "balance_applied": euros(0),
			"issue_date": "2020-01-02", "due_date": nil, "paid_at": nil, "pdf_url": nil, "payment_action": nil,
			"paid_on": nil, "payment_reference": nil, "purchase_order": nil, "credited": euros(0), "refunded": euros(0),
			"billing_info": apptest.Object{"name": nil, "email": nil, "address": apptest.Object{
				"line1": nil, "line2": nil, "city": nil, "state": nil, "postal_code": nil, "country": nil,
			}},
			"lines": []any{apptest.Object{
				"id": shown.At("data.lines.0.id"), "invoice_id": ids[1], "description": "A line", "type": "adjustment", "quantity": 2.0,
				"unit_price": euros(50), "amount": euros(100), "creditable": euros(0), "plan_id": nil, "meter_id": nil, "period_start": nil, "period_end": nil,
				"created_at": at, "updated_at": at,
			}},
			"created_at": at, "updated_at": at,
		}
		shown.WantAt("data", want)
		s.Call("GET", o.Path("/invoices?sort=issue_date"), o.Token, nil).Want(200).WantAt("data.1", want)

		// Dates are UTC calendar dates.
		apptest.Exec(t, s.DB(), `UPDATE invoices SET due_date = $2 WHERE id = $1`, ids[1], time.Date(2020, 1, 31, 23, 59, 59, 0, time.UTC))
		s.Call("GET", path, o.Token, nil).Want(200).WantAt("data.due_date", "2020-01-31")

		// Without a document, the PDF is not found. With a document, the invoice has its URL.
		s.Call("GET", path+"/pdf", o.Token, nil).WantRefused(404, "")
		apptest.Exec(t, s.DB(), `INSERT INTO invoice_documents (tenant_id, invoice_id, bytes, created_at) VALUES ($1, $2, $3, $4)`,
			o.Tenant, ids[1], []byte("%PDF-1.7 test"), s.Now())
		s.Call("GET", path, o.Token, nil).Want(200).WantAt("data.pdf_url", path+"/pdf")
		file := s.Call("GET", path+"/pdf", o.Token, nil).Want(200)
		for header, want := range map[string]string{
			"Content-Type": "application/pdf", "Content-Length": "13", "Content-Disposition": `attachment; filename="invoice-N-4.pdf"`,
		} {
			if got := file.Header.Get(header); got != want {
				t.Errorf("%s is %q, want %q", header, got, want)
			}
		}
		if file.Text != "%PDF-1.7 test" {
			t.Errorf("the document is %q", file.Text)
		}
		s.Call("GET", other.Path("/invoices/")+ids[1]+"/pdf", other.Token, nil).WantRefused(404, "")
	})
}

// Both modes reject unauthorized callers the same way, before they validate the query and the ID.
func TestInvoiceRefusals(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		fresh := s.Register("new@example.com", false)
		member, _ := s.Join(o, "Mo", "mo@example.com", "member")
		for _, path := range []string{"?status=lost", "?sort=number", "/nonsense", "/" + apptest.NoSuchID, "/" + apptest.NoSuchID + "/pdf"} {
			path = "/invoices" + path
			s.Call("GET", o.Path(path), "", nil).As("without a token "+path).WantRefused(401, "")
			s.Call("GET", o.Path(path), "nonsense", nil).As("a wrong token "+path).WantRefused(401, "")
			s.Call("GET", o.Path(path), other.Token, nil).As("a stranger "+path).WantRefused(403, "")
			s.Call("GET", apptest.Owner{Tenant: apptest.NoSuchID}.Path(path), o.Token, nil).As("no tenant "+path).WantRefused(403, "")
			s.Call("GET", fresh.Path(path), fresh.Token, nil).As("before onboarding "+path).WantRefused(403, "ONBOARDING_INCOMPLETE")
			s.Call("POST", o.Path(path), o.Token, apptest.Object{}).As("POST "+path).WantRefused(405, "")
		}
		for _, token := range []string{o.Token, member} {
			for query, field := range map[string]string{
				"status=lost": "status", "status=PAID": "status", "status=paid,open": "status", "per_page=0": "per_page", "per_page=101": "per_page",
				"per_page=1.5": "per_page", "page=0": "page", "page=-1": "page", "page=x": "page",
			} {
				s.Call("GET", o.Path("/invoices?")+query, token, nil).As(query).WantInvalid(field)
			}
			for _, query := range []string{"sort=number", "sort=issue_date,total", "include=lines", "filter[status]=paid", "filter[total]=1"} {
				s.Call("GET", o.Path("/invoices?")+query, token, nil).As(query).WantRefused(400, "")
			}
			for _, id := range []string{"nonsense", apptest.NoSuchID, apptest.NoSuchID + "0", "%00"} {
				s.Call("GET", o.Path("/invoices/")+id, token, nil).As(id).WantRefused(404, "")
				s.Call("GET", o.Path("/invoices/")+id+"/pdf", token, nil).As(id+"/pdf").WantRefused(404, "")
			}
			s.Call("GET", o.Path("/invoices"), token, nil).Want(200).WantAt("data", []any{})
		}
	})
}

// Final invoices and invoices of other tenants cannot be voided.
func TestVoidRefusals(t *testing.T) {
	t.Parallel()
	startIssuing(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		ids := issueAll(s, o)
		admin := s.Admin()
		path := func(tenant, id string) string {
			return "/api/v1/admin/tenants/" + tenant + "/invoices/" + id + "/void"
		}
		for day, status := range issuedStatuses {
			if status == "open" {
				continue
			}
			a := s.Call("POST", path(o.Tenant, ids[day]), admin, nil).As(status)
			a.WantRefused(422, "invoice_not_voidable")
			s.Call("GET", o.Path("/invoices/")+ids[day], o.Token, nil).Want(200).WantAt("data.status", status)
		}
		open := ids[1]
		for name, tt := range map[string]struct {
			path, token string
			status      int
		}{
			"nobody":                {path(o.Tenant, open), "", 401},
			"the tenant's owner":    {path(o.Tenant, open), o.Token, 403},
			"a stranger":            {path(o.Tenant, open), other.Token, 403},
			"no admin, no invoice":  {path(o.Tenant, "nonsense"), o.Token, 403},
			"of another tenant":     {path(other.Tenant, open), admin, 404},
			"of no tenant":          {path(apptest.NoSuchID, open), admin, 404},
			"no invoice":            {path(o.Tenant, apptest.NoSuchID), admin, 404},
			"an id of another form": {path(o.Tenant, "nonsense"), admin, 404},
		} {
			s.Call("POST", tt.path, tt.token, nil).As(name).WantRefused(tt.status, "")
		}
		s.Call("GET", path(o.Tenant, open), admin, nil).WantRefused(405, "")
		// The message is in the caller's language.
		messages := map[string]bool{}
		for _, locale := range []string{"en", "fr", "es", "it"} {
			r := s.NewRequest("POST", path(o.Tenant, ids[0]), admin, nil)
			r.Header.Set("Accept-Language", locale)
			messages[s.Do(r).Want(422).Str("message")] = true
		}
		if len(messages) != 4 {
			t.Errorf("the messages are %v", messages)
		}
		s.Call("GET", o.Path("/invoices/")+open, o.Token, nil).Want(200).WantAt("data.status", "open")
		if n := s.CountAudited(o, "invoice.voided"); n != 0 {
			t.Errorf("%d in the audit log", n)
		}
	})
}

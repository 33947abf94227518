package app

import (
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func platformManaged(s *settings.Settings) {
	s.InvoiceMode = settings.PlatformManaged
	s.Invoices.Taxes = map[string]int64{"GB": 200_000}
	s.Invoices.Seller.Name = "Analytical Sellers"
}

// inBothModes runs a test against both sources of invoices, on both databases.
func inBothModes(t *testing.T, f func(t *testing.T, s *server, mode settings.InvoiceMode)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.PSPManaged, settings.PlatformManaged} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				f(t, start(t, dialect, func(s *settings.Settings) {
					if mode == settings.PlatformManaged {
						platformManaged(s)
					}
				}), mode)
			})
		}
	}
}

// invoices waits until a tenant has n invoices.
func (s *server) invoices(o owner, n int) []any {
	s.t.Helper()
	var list []any
	eventually(s.t, "the invoices", func() bool {
		list, _ = s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices", o.token, nil).want(200).at("data").([]any)
		return len(list) == n
	})
	return list
}

func TestInvoiceShape(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *server, mode settings.InvoiceMode) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		inv := s.invoices(o, 1)[0].(map[string]any)
		path := "/api/v1/tenant/" + o.tenant + "/invoices/" + inv["id"].(string)
		eventually(t, "the document", func() bool { return s.call("GET", path, o.token, nil).want(200).at("data.pdf_url") != nil })
		shown := s.call("GET", path, o.token, nil).want(200)
		want := []string{
			"billing_info", "created_at", "due_date", "id", "issue_date", "lines", "number", "paid_at", "pdf_url", "psp_invoice_id",
			"psp_payment_intent_id", "status", "subscription_id", "subtotal", "tax", "tenant_id", "total", "updated_at",
		}
		if got := slices.Sorted(maps.Keys(shown.at("data").(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("keys %q", got)
		}
		wantLine := []string{
			"amount", "created_at", "description", "id", "invoice_id", "meter_id", "period_end", "period_start", "plan_id", "quantity",
			"type", "unit_price", "updated_at",
		}
		if got := slices.Sorted(maps.Keys(shown.at("data.lines.0").(map[string]any))); !slices.Equal(got, wantLine) {
			t.Errorf("keys of a line %q", got)
		}
		subscription := s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200)
		for key, want := range map[string]any{
			"tenant_id": o.tenant, "subscription_id": subscription.at("data.id"), "status": "paid", "due_date": nil,
			"total.amount_cents": 1900.0, "total.currency": "EUR", "pdf_url": path + "/pdf",
			"lines.0.type": "subscription", "lines.0.quantity": 1.0, "lines.0.unit_price.amount_cents": 1900.0,
			"lines.0.amount.amount_cents": 1900.0, "lines.0.plan_id": subscription.at("data.plan.id"), "lines.0.meter_id": nil,
			"lines.0.invoice_id": inv["id"], "lines.0.period_start": subscription.at("data.current_period_start"),
			"lines.0.period_end":           subscription.at("data.current_period_end"),
			"billing_info.name":            "Analytical Engines Ltd",
			"billing_info.email":           "billing@example.com",
			"billing_info.address.country": "GB", "billing_info.address.postal_code": "SW1Y 4JH",
		} {
			if got := shown.at("data." + key); got != want {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if date := shown.str("data.issue_date"); len(date) != len("2026-01-31") {
			t.Errorf("issue_date %q", date)
		}
		if !strings.HasPrefix(shown.str("data.psp_payment_intent_id"), "pi_") || shown.at("data.paid_at") == nil {
			t.Errorf("payment %s", shown.text)
		}
		subtotal, tax := 1900.0, 0.0
		if mode == settings.PlatformManaged {
			subtotal, tax = 1583, 317
			// The demo's tenant has the first number.
			if got, want := shown.str("data.number"), "INV-"+shown.str("data.issue_date")[:4]+"-000002"; got != want {
				t.Errorf("number %q, want %q", got, want)
			}
		}
		if shown.at("data.subtotal.amount_cents") != subtotal || shown.at("data.tax.amount_cents") != tax {
			t.Errorf("subtotal %v, tax %v", shown.at("data.subtotal"), shown.at("data.tax"))
		}
	})
}

func TestInvoiceDocument(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *server, mode settings.InvoiceMode) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		inv := s.invoices(o, 1)[0].(map[string]any)
		path := "/api/v1/tenant/" + o.tenant + "/invoices/" + inv["id"].(string) + "/pdf"
		var file reply
		eventually(t, "the document", func() bool { file = s.call("GET", path, o.token, nil); return file.status == 200 })
		if got := file.header.Get("Content-Type"); got != "application/pdf" || !strings.HasPrefix(file.text, "%PDF-") {
			t.Errorf("content type %q, begins with %.10q", got, file.text)
		}
		want := `attachment; filename="invoice-` + inv["number"].(string) + `.pdf"`
		if got := file.header.Get("Content-Disposition"); got != want {
			t.Errorf("disposition %q, want %q", got, want)
		}
		if again := s.call("GET", path, o.token, nil).want(200); again.text != file.text && mode == settings.PlatformManaged {
			t.Error("the document has changed")
		}
	})
}

// A member reads, and nobody else does.
func TestInvoicesAreTheTenants(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *server, _ settings.InvoiceMode) {
		o, other := s.register("ada@example.com", true), s.register("eve@example.com", true)
		s.subscribe(o, "starter")
		s.subscribe(other, "starter")
		mine := s.invoices(o, 1)[0].(map[string]any)["id"].(string)
		base, theirs := "/api/v1/tenant/"+o.tenant+"/invoices", "/api/v1/tenant/"+other.tenant+"/invoices"
		for path, status := range map[string]int{
			base + "/" + mine: 200, theirs + "/" + mine: 404, theirs + "/" + mine + "/pdf": 404, theirs + "/nonsense": 404, theirs + "/nonsense/pdf": 404,
			theirs + "/019c0000-0000-7000-8000-000000000001": 404,
		} {
			token := other.token
			if strings.HasPrefix(path, base) {
				token = o.token
			}
			s.call("GET", path, token, nil).want(status)
		}
		s.call("GET", base, other.token, nil).want(403)
		s.call("GET", base, "", nil).want(401)
	})
}

func TestInvoiceList(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *server, _ settings.InvoiceMode) {
		o := s.register("ada@example.com", true)
		list := func(query string) reply {
			return s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices"+query, o.token, nil)
		}
		empty := list("").want(200)
		for key, want := range map[string]any{"total": 0.0, "last_page": 1.0, "current_page": 1.0, "per_page": 25.0, "from": nil, "to": nil} {
			if got := empty.at("meta." + key); got != want {
				t.Errorf("empty: %s is %v, want %v", key, got, want)
			}
		}
		if got, ok := empty.at("data").([]any); !ok || len(got) != 0 {
			t.Errorf("empty: data %v", empty.at("data"))
		}
		s.subscribe(o, "starter")
		s.invoices(o, 1)
		first := list("?per_page=1&status=paid").want(200)
		for key, want := range map[string]any{"total": 1.0, "per_page": 1.0, "from": 1.0, "to": 1.0} {
			if got := first.at("meta." + key); got != want {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if !strings.HasPrefix(first.str("links.first"), s.url) || !strings.Contains(first.str("links.first"), "status=paid") {
			t.Errorf("links %v", first.at("links"))
		}
		// Of a parameter given twice the last counts, and blanks around it do not.
		for _, query := range []string{"?status=lost&status=paid", "?status=%20paid%20"} {
			if got, _ := list(query).want(200).at("data").([]any); len(got) != 1 {
				t.Errorf("%s: %d invoices", query, len(got))
			}
		}
		for query, total := range map[string]float64{"?status=draft": 0, "?status=open": 0, "?status=void": 0, "?status=uncollectible": 0, "?page=9": 1} {
			page := list(query).want(200)
			if got, _ := page.at("data").([]any); len(got) != 0 || page.at("meta.total") != total {
				t.Errorf("%s: %s", query, page.text)
			}
		}
		for _, query := range []string{"?status=lost", "?per_page=0", "?per_page=101", "?page=0", "?page=x"} {
			list(query).want(422)
		}
		for _, query := range []string{"?filter[status]=paid", "?sort=number", "?include=lines"} {
			list(query).want(400)
		}
	})
}

// An outage is said, and never shown as an empty list.
func TestInvoicesWithoutProvider(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		id := s.invoices(o, 1)[0].(map[string]any)["id"].(string)
		base := "/api/v1/tenant/" + o.tenant + "/invoices"
		s.chaos(pspDown)
		for _, path := range []string{base, base + "?status=paid", base + "/" + id, base + "/" + id + "/pdf"} {
			s.call("GET", path, o.token, nil).refused(502, "psp_error")
		}
		s.chaos(nil)
		eventually(t, "the provider's return", func() bool { return s.call("GET", base+"/"+id, o.token, nil).status == http.StatusOK })
		s.invoices(o, 1)
	})
}

// What was issued here needs the provider no more.
func TestIssuedInvoicesWithoutProvider(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		s := start(t, dialect, platformManaged)
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		inv := s.invoices(o, 1)[0].(map[string]any)
		path := "/api/v1/tenant/" + o.tenant + "/invoices/" + inv["id"].(string)
		eventually(t, "the document", func() bool { return s.call("GET", path+"/pdf", o.token, nil).status == 200 })
		s.chaos(pspDown)
		s.call("GET", path, o.token, nil).want(200)
		file := s.call("GET", path+"/pdf", o.token, nil).want(200)
		if _, err := exec.LookPath("pdftotext"); err == nil {
			if text := pdfText(t, file.text); !strings.Contains(text, "Analytical Engines Ltd") || !strings.Contains(text, "VAT 20 %") || !strings.Contains(text, "€19.00") {
				t.Errorf("document\n%s", text)
			}
		}
	}
}

func pdfText(t *testing.T, file string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pdftotext", "-layout", "-", "-")
	cmd.Stdin = strings.NewReader(file)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The numbers of a year run without gap or double, whoever pays at the same time.
func TestInvoiceNumbers(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := start(t, dialect, platformManaged)
			const tenants = 8
			owners := make([]owner, tenants)
			pages := make([]string, tenants)
			for i := range owners {
				owners[i] = s.register("ada"+string(rune('a'+i))+"@example.com", true)
				pages[i] = s.checkout(owners[i], "starter")
			}
			done := make(chan int)
			for i := range owners {
				go func() {
					s.pay(pages[i], goodCard)
					done <- i
				}()
			}
			for range owners {
				<-done
			}
			var numbers []string
			for _, o := range owners {
				numbers = append(numbers, s.invoices(o, 1)[0].(map[string]any)["number"].(string))
			}
			slices.Sort(numbers)
			for i, number := range numbers {
				// The demo's tenant has the first one.
				if got := number[len(number)-6:]; got != "00000"+string(rune('2'+i)) {
					t.Errorf("numbers %q", numbers)
					break
				}
			}
		})
	}
}

// A payment that fails at renewal is told by mail and leaves an open invoice, which
// a platform admin can void, once.
func TestVoidInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *server, _ settings.InvoiceMode) {
		o := s.register("ada@example.com", true)
		s.pay(s.checkout(o, "starter"), "4000 0000 0000 0341").want(303)
		paid := s.invoices(o, 1)[0].(map[string]any)["id"].(string)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "768h"}).want(200)
		o.token = s.call("POST", "/api/v1/auth/login", "", adaLogin).want(200).str("accessToken")
		var open string
		eventually(t, "the open invoice", func() bool {
			list, _ := s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices?status=open", o.token, nil).want(200).at("data").([]any)
			if len(list) == 1 {
				open = list[0].(map[string]any)["id"].(string)
			}
			return len(list) == 1
		})
		eventually(t, "the mail about the payment", func() bool {
			return strings.Contains(s.call("GET", "/sandbox/mail/messages", "", nil).want(200).text, "Starter")
		})
		admin := s.admin()
		void := func(id string) reply {
			return s.call("POST", "/api/v1/admin/tenants/"+o.tenant+"/invoices/"+id+"/void", admin, nil)
		}
		void(paid).refused(422, "invoice_not_voidable")
		if got := void(open).want(200); got.at("data.status") != "void" || got.at("data.id") != open {
			t.Errorf("voided: %s", got.text)
		}
		void(open).refused(422, "invoice_not_voidable")
		if got := s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices/"+open, o.token, nil).want(200).at("data.status"); got != "void" {
			t.Errorf("status %v", got)
		}
		void("nonsense").want(404)
		s.call("POST", "/api/v1/admin/tenants/"+o.tenant+"/invoices/"+open+"/void", o.token, nil).want(403)
	})
}

// The draft of a renewal can be voided too, and is never collected then. (Where
// invoices are issued here, a draft is none yet.)
func TestVoidDraft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.passTo(s.subscription(o).moment("data.current_period_end").Add(10 * time.Minute))
		o.token = s.call("POST", "/api/v1/auth/login", "", adaLogin).want(200).str("accessToken")
		draft := s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices?status=draft", o.token, nil).want(200).str("data.0.id")
		s.call("POST", "/api/v1/admin/tenants/"+o.tenant+"/invoices/"+draft+"/void", s.admin(), nil).want(200).
			same("data.status", "void").same("data.id", draft)
		s.pass(3 * time.Hour)
		o.token = s.call("POST", "/api/v1/auth/login", "", adaLogin).want(200).str("accessToken")
		s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices/"+draft, o.token, nil).want(200).same("data.status", "void")
		if invoices := s.held(o, "invoice"); len(invoices) != 2 {
			t.Errorf("%d invoices", len(invoices))
		} else {
			invoices[1].same("status", "void").same("amount_paid", 0.0)
		}
		if n := s.recorded(o, "invoice.voided"); n != 1 {
			t.Errorf("%d in the trail", n)
		}
	})
}

package blackbox_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// inBothModes runs a test with both sources of invoices, on both databases.
func inBothModes(t *testing.T, f func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.InvoicesByPSP, settings.InvoicesByPlatform} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				f(t, apptest.Start(t, dialect, func(s *settings.Settings) {
					if mode == settings.InvoicesByPlatform {
						apptest.WithPlatformInvoices(s)
					}
				}), mode)
			})
		}
	}
}

func TestInvoiceShape(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		inv := s.Invoices(o, 1)[0].(map[string]any)
		path := o.Path("/invoices/") + inv["id"].(string)
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path, o.Token, nil).Want(200).At("data.pdf_url") != nil })
		shown := s.Call("GET", path, o.Token, nil).Want(200)
		want := []string{
			"balance_applied", "billing_info", "created_at", "credited", "due_date", "id", "issue_date", "lines", "number", "paid_at", "paid_on", "payment_action",
			"payment_reference", "pdf_url", "psp_invoice_id", "psp_payment_intent_id", "purchase_order", "refunded", "status", "subscription_id", "subtotal", "tax", "tenant_id", "total", "updated_at",
		}
		if got := slices.Sorted(maps.Keys(shown.At("data").(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("keys %q", got)
		}
		wantLine := []string{
			"amount", "created_at", "creditable", "description", "id", "invoice_id", "meter_id", "period_end", "period_start", "plan_id", "quantity",
			"type", "unit_price", "updated_at",
		}
		if got := slices.Sorted(maps.Keys(shown.At("data.lines.0").(map[string]any))); !slices.Equal(got, wantLine) {
			t.Errorf("keys of a line %q", got)
		}
		subscription := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200)
		for key, want := range map[string]any{
			"tenant_id": o.Tenant, "subscription_id": subscription.At("data.id"), "status": "paid", "due_date": nil,
			"total.amount_cents": 1900.0, "total.currency": "EUR", "pdf_url": path + "/pdf",
			"lines.0.type": "subscription", "lines.0.quantity": 1.0, "lines.0.unit_price.amount_cents": 1900.0,
			"lines.0.amount.amount_cents": 1900.0, "lines.0.plan_id": subscription.At("data.plan.id"), "lines.0.meter_id": nil,
			"lines.0.invoice_id": inv["id"], "lines.0.period_start": subscription.At("data.current_period_start"),
			"lines.0.period_end":           subscription.At("data.current_period_end"),
			"billing_info.name":            "Analytical Engines Ltd",
			"billing_info.email":           "billing@example.com",
			"billing_info.address.country": "GB", "billing_info.address.postal_code": "SW1Y 4JH",
		} {
			if got := shown.At("data." + key); got != want {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if date := shown.Str("data.issue_date"); len(date) != len("2026-01-31") {
			t.Errorf("issue_date %q", date)
		}
		if !strings.HasPrefix(shown.Str("data.psp_payment_intent_id"), "pi_") || shown.At("data.paid_at") == nil {
			t.Errorf("payment %s", shown.Text)
		}
		subtotal, tax := 1900.0, 0.0
		if mode == settings.InvoicesByPlatform {
			subtotal, tax = 1583, 317
			// The demo tenant has the first number.
			if got, want := shown.Str("data.number"), "INV-"+shown.Str("data.issue_date")[:4]+"-000002"; got != want {
				t.Errorf("number %q, want %q", got, want)
			}
		}
		if shown.At("data.subtotal.amount_cents") != subtotal || shown.At("data.tax.amount_cents") != tax {
			t.Errorf("subtotal %v, tax %v", shown.At("data.subtotal"), shown.At("data.tax"))
		}
	})
}

func TestInvoiceDocument(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		inv := s.Invoices(o, 1)[0].(map[string]any)
		path := o.Path("/invoices/") + inv["id"].(string) + "/pdf"
		var file apptest.Reply
		apptest.Eventually(t, "the document", func() bool { file = s.Call("GET", path, o.Token, nil); return file.Status == 200 })
		if got := file.Header.Get("Content-Type"); got != "application/pdf" || !strings.HasPrefix(file.Text, "%PDF-") {
			t.Errorf("content type %q, begins with %.10q", got, file.Text)
		}
		want := `attachment; filename="invoice-` + inv["number"].(string) + `.pdf"`
		if got := file.Header.Get("Content-Disposition"); got != want {
			t.Errorf("disposition %q, want %q", got, want)
		}
		if again := s.Call("GET", path, o.Token, nil).Want(200); again.Text != file.Text && mode == settings.InvoicesByPlatform {
			t.Error("the document has changed")
		}
	})
}

// Members can read the tenant's invoices; other users cannot.
func TestInvoicesAreTheTenants(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		s.BuyPlan(o, "starter")
		s.BuyPlan(other, "starter")
		mine := s.Invoices(o, 1)[0].(map[string]any)["id"].(string)
		base, theirs := o.Path("/invoices"), other.Path("/invoices")
		for path, status := range map[string]int{
			base + "/" + mine: 200, theirs + "/" + mine: 404, theirs + "/" + mine + "/pdf": 404, theirs + "/nonsense": 404, theirs + "/nonsense/pdf": 404,
			theirs + "/019c0000-0000-7000-8000-000000000001": 404,
		} {
			token := other.Token
			if strings.HasPrefix(path, base) {
				token = o.Token
			}
			s.Call("GET", path, token, nil).Want(status)
		}
		s.Call("GET", base, other.Token, nil).Want(403)
		s.Call("GET", base, "", nil).Want(401)
	})
}

func TestInvoiceList(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		list := func(query string) apptest.Reply {
			return s.Call("GET", o.Path("/invoices")+query, o.Token, nil)
		}
		empty := list("").Want(200)
		for key, want := range map[string]any{"total": 0.0, "last_page": 1.0, "current_page": 1.0, "per_page": 25.0, "from": nil, "to": nil} {
			if got := empty.At("meta." + key); got != want {
				t.Errorf("empty: %s is %v, want %v", key, got, want)
			}
		}
		if got, ok := empty.At("data").([]any); !ok || len(got) != 0 {
			t.Errorf("empty: data %v", empty.At("data"))
		}
		s.BuyPlan(o, "starter")
		s.Invoices(o, 1)
		first := list("?per_page=1&status=paid").Want(200)
		for key, want := range map[string]any{"total": 1.0, "per_page": 1.0, "from": 1.0, "to": 1.0} {
			if got := first.At("meta." + key); got != want {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if !strings.HasPrefix(first.Str("links.first"), s.URL) || !strings.Contains(first.Str("links.first"), "status=paid") {
			t.Errorf("links %v", first.At("links"))
		}
		// The last value of a repeated parameter counts. Surrounding spaces are ignored.
		for _, query := range []string{"?status=lost&status=paid", "?status=%20paid%20"} {
			if got, _ := list(query).Want(200).At("data").([]any); len(got) != 1 {
				t.Errorf("%s: %d invoices", query, len(got))
			}
		}
		for query, total := range map[string]float64{"?status=draft": 0, "?status=open": 0, "?status=void": 0, "?status=uncollectible": 0, "?page=9": 1} {
			page := list(query).Want(200)
			if got, _ := page.At("data").([]any); len(got) != 0 || page.At("meta.total") != total {
				t.Errorf("%s: %s", query, page.Text)
			}
		}
		for _, query := range []string{"?status=lost", "?per_page=0", "?per_page=101", "?page=0", "?page=x"} {
			list(query).Want(422)
		}
		for _, query := range []string{"?filter[status]=paid", "?sort=number", "?include=lines"} {
			list(query).Want(400)
		}
	})
}

// An outage is reported as an error, not as an empty list.
func TestInvoicesWithoutProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		id := s.Invoices(o, 1)[0].(map[string]any)["id"].(string)
		base := o.Path("/invoices")
		s.Chaos(apptest.ChaosProviderDown)
		for _, path := range []string{base, base + "?status=paid", base + "/" + id, base + "/" + id + "/pdf"} {
			s.Call("GET", path, o.Token, nil).WantRefused(502, "psp_error")
		}
		s.Chaos(nil)
		for _, path := range []string{base + "/" + id, base} {
			s.RetryWhileDown(func() apptest.Reply { return s.Call("GET", path, o.Token, nil) }).Want(200)
		}
	})
}

// Issued invoices can be read while the provider is down.
func TestIssuedInvoicesWithoutProvider(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		s := apptest.Start(t, dialect, apptest.WithPlatformInvoices)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		inv := s.Invoices(o, 1)[0].(map[string]any)
		path := o.Path("/invoices/") + inv["id"].(string)
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path+"/pdf", o.Token, nil).Status == 200 })
		s.Chaos(apptest.ChaosProviderDown)
		s.Call("GET", path, o.Token, nil).Want(200)
		file := s.Call("GET", path+"/pdf", o.Token, nil).Want(200)
		t.Run("document on "+string(dialect), func(t *testing.T) {
			t.Parallel()
			if text := pdfText(t, file.Text); !strings.Contains(text, "Analytical Engines Ltd") || !strings.Contains(text, "VAT 20%") || !strings.Contains(text, "€19.00") {
				t.Errorf("document\n%s", text)
			}
		})
	}
}

func pdfText(t *testing.T, file string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, "pdftotext"), "-layout", "-", "-")
	cmd.Stdin = strings.NewReader(file)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The numbers of a year have no gaps or duplicates, even with concurrent payments.
func TestInvoiceNumbers(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect, apptest.WithPlatformInvoices)
			const tenants = 8
			owners := make([]apptest.Owner, tenants)
			pages := make([]string, tenants)
			for i := range owners {
				owners[i] = s.Register("ada"+string(rune('a'+i))+"@example.com", true)
				pages[i] = s.Checkout(owners[i], "starter")
			}
			done := make(chan int)
			for i := range owners {
				go func() {
					s.Pay(pages[i], apptest.CardPays)
					done <- i
				}()
			}
			for range owners {
				<-done
			}
			var numbers []string
			for _, o := range owners {
				numbers = append(numbers, s.Invoices(o, 1)[0].(map[string]any)["number"].(string))
			}
			slices.Sort(numbers)
			for i, number := range numbers {
				// The demo tenant has the first number.
				if got := number[len(number)-6:]; got != "00000"+string(rune('2'+i)) {
					t.Errorf("numbers %q", numbers)
					break
				}
			}
		})
	}
}

// A failed renewal payment sends a mail and leaves an open invoice, which a platform admin can void
// once.
func TestVoidInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		s.Pay(s.Checkout(o, "starter"), "4000 0000 0000 0341").Want(303)
		paid := s.Invoices(o, 1)[0].(map[string]any)["id"].(string)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "768h"}).Want(200)
		o.Token = s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
		var open string
		apptest.Eventually(t, "the open invoice", func() bool {
			list, _ := s.Call("GET", o.Path("/invoices?status=open"), o.Token, nil).Want(200).At("data").([]any)
			if len(list) == 1 {
				open = list[0].(map[string]any)["id"].(string)
			}
			return len(list) == 1
		})
		apptest.Eventually(t, "the mail about the payment", func() bool {
			return strings.Contains(s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200).Text, "Starter")
		})
		admin := s.Admin()
		void := func(id string) apptest.Reply {
			return s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invoices/"+id+"/void", admin, nil)
		}
		void(paid).WantRefused(422, "invoice_not_voidable")
		if got := void(open).Want(200); got.At("data.status") != "void" || got.At("data.id") != open {
			t.Errorf("voided: %s", got.Text)
		}
		void(open).WantRefused(422, "invoice_not_voidable")
		if got := s.Call("GET", o.Path("/invoices/")+open, o.Token, nil).Want(200).At("data.status"); got != "void" {
			t.Errorf("status %v", got)
		}
		void("nonsense").Want(404)
		s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invoices/"+open+"/void", o.Token, nil).Want(403)
	})
}

// A renewal draft can be voided and is then never collected. This covers only the provider's
// invoices, because this service does not issue drafts.
func TestVoidDraft(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AdvanceTo(s.Subscription(o).TimeAt("data.current_period_end").Add(10 * time.Minute))
		o.Token = s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
		draft := s.Call("GET", o.Path("/invoices?status=draft"), o.Token, nil).Want(200).Str("data.0.id")
		s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invoices/"+draft+"/void", s.Admin(), nil).Want(200).
			WantAt("data.status", "void").WantAt("data.id", draft)
		s.Advance(3 * time.Hour)
		o.Token = s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
		s.Call("GET", o.Path("/invoices/")+draft, o.Token, nil).Want(200).WantAt("data.status", "void")
		if invoices := s.ProviderObjects(o, "invoice"); len(invoices) != 2 {
			t.Errorf("%d invoices", len(invoices))
		} else {
			invoices[1].WantAt("status", "void").WantAt("amount_paid", 0.0)
		}
		if n := s.CountAudited(o, "invoice.voided"); n != 1 {
			t.Errorf("%d in the audit log", n)
		}
	})
}

package creditnote_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

type object = apptest.Object

// inBothModes runs a test with both sources of documents, on both databases.
func inBothModes(t *testing.T, f func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode), options ...apptest.Option) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.InvoicesByPSP, settings.InvoicesByPlatform} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				options := slices.Clone(options)
				if mode == settings.InvoicesByPlatform {
					options = append(options, apptest.WithPlatformInvoices)
				}
				f(t, apptest.Start(t, dialect, options...), mode)
			})
		}
	}
}

// bought is a customer with an invoice of 19.00 EUR that a card has paid.
type bought struct {
	*apptest.Customer
	invoice string
}

func buy(s *apptest.Server, name, card string) bought {
	s.T.Helper()
	c := s.NewCustomer(name)
	s.BuyPlanWith(c.Owner, "starter", card)
	return bought{c, s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)}
}

// admin calls a path of the tenant as an admin.
func (b bought) admin(method, path string, body any, header ...string) apptest.Reply {
	b.T.Helper()
	r := b.NewRequest(method, "/api/v1/admin/tenants/"+b.Tenant+path, b.Admin(), body)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.Do(r)
}

func (b bought) credit(body object) apptest.Reply {
	b.T.Helper()
	return b.admin("POST", "/invoices/"+b.invoice+"/credit-notes", body)
}

func (b bought) preview(body object) apptest.Reply {
	b.T.Helper()
	return b.admin("POST", "/invoices/"+b.invoice+"/credit-notes/preview", body)
}

// get reads a path of the tenant as its owner.
func (b bought) get(path string) apptest.Reply {
	b.T.Helper()
	return b.Call("GET", b.Path(path), b.Token, nil).Want(200)
}

func (b bought) show() apptest.Reply { b.T.Helper(); return b.get("/invoices/" + b.invoice) }

// body returns the request for an amount.
func body(cents int, settlement string) object {
	return object{"amount_cents": cents, "settlement": settlement, "reason": "order_change"}
}

func cents(n float64) object { return object{"amount_cents": n, "currency": "EUR"} }

// A part of a paid invoice is refunded, the rest becomes credit. The parts add up
// to the invoice, with its tax, and the subscription stays.
func TestCreditOfAPaidInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode) {
		s.AvoidMidnight()
		c := buy(s, "ada", apptest.CardPays)
		tax, rest := 0.0, 0.0
		if mode == settings.InvoicesByPlatform {
			tax, rest = 83, 234 // 20 % in Great Britain: 317 of 1900
		}
		part := apptest.WithChanges(body(500, "refund"), object{"memo": "One seat less"})
		c.preview(part).Want(200).WantAt("data", object{"subtotal": cents(500 - tax), "tax": cents(tax), "total": cents(500), "refundable": cents(1900)})
		c.get("/credit-notes").WantAt("data", []any{})
		made := c.credit(part).Want(201)
		note := made.At("data").(map[string]any)
		number := "CN-" + s.Now().Format("2006") + "-000001"
		if mode == settings.InvoicesByPSP {
			number = c.show().Str("data.number") + "-CN-01"
		}
		path := c.Path("/credit-notes/" + note["id"].(string))
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path, c.Token, nil).Want(200).At("data.pdf_url") != nil })
		s.Call("GET", path, c.Token, nil).Want(200).WantAt("data", object{
			"id": note["id"], "number": number, "invoice_id": c.invoice, "status": "issued", "subtotal": cents(500 - tax), "tax": cents(tax), "total": cents(500),
			"settlement": "refund", "refund_status": "succeeded", "reason": "order_change", "memo": "One seat less", "issue_date": s.Now().UTC().Format(time.DateOnly),
			"lines":   []any{object{"line_id": nil, "description": "Credit for invoice " + c.show().Str("data.number"), "amount": cents(500)}},
			"pdf_url": path + "/pdf",
		})
		if file := s.Call("GET", path+"/pdf", c.Token, nil).Want(200); file.Text[:5] != "%PDF-" {
			t.Errorf("the PDF begins with %.10q", file.Text)
		}
		c.show().WantAt("data.credited", cents(500)).WantAt("data.refunded", cents(500)).WantAt("data.status", "paid")

		c.preview(body(1400, "credit")).Want(200).WantAt("data.tax", cents(rest)).WantAt("data.refundable", cents(1400))
		c.credit(body(1401, "credit")).WantRefused(422, "amount_too_large")
		c.credit(body(1400, "credit")).Want(201).WantAt("data.tax", cents(rest)).WantAt("data.refund_status", nil).WantAt("data.memo", nil)
		c.get("/credit").WantAt("data.balance", cents(1400))
		c.show().WantAt("data.credited", cents(1900)).WantAt("data.refunded", cents(500))
		for _, settlement := range []string{"refund", "credit", "none"} {
			c.preview(body(1, settlement)).Want(422).WantAt("code", "amount_too_large").WantAt("amount_left", cents(0))
		}
		if got := c.get("/credit-notes").Column("total"); len(got) != 2 {
			t.Errorf("listed: %v", got)
		}
		c.get("/subscription").WantAt("data.status", "active")
		if n := s.CountAudited(c.Owner, "credit_note.issued"); n != 2 {
			t.Errorf("%d audit entries", n)
		}
	})
}

// Bad requests name the field and change nothing.
func TestRefusedCreditNotes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c, other := buy(s, "ada", apptest.CardPays), buy(s, "eve", apptest.CardPays)
		line := c.show().Str("data.lines.0.id")
		lines := func(lines ...any) object { return object{"lines": lines, "settlement": "none", "reason": "other"} }
		of := func(id string, n int) object { return object{"line_id": id, "amount_cents": n} }
		for field, asked := range map[string]object{
			"amount_cents":         {"settlement": "none", "reason": "other"},
			"settlement":           {"amount_cents": 1, "reason": "other"},
			"reason":               {"amount_cents": 1, "settlement": "none"},
			"memo":                 apptest.WithChanges(body(1, "none"), object{"memo": strings.Repeat("x", 501)}),
			"lines.1.line_id":      lines(of(line, 1), of(line, 1)),
			"lines.0.line_id":      lines(of(other.show().Str("data.lines.0.id"), 1)),
			"lines.0.amount_cents": lines(of(line, 0)),
		} {
			c.credit(asked).As(field).WantInvalid(field)
			c.preview(asked).As(field).WantInvalid(field)
		}
		c.credit(apptest.WithChanges(lines(of(line, 1)), object{"amount_cents": 1})).WantInvalid("amount_cents")
		c.credit(lines(of(line, 1901))).Want(422).WantAt("code", "amount_too_large").WantAt("amount_left", cents(1900))
		c.credit(lines(of(line, 900))).Want(201).WantAt("data.lines.0.line_id", line).WantAt("data.total", cents(900))
		c.credit(lines(of(line, 1001))).Want(422).WantAt("amount_left", cents(1000))

		s.Call("POST", "/api/v1/admin/tenants/"+other.Tenant+"/invoices/"+c.invoice+"/credit-notes", s.Admin(), body(1, "none")).WantRefused(404, "")
		s.Call("POST", "/api/v1/admin/tenants/"+c.Tenant+"/invoices/"+c.invoice+"/credit-notes", c.Token, body(1, "none")).WantRefused(403, "")
		note := c.get("/credit-notes").Str("data.0.id")
		s.Call("GET", other.Path("/credit-notes/"+note), other.Token, nil).WantRefused(404, "")
		member, _ := s.Join(c.Owner, "Bob", "bob@example.com", "member")
		s.Call("GET", c.Path("/credit-notes/"+note), member, nil).Want(200) // every member reads credit notes
		c.admin("POST", "/credit-notes/"+note+"/retry-refund", nil).WantRefused(409, "refund_not_failed")
		c.show().WantAt("data.credited", cents(900)).WantAt("data.refunded", cents(0))
	})
}

// A credit note of an open invoice lowers the amount due, and the invoice is paid when nothing is left
// to pay. Drafts and void invoices cannot be credited. Credit notes that are voided at the provider
// become void.
func TestCreditOfAnOpenInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		c := bought{Customer: s.NewCustomer("ada")}
		c.admin("POST", "/subscriptions", object{
			"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "price_cents": 1900, "collection": "invoice", "days_until_due": 14,
		}).Want(201)
		s.AwaitNotifications()
		open := s.Invoices(c.Owner, 1)[0].(map[string]any)
		c.invoice = open["id"].(string)
		for _, settlement := range []string{"refund", "credit"} {
			c.credit(body(400, settlement)).WantInvalid("settlement")
		}
		first := c.credit(body(400, "none")).Want(201).Str("data.id")
		c.show().WantAt("data.status", "open").WantAt("data.credited", cents(400)).WantAt("data.total", cents(1900))
		c.credit(body(1501, "none")).Want(422).WantAt("amount_left", cents(1500))

		remote := s.AtProvider("GET", "/credit_notes", "invoice", open["psp_invoice_id"].(string))
		s.AtProvider("POST", "/credit_notes/"+remote.Str("data.0.id")+"/void")
		s.AwaitNotifications()
		apptest.Eventually(t, "the void", func() bool { return c.get("/credit-notes/"+first).At("data.status") == "void" })
		c.show().WantAt("data.credited", cents(0))
		c.credit(body(1900, "none")).Want(201)
		c.show().WantAt("data.status", "paid").WantAt("data.credited", cents(1900)).WantAt("data.refunded", cents(0))
		c.preview(body(1, "refund")).Want(422).WantAt("amount_left", cents(0))
	})
}

// Concurrent requests credit at most the amount of the invoice, and a refused request takes no
// number.
func TestConcurrentCreditNotes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		customers := []bought{buy(s, "ada", apptest.CardPays), buy(s, "eve", apptest.CardPays)}
		var wait sync.WaitGroup
		var mu sync.Mutex
		made := map[string]bool{}
		for i := range 8 {
			wait.Go(func() {
				switch got := customers[i%2].credit(body(600, "refund")); got.Status {
				case 201:
					mu.Lock()
					made[got.Str("data.number")] = true
					mu.Unlock()
				default:
					got.WantRefused(422, "amount_too_large")
				}
			})
		}
		wait.Wait()
		for i := range 6 {
			number := "CN-" + s.Now().Format("2006") + "-00000" + string(rune('1'+i))
			if !made[number] {
				t.Errorf("%s is missing: %v", number, made)
			}
		}
		for _, c := range customers {
			c.show().WantAt("data.credited", cents(1800)).WantAt("data.refunded", cents(1800))
		}
		if n := len(s.AllProviderObjects("credit_note")); n != 6 {
			t.Errorf("%d credit notes at the provider", n)
		}
	}, apptest.WithPlatformInvoices)
}

// If the provider's response is lost, a retry or a job finds the credit note later. It is made once.
func TestLostAnswerToACreditNote(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		ada, eve, bob := buy(s, "ada", apptest.CardPays), buy(s, "eve", apptest.CardPays), buy(s, "bob", apptest.CardPays)
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, http.MethodPost, "/credit_notes"))
		ada.credit(body(500, "refund")).WantRefused(502, "psp_error")
		eve.credit(body(500, "refund")).WantRefused(502, "psp_error")
		key := []string{"Idempotency-Key", "k-1"}
		bob.admin("POST", "/invoices/"+bob.invoice+"/credit-notes", body(500, "refund"), key...).WantRefused(502, "psp_error")
		p.Tamper(nil)
		s.RetryWhileDown(func() apptest.Reply { return ada.credit(body(500, "refund")) }).Want(201)
		s.RetryWhileDown(func() apptest.Reply { return eve.credit(body(200, "refund")) }).Want(201) // another request
		s.Chaos(nil)
		s.Advance(time.Minute)
		for range 2 {
			bob.admin("POST", "/invoices/"+bob.invoice+"/credit-notes", body(500, "refund"), key...).Want(201)
		}
		s.AwaitNotifications()
		for c, want := range map[*bought]float64{&ada: 500, &eve: 700, &bob: 500} {
			// The job may have recorded the credit note, but not read the refund yet.
			apptest.Eventually(t, "the refund", func() bool { return reflect.DeepEqual(c.show().At("data.refunded"), cents(want)) })
			c.show().WantAt("data.credited", cents(want))
		}
		if n := len(s.AllProviderObjects("credit_note")); n != 4 {
			t.Errorf("%d credit notes at the provider", n)
		}
		if n := s.CountAudited(ada.Owner, "credit_note.issued"); n != 1 {
			t.Errorf("%d audit entries", n)
		}
	})
}

package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
)

// pending returns what waits for the buyer's next invoice: its sum, and of how many items.
func (b buyer) pending() (sum float64, n int) {
	b.T.Helper()
	for _, item := range b.ProviderObjects(b.Owner, "invoiceitem") {
		if item.At("invoice") == nil {
			sum, n = sum+item.At("amount").(float64), n+1
		}
	}
	return sum, n
}

// What waited for the next invoice goes on the invoice of a change that waits. When that
// change is not made, however it ends, it waits again, once.
func TestWhatWaitedSurvivesADroppedChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		drop := func(b buyer) apptest.Reply {
			return s.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil)
		}
		begin := func(name string) (b buyer, sum float64) {
			t.Helper()
			b = buysWith(s, name, "crew", apptest.Confirmation(apptest.CardConfirms))
			b.joins(name+"-1", 2)
			sum, n := b.pending()
			b.waits("max")
			if left, _ := b.pending(); n != 2 || sum <= 0 || left != 0 {
				t.Fatalf("%d items of %v waited, %v still does", n, sum, left)
			}
			return b, sum
		}
		wants := func(b buyer, sum float64, n int) {
			t.Helper()
			s.AwaitNotifications()
			apptest.Eventually(t, "what waited", func() bool { got, items := b.pending(); return got == sum && items == n })
		}
		for name, end := range map[string]func(b buyer){
			"dropped":  func(b buyer) { drop(b).Want(204) },
			"canceled": func(b buyer) { s.Cancel(b.Owner, false).Want(200) },
			"dropped-twice": func(b buyer) {
				drop(b).Want(204)
				b.waits("max")
				drop(b).Want(204)
			},
			"dropped-while-answers-are-lost": func(b buyer) {
				s.Chaos(map[string]any{"api": map[string]any{"fail_after": 1}})
				drop(b).Want(502)
				s.Chaos(nil)
				s.RetryWhileDown(func() apptest.Reply { return drop(b) }).Want(204)
			},
		} {
			b, sum := begin(name)
			end(b)
			wants(b, sum, 2)
		}

		// Whoever looks while it waits sees what another change would cost, and pays that.
		b, sum := begin("replaced")
		shown, before := b.sees("free", 0), len(b.invoices())
		if shown.pending != sum {
			t.Errorf("of %v are shown %v", sum, shown.pending)
		}
		b.changes("free", nil, shown)
		wants(b, 0, 0)
		if n := len(b.invoices()); n != before+1 {
			t.Errorf("%d invoices for the change", n-before)
		}

		// What is still owed is on the final invoice.
		b, sum = begin("canceled-now")
		before = len(b.invoices())
		s.Cancel(b.Owner, true).Want(200)
		b.charged(before, figures{credit: 3000, charge: 3000 + sum, net: sum})

		// A change that is made has billed it, with the text that it always has.
		b, sum = begin("confirmed")
		drop(b).Want(204)
		wants(b, sum, 2)
		page, invoice := b.waits("max")
		s.Submit(page, apptest.Confirmation("")).Want(303)
		b.nothingWaits(s.PlanID(b.Owner, "max"))
		wants(b, 0, 0)
		crew := 0
		for _, in := range s.Call("GET", b.Path("/invoices"), b.Token, nil).Want(200).At("data").([]any) {
			if in := in.(apptest.Object); in["psp_invoice_id"] == invoice {
				for _, line := range s.Call("GET", b.Path("/invoices/"+in["id"].(string)), b.Token, nil).Want(200).At("data.lines").([]any) {
					if line := line.(apptest.Object); line["plan_id"] == s.PlanID(b.Owner, "crew") && line["type"] == "proration" {
						crew++
					}
				}
			}
		}
		if crew != 3 {
			t.Errorf("%d lines of the old plan", crew)
		}

		// It lapses, and it lapses while nobody is told of it.
		told, sum := begin("lapsed")
		quiet, silent := begin("lapsed-in-silence")
		s.Chaos(apptest.ChaosNoWebhooks)
		s.Advance(25 * time.Hour)
		told.LogInAgain()
		quiet.LogInAgain()
		wants(quiet, silent, 2)
		wants(told, sum, 2)
		s.Chaos(nil)
	})
}

package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// pending returns the sum and the number of the items that are pending for the buyer's next
// invoice.
func (b buyer) pending() (sum float64, n int) {
	b.T.Helper()
	for _, item := range b.ProviderObjects(b.Owner, "invoiceitem") {
		if item.At("invoice") == nil {
			sum, n = sum+item.At("amount").(float64), n+1
		}
	}
	return sum, n
}

// drop drops the buyer's pending change.
func (b buyer) drop() apptest.Reply {
	return b.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil)
}

// buysAndWaits returns a buyer whose pending items are on the invoice of a pending change, and
// their sum.
func buysAndWaits(s *apptest.Server, name string) (b buyer, sum float64) {
	s.T.Helper()
	b = buysWith(s, name, "crew", apptest.Confirmation(apptest.CardConfirms))
	b.joins(name+"-1", 2)
	sum, n := b.pending()
	b.waits("max")
	if left, _ := b.pending(); n != 2 || sum <= 0 || left != 0 {
		s.T.Fatalf("%d items of %v waited, %v still does", n, sum, left)
	}
	return b, sum
}

// wantPending waits until n items with the sum are pending for the buyer's next invoice.
func (b buyer) wantPending(sum float64, n int) {
	b.T.Helper()
	b.AwaitNotifications()
	apptest.Eventually(b.T, "the items", func() bool { got, items := b.pending(); return got == sum && items == n })
}

// The invoice of a pending change takes over the pending items. If that change is not made, the
// items become pending again, once, no matter how the change ends.
func TestItemsSurviveADroppedChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		for name, end := range map[string]func(b buyer){
			"dropped":  func(b buyer) { b.drop().Want(204) },
			"canceled": func(b buyer) { s.Cancel(b.Owner, false).Want(200) },
			"dropped-twice": func(b buyer) {
				b.drop().Want(204)
				b.waits("max")
				b.drop().Want(204)
			},
			"dropped-while-answers-are-lost": func(b buyer) {
				s.Chaos(map[string]any{"api": map[string]any{"fail_after": 1}})
				b.drop().Want(502)
				s.Chaos(nil)
				s.RetryWhileDown(b.drop).Want(204)
			},
		} {
			t.Run(name, func(*testing.T) {
				b, sum := buysAndWaits(s, name)
				end(b)
				b.wantPending(sum, 2)
			})
		}
		t.Run("lapsed", func(*testing.T) { // with and without a notification
			notified, sum := buysAndWaits(s, "lapsed")
			missed, missedSum := buysAndWaits(s, "lapsed-in-silence")
			s.Chaos(apptest.ChaosNoWebhooks)
			s.Advance(25 * time.Hour)
			notified.LogInAgain()
			missed.LogInAgain()
			missed.wantPending(missedSum, 2)
			notified.wantPending(sum, 2)
			s.Chaos(nil)
		})
	})
}

// A change that replaces a pending one bills the items, once.
func TestItemsAreBilledWithAnotherChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		t.Run("replaced", func(t *testing.T) { // the preview includes the items, and is charged
			b, sum := buysAndWaits(s, "replaced")
			shown, before := b.sees("free", 0), len(b.invoices())
			if shown.pending != sum {
				t.Errorf("of %v are shown %v", sum, shown.pending)
			}
			b.changes("free", nil, shown)
			b.wantPending(0, 0)
			if n := len(b.invoices()); n != before+1 {
				t.Errorf("%d invoices for the change", n-before)
			}
		})
		t.Run("canceled at once", func(*testing.T) { // the final invoice bills them
			b, sum := buysAndWaits(s, "canceled-now")
			before := len(b.invoices())
			s.Cancel(b.Owner, true).Want(200)
			b.charged(before, amounts{credit: 3000, charge: 3000 + sum, net: sum})
		})
		t.Run("confirmed", func(t *testing.T) { // the lines keep their usual description
			b, sum := buysAndWaits(s, "confirmed")
			b.drop().Want(204)
			b.wantPending(sum, 2)
			page, invoice := b.waits("max")
			s.Submit(page, apptest.Confirmation("")).Want(303)
			b.nothingWaits(s.PlanID(b.Owner, "max"))
			b.wantPending(0, 0)
			if n := b.countProrations(invoice, "crew"); n != 3 {
				t.Errorf("%d lines of the old plan", n)
			}
		})
	})
}

// countProrations counts the prorated lines of a plan on an invoice.
func (b buyer) countProrations(pspInvoiceID, slug string) (n int) {
	for _, in := range b.Call("GET", b.Path("/invoices"), b.Token, nil).Want(200).At("data").([]any) {
		in := in.(apptest.Object)
		if in["psp_invoice_id"] != pspInvoiceID {
			continue
		}
		for _, line := range b.Call("GET", b.Path("/invoices/"+in["id"].(string)), b.Token, nil).Want(200).At("data.lines").([]any) {
			if line := line.(apptest.Object); line["plan_id"] == b.PlanID(b.Owner, slug) && line["type"] == "proration" {
				n++
			}
		}
	}
	return n
}

package blackbox_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// unpaidState is a way in which the invoice of the current period is not paid, or only in part.
type unpaidState struct {
	name string
	// renewal means that the invoice bills a renewal; otherwise it bills the purchase.
	renewal bool
	way     url.Values
	reach   func(u unpaid)
	credit  float64 // part of the unused time that is credited
}

// unpaidStates lists the ways in which an invoice is paid, unpaid or partly paid
// (rules: subscription#unpaid-time).
func unpaidStates() []unpaidState {
	card, fails := apptest.Card(apptest.CardPays), apptest.Card(apptest.CardFailsAtRenewal)
	nothing := func(unpaid) {}
	closes := func(how string) func(u unpaid) {
		return func(u unpaid) {
			u.AtProvider("POST", "/invoices/"+u.invoice("open")+"/"+how)
			u.is("active")
		}
	}
	return []unpaidState{
		{"paid", false, card, nothing, 1},
		{"paid-renewal", true, card, nothing, 1 - 2.0/24/30.5}, // two hours later
		{"debit", false, apptest.Debit(apptest.DebitFails), nothing, 0},
		{"unpaid", true, fails, func(u unpaid) { u.is("past_due") }, 0},
		{"voided", true, fails, closes("void"), 0},
		{"written-off", true, fails, closes("mark_uncollectible"), 0},
		{"refunded", false, card, func(u unpaid) { u.refunds("") }, 0},
		{"partly-refunded", false, card, func(u unpaid) { u.refunds("20000") }, 1.0 / 3},
		{"credited-and-refunded", false, card, func(u unpaid) { u.credits("10000"); u.refunds("10000") }, 1.0 / 3},
		{"refunded-twice", false, card, func(u unpaid) { u.refunds("10000"); u.refunds("20000") }, 0},
	}
}

// A change, a cancellation and a departure credit only money that was paid. The test combines each way
// of not paying with each way of giving up time.
func TestNoCreditWithoutPayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("less", "flat", "month", 600, 0, nil)
		s.AddPlan("weekly", "flat", "week", 500, 0, nil)
		acts := []string{"less", "weekly", "leaves", "ends"}
		all := map[string]map[string]unpaid{}
		buy := func(state unpaidState) {
			all[state.name] = map[string]unpaid{}
			for _, act := range acts {
				all[state.name][act] = unpaid{s.NewCustomer(state.name + "-" + act)}.buys("crew", 10, state.way)
			}
		}
		for _, state := range unpaidStates() {
			if state.renewal {
				buy(state)
			}
		}
		s.AdvanceTo(s.Now().AddDate(0, 1, 0).Add(2 * time.Hour))
		for _, state := range unpaidStates() {
			if !state.renewal {
				buy(state)
			}
			for _, act := range acts {
				u := all[state.name][act]
				u.LogInAgain()
				state.reach(u)
				u.tryAct(state, act)
			}
		}
		s.Advance(6 * apptest.Day) // the debits fail
		for _, act := range acts {
			u := all["debit"][act]
			u.LogInAgain()
			u.wantBalance("debit, failed, "+act, 0)
		}
		failed := unpaidState{name: "failed debit", credit: 0}
		u := all["debit"]["leaves"]
		u.is("past_due")
		u.tryAct(failed, "less")
		u = all["debit"]["ends"]
		if got := u.Subscription(u.Owner).At("data"); got != nil {
			t.Errorf("still there: %v", got)
		}
	})
}

// pending returns the sum of the items for the next invoice.
func (u unpaid) pending() (sum float64) {
	u.T.Helper()
	for _, item := range u.ProviderObjects(u.Owner, "invoiceitem") {
		if item.At("invoice") == nil {
			sum += item.At("amount").(float64)
		}
	}
	return sum
}

// tryAct gives up time and checks that the paid part of it is credited.
func (u unpaid) tryAct(state unpaidState, act string) {
	u.T.Helper()
	const price = 30000
	what := state.name + ", " + act
	credit := state.credit * price
	switch act {
	case "less":
		want := max(credit-600, 0) // the rest of the period on the new plan is paid from the credit
		shown := u.PreviewChange(u.Owner, "less", 0).Want(200).At("data.net.cents").(float64)
		if shown > -want+60 || shown < -want-60 {
			u.T.Errorf("%s: net %v is shown, want %v", what, shown, -want)
		}
		u.ChangePlan(u.Owner, "less", nil).As(what).Want(200)
		u.wantBalance(what, -want)
	case "weekly":
		shown := u.PreviewChange(u.Owner, "weekly", 0).As(what).Want(200)
		if got := shown.At("data.credit.cents").(float64); got > credit+60 || got < credit-60 {
			u.T.Errorf("%s: a credit of %v is shown, want %v", what, got, credit)
		}
		change := u.ChangePlan(u.Owner, "weekly", nil).As(what)
		if change.Status != 200 { // the open invoice or the new period could not be collected
			change.WantRefused(422, "plan_change_error")
			u.wantBalance(what, 0)
			return
		}
		u.wantBalance(what, -max(credit-500, 0))
	case "leaves":
		u.loses("leaves-"+state.name, 1)
		// Nine seats are removed. Their credit is pending for the next invoice.
		pending := u.pending()
		if want := -credit * 9 / 10; pending > want+60 || pending < want-60 {
			u.T.Errorf("%s: %v is pending, want %v", what, pending, want)
		}
		u.wantBalance(what, 0)
	case "ends":
		u.loses("ends-"+state.name, 1)
		u.Cancel(u.Owner, true).As(what).Want(200)
		u.wantBalance(what, -credit*9/10)
	}
}

// Time that is given up while the invoice of a renewal is a draft is credited only if the invoice is
// paid afterwards.
func TestNoCreditForADraftThatIsNotPaid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("less", "flat", "month", 600, 0, nil)
		buys := func(name, card string) unpaid {
			return unpaid{s.NewCustomer(name)}.buys("crew", 10, apptest.Card(card))
		}
		fails := map[string]unpaid{}
		for _, name := range []string{"open", "void", "mark_uncollectible"} {
			fails[name] = buys("leaves-"+name, apptest.CardFailsAtRenewal)
		}
		pays, ends, changes := buys("pays", apptest.CardPays), buys("ends", apptest.CardFailsAtRenewal), buys("changes", apptest.CardFailsAtRenewal)
		s.AdvanceTo(s.Now().AddDate(0, 1, 0).Add(20 * time.Minute))
		for _, u := range []unpaid{fails["open"], fails["void"], fails["mark_uncollectible"], pays, ends} {
			u.LogInAgain()
			u.invoice("draft")
			u.loses("gone-"+strings.TrimSuffix(u.Email, "@example.com"), 1)
		}
		ends.Cancel(ends.Owner, true).Want(200)
		ends.wantBalance("an end during a draft that cannot be collected", 0)
		changes.LogInAgain()
		changes.ChangePlan(changes.Owner, "less", nil).WantRefused(422, "plan_change_error")
		changes.wantBalance("a change during a draft that cannot be collected", 0)
		s.Advance(2 * time.Hour)
		if got := pays.pending(); got > -26000 {
			t.Errorf("a draft that was paid: %v is pending", got)
		}
		for how, u := range fails {
			u.LogInAgain()
			u.is("past_due")
			if how != "open" {
				s.AtProvider("POST", "/invoices/"+u.invoice("open")+"/"+how)
				u.is("active")
			}
			followed(s)
			if got := u.pending(); got != 0 {
				t.Errorf("a draft, then %s: %v is pending", how, got)
			}
			u.Cancel(u.Owner, true).Want(200)
			u.wantBalance("a draft, then "+how, 0)
		}
	})
}

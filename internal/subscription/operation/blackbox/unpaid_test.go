package blackbox_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
)

// unpaid has the steps of the tests about time that was not paid.
type unpaid struct {
	*apptest.Customer
}

// buys takes a plan by its slug.
func (u unpaid) buys(slug string, quantity int, way url.Values) unpaid {
	u.T.Helper()
	page := u.Call("POST", u.Path("/checkout"), u.Token, apptest.With(apptest.ReturnURLs, apptest.Object{
		"plan_id": u.PlanID(u.Owner, slug), "currency": "EUR", "quantity": quantity,
	})).Want(200).Str("data.url")
	u.Submit(page, way).Want(303)
	u.is("active")
	return u
}

// is waits until the subscription is in a status.
func (u unpaid) is(status string) {
	u.T.Helper()
	apptest.Eventually(u.T, status, func() bool { return u.Subscription(u.Owner).At("data.status") == status })
	u.AwaitNotifications()
}

// loses removes a member who joined, and waits for the seats.
func (u unpaid) loses(name string, seats float64) {
	u.T.Helper()
	_, id := u.Join(u.Owner, name, name+"@example.com", "member")
	u.Call("DELETE", u.Path("/team/members/")+strconv.FormatInt(id, 10), u.Token, nil).Want(200)
	followed(u.Server)
	u.Subscription(u.Owner).WantAt("data.quantity", seats)
}

// wantBalance wants the balance at the provider; a credit is negative. The seconds that have
// passed cost a few cents.
func (u unpaid) wantBalance(what string, cents float64) {
	u.T.Helper()
	u.AwaitNotifications()
	got := u.ProviderObjects(u.Owner, "customer")[0].At("balance").(float64)
	if got > cents+60 || got < cents-60 || cents == 0 && got != 0 {
		u.T.Errorf("%s: the balance is %v, want %v", what, got, cents)
	}
}

// wantShown wants the figures of a preview, in cents.
func (u unpaid) wantShown(slug string, credit, charge float64) {
	u.T.Helper()
	r := u.PreviewChange(u.Owner, slug, 0).Want(200)
	for path, want := range map[string]float64{"data.credit.cents": credit, "data.charge.cents": charge} {
		if got := r.At(path).(float64); got > want+60 || got < want-60 || want == 0 && got != 0 {
			u.T.Errorf("%s to %s: %v, want %v", path, slug, got, want)
		}
	}
}

// invoice returns the provider's id of the newest invoice in a status.
func (u unpaid) invoice(status string) string {
	u.T.Helper()
	all := u.ProviderObjects(u.Owner, "invoice")
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].At("status") == status {
			return all[i].Str("id")
		}
	}
	u.T.Fatalf("no invoice is %s", status)
	return ""
}

// refunds gives back a part of the newest paid invoice; "" is all of it.
func (u unpaid) refunds(amount string) {
	u.T.Helper()
	payments := u.AtProvider("GET", "/invoice_payments", "invoice", u.invoice("paid"))
	form := []string{"payment_intent", payments.Str("data.0.payment.payment_intent")}
	if amount != "" {
		form = append(form, "amount", amount)
	}
	u.AtProvider("POST", "/refunds", form...)
	u.AwaitNotifications()
}

// A change, a cancellation and a departure credit only money that was paid.
func TestUnpaidTimeIsNotCredited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("year", "flat", "year", 120000, 0, nil)
		s.AddPlan("more", "flat", "year", 240000, 0, nil)
		s.AddPlan("less", "flat", "year", 60000, 0, nil)
		s.AddPlan("month", "flat", "month", 1000, 0, nil)
		s.AddPlan("crew", "seat", "year", 12000, 0, nil)
		newBuyer := func(name string) unpaid { return unpaid{s.NewCustomer(name)} }
		bought := map[string]unpaid{}
		for name, way := range map[string]url.Values{"fails": apptest.Debit(apptest.DebitFails), "pays": apptest.Debit(apptest.DebitPays)} {
			// While a debit is in progress nothing is credited.
			c := newBuyer("downgrade-"+name).buys("year", 1, way)
			c.wantShown("less", 0, 0)
			c.wantShown("month", 0, 1000)
			c.wantShown("more", 0, 240000)
			c.ChangePlan(c.Owner, "month", nil).Want(200)
			c.wantBalance("a downgrade during a debit", 0)
			s.Cancel(c.Owner, true).Want(200)
			c.wantBalance("a cancellation during a debit", 0)
			seats := newBuyer("seats-"+name).buys("crew", 10, way)
			seats.loses("leaves-"+name, 1)
			bought["downgrade-"+name], bought["seats-"+name] = c, seats
		}
		// Invoices that are voided, written off or refunded.
		type kind struct{ how, amount string }
		for name, k := range map[string]kind{"void": {how: "void"}, "lost": {how: "mark_uncollectible"}, "all": {amount: ""}, "half": {amount: "60000"}} {
			card := apptest.Card(apptest.CardPays)
			c := newBuyer("is-"+name).buys("year", 1, card)
			bought[name] = c
			if k.how == "" {
				c.refunds(k.amount)
			}
		}
		seats := newBuyer("refunded-seats").buys("crew", 10, apptest.Card(apptest.CardPays))
		seats.loses("leaves", 1)
		seats.refunds("")
		s.Cancel(seats.Owner, true).Want(200)
		seats.wantBalance("a cancellation after the seats were refunded", 0)

		bought["all"].wantShown("less", 0, 0)
		bought["all"].wantShown("more", 0, 240000)
		bought["all"].ChangePlan(bought["all"].Owner, "month", nil).Want(200)
		bought["all"].wantBalance("a refund, then a downgrade", 0)
		// The unused share of the remaining amount is credited: now nearly all of 60,000.
		bought["half"].wantShown("more", 60000, 240000)
		bought["half"].wantShown("month", 60000, 1000)
		bought["half"].ChangePlan(bought["half"].Owner, "month", nil).Want(200)
		bought["half"].wantBalance("half a refund, then a downgrade", -59000)

		// Renewals.
		for _, name := range []string{"void", "lost"} {
			bought[name].ReplaceCard(apptest.CardFailsAtRenewal)
		}
		late := newBuyer("late").buys("crew", 10, apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(6 * apptest.Day)
		for name, c := range bought {
			c.LogInAgain()
			c.wantBalance(name+", once the debits have ended", map[string]float64{"half": -59000}[name])
		}
		s.Cancel(bought["seats-fails"].Owner, true).Want(200)
		bought["seats-fails"].wantBalance("a debit that failed after the seats changed", 0)
		s.AdvanceTo(s.Now().AddDate(1, 0, -6).Add(3 * time.Hour))
		for _, name := range []string{"void", "lost"} {
			c := bought[name]
			c.WantStatus("past_due")
			s.AtProvider("POST", "/invoices/"+c.invoice("open")+"/"+map[string]string{"void": "void", "lost": "mark_uncollectible"}[name])
			s.AwaitNotifications()
			c.is("active")
			c.wantShown("less", 0, 0)
			c.ReplaceCard(apptest.CardPays)
			if name == "void" {
				c.ChangePlan(c.Owner, "more", nil).Want(200)
				if got := s.AtProvider("GET", "/invoices/"+c.invoice("paid")).At("amount_paid").(float64); got < 235000 {
					t.Errorf("a change from a voided year to twice the price costs %v", got)
				}
			}
			c.ChangePlan(c.Owner, "month", nil).Want(200)
			want := map[string]float64{"void": -239000, "lost": 0}[name]
			if got := c.ProviderObjects(c.Owner, "customer")[0].At("balance").(float64); got < want || got > want*9/10 {
				t.Errorf("%s, then a downgrade: the balance is %v, want about %v", name, got, want)
			}
		}
		late.WantStatus("past_due")
		late.loses("leaves-late", 1)
		s.Cancel(late.Owner, true).Want(200)
		late.wantBalance("past due, then a seat less, then ended", 0)
	})
}

package blackbox_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// unpaid has the steps of the tests about unpaid time.
type unpaid struct {
	*apptest.Customer
}

// buys subscribes to a plan by its slug.
func (u unpaid) buys(slug string, quantity int, way url.Values) unpaid {
	u.T.Helper()
	page := u.Call("POST", u.Path("/checkout"), u.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
		"plan_id": u.PlanID(u.Owner, slug), "currency": "EUR", "quantity": quantity,
	})).Want(200).Str("data.url")
	u.Submit(page, way).Want(303)
	u.is("active")
	return u
}

// is waits until the subscription has the status.
func (u unpaid) is(status string) {
	u.T.Helper()
	apptest.Eventually(u.T, status, func() bool { return u.Subscription(u.Owner).At("data.status") == status })
	u.AwaitNotifications()
}

// loses adds and removes a member, and waits for the seats.
func (u unpaid) loses(name string, seats float64) {
	u.T.Helper()
	_, id := u.Join(u.Owner, name, name+"@example.com", "member")
	u.Call("DELETE", u.Path("/team/members/")+strconv.FormatInt(id, 10), u.Token, nil).Want(200)
	followed(u.Server)
	u.Subscription(u.Owner).WantAt("data.quantity", seats)
}

// wantBalance expects the balance at the provider. A credit is negative. The elapsed seconds may
// account for a few cents.
func (u unpaid) wantBalance(what string, cents float64) {
	u.T.Helper()
	u.AwaitNotifications()
	got := u.ProviderObjects(u.Owner, "customer")[0].At("balance").(float64)
	if got > cents+60 || got < cents-60 || cents == 0 && got != 0 {
		u.T.Errorf("%s: the balance is %v, want %v", what, got, cents)
	}
}

// wantShown expects the amounts of a preview, in cents.
func (u unpaid) wantShown(slug string, credit, charge float64) {
	u.T.Helper()
	r := u.PreviewChange(u.Owner, slug, 0).Want(200)
	for path, want := range map[string]float64{"data.credit.cents": credit, "data.charge.cents": charge} {
		if got := r.At(path).(float64); got > want+60 || got < want-60 || want == 0 && got != 0 {
			u.T.Errorf("%s to %s: %v, want %v", path, slug, got, want)
		}
	}
}

// invoice returns the provider's ID of the newest invoice with the status.
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

// refunds pays back an amount of the newest paid invoice, or all of it if amount is "".
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

// credits refunds a part of the paid invoice by a credit note. The credit note and its refund count
// once.
func (u unpaid) credits(amount string) {
	u.T.Helper()
	u.AtProvider("POST", "/credit_notes", "invoice", u.invoice("paid"), "amount", amount, "refund_amount", amount)
	u.AwaitNotifications()
}

// unpaidYears holds the tenants of TestUnpaidTimeIsNotCredited by name. Their yearly invoices are
// unpaid in different ways.
type unpaidYears struct {
	*apptest.Server
	tenants map[string]unpaid
}

func (y unpaidYears) newBuyer(name string) unpaid { return unpaid{y.NewCustomer(name)} }

// buyByDebit buys with a debit that fails or pays later. While the debit is in progress, nothing is
// credited.
func (y unpaidYears) buyByDebit(name string, way url.Values) {
	c := y.newBuyer("downgrade-"+name).buys("year", 1, way)
	c.wantShown("less", 0, 0)
	c.wantShown("month", 0, 1000)
	c.wantShown("more", 0, 240000)
	c.ChangePlan(c.Owner, "month", nil).Want(200)
	c.wantBalance("a downgrade during a debit", 0)
	y.Cancel(c.Owner, true).Want(200)
	c.wantBalance("a cancellation during a debit", 0)
	seats := y.newBuyer("seats-"+name).buys("crew", 10, way)
	seats.loses("leaves-"+name, 1)
	y.tenants["downgrade-"+name], y.tenants["seats-"+name] = c, seats
}

// refund refunds yearly invoices and seats, fully or partially.
func (y unpaidYears) refund() {
	all, half := y.newBuyer("is-all").buys("year", 1, apptest.Card(apptest.CardPays)), y.newBuyer("is-half").buys("year", 1, apptest.Card(apptest.CardPays))
	all.refunds("")
	half.refunds("60000")
	seats := y.newBuyer("refunded-seats").buys("crew", 10, apptest.Card(apptest.CardPays))
	seats.loses("leaves", 1)
	seats.refunds("")
	y.Cancel(seats.Owner, true).Want(200)
	seats.wantBalance("a cancellation after the seats were refunded", 0)

	all.wantShown("less", 0, 0)
	all.wantShown("more", 0, 240000)
	all.ChangePlan(all.Owner, "month", nil).Want(200)
	all.wantBalance("a refund, then a downgrade", 0)
	// The unused share of the remaining amount is credited, which is almost all of 60,000.
	half.wantShown("more", 60000, 240000)
	half.wantShown("month", 60000, 1000)
	half.ChangePlan(half.Owner, "month", nil).Want(200)
	half.wantBalance("half a refund, then a downgrade", -59000)
	y.tenants["all"], y.tenants["half"] = all, half
}

// giveUp voids or writes off a renewal invoice. The time of the invoice is then not credited.
func (y unpaidYears) giveUp(name, way string, balance float64) {
	c := y.tenants[name]
	c.WantStatus("past_due")
	y.AtProvider("POST", "/invoices/"+c.invoice("open")+"/"+way)
	y.AwaitNotifications()
	c.is("active")
	c.wantShown("less", 0, 0)
	c.ReplaceCard(apptest.CardPays)
	if balance != 0 {
		c.ChangePlan(c.Owner, "more", nil).Want(200)
		if got := y.AtProvider("GET", "/invoices/"+c.invoice("paid")).At("amount_paid").(float64); got < 235000 {
			y.T.Errorf("a change from a voided year to twice the price costs %v", got)
		}
	}
	c.ChangePlan(c.Owner, "month", nil).Want(200)
	if got := c.ProviderObjects(c.Owner, "customer")[0].At("balance").(float64); got < balance || got > balance*9/10 {
		y.T.Errorf("%s, then a downgrade: the balance is %v, want about %v", name, got, balance)
	}
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
		y := unpaidYears{s, map[string]unpaid{}}
		y.buyByDebit("fails", apptest.Debit(apptest.DebitFails))
		y.buyByDebit("pays", apptest.Debit(apptest.DebitPays))
		y.refund()
		for _, name := range []string{"void", "lost"} {
			y.tenants[name] = y.newBuyer("is-"+name).buys("year", 1, apptest.Card(apptest.CardPays))
			y.tenants[name].ReplaceCard(apptest.CardFailsAtRenewal)
		}
		late := y.newBuyer("late").buys("crew", 10, apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(6 * apptest.Day)
		for name, c := range y.tenants {
			c.LogInAgain()
			c.wantBalance(name+", once the debits have ended", map[string]float64{"half": -59000}[name])
		}
		failed := y.tenants["seats-fails"]
		s.Cancel(failed.Owner, true).Want(200)
		failed.wantBalance("a debit that failed after the seats changed", 0)

		s.AdvanceTo(s.Now().AddDate(1, 0, -6).Add(3 * time.Hour)) // the renewals
		y.giveUp("void", "void", -239000)
		y.giveUp("lost", "mark_uncollectible", 0)
		late.WantStatus("past_due")
		late.loses("leaves-late", 1)
		s.Cancel(late.Owner, true).Want(200)
		late.wantBalance("past due, then a seat less, then ended", 0)
	})
}

// paid returns the sum of the payments.
func (u unpaid) paid() (sum float64) {
	u.T.Helper()
	u.AwaitNotifications()
	for _, in := range u.ProviderObjects(u.Owner, "invoice") {
		sum += in.At("amount_paid").(float64)
	}
	return sum
}

// wantSeats expects the amounts of a preview with another number of seats, in cents.
func (u unpaid) wantSeats(slug string, quantity int, want map[string]float64) {
	u.T.Helper()
	r := u.PreviewChange(u.Owner, slug, quantity).Want(200)
	for path, want := range want {
		if got := r.At("data." + path + ".cents").(float64); got > want+60 || got < want-60 || want == 0 && got != 0 {
			u.T.Errorf("%s of %d seats: %v, want %v", path, quantity, got, want)
		}
	}
}

// The credit for members who left is canceled by the refund of their seats.
func TestRefundedSeatsOfFormerMembers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "year", 12000, 0, nil)
		s.AddPlan("team-month", "seat", "month", 1200, 0, nil)
		s.AddPlan("less", "flat", "year", 6000, 0, nil)
		s.AddPlan("month", "flat", "month", 1000, 0, nil)
		pending := func(u unpaid) (sum float64) {
			for _, item := range u.ProviderObjects(u.Owner, "invoiceitem") {
				if item.At("invoice") == nil {
					sum += item.At("amount").(float64)
				}
			}
			return sum
		}
		left := func(name, slug, refund string) unpaid {
			u := unpaid{s.NewCustomer(name)}.buys(slug, 3, apptest.Card(apptest.CardPays))
			_, first := u.Join(u.Owner, name+"-1", name+"-1@example.com", "member")
			_, second := u.Join(u.Owner, name+"-2", name+"-2@example.com", "member")
			for _, id := range []int64{first, second} {
				u.Call("DELETE", u.Path("/team/members/")+strconv.FormatInt(id, 10), u.Token, nil).Want(200)
			}
			followed(s)
			u.Subscription(u.Owner).WantAt("data.quantity", 1.0)
			if pending(u) >= 0 {
				t.Fatalf("%s: %v is pending", name, pending(u))
			}
			u.refunds(refund)
			followed(s)
			return u
		}
		all := left("all", "crew", "")
		all.wantShown("less", 0, 0)
		all.wantShown("month", 0, 1000)
		all.ChangePlan(all.Owner, "month", nil).Want(200)
		all.wantBalance("a full refund, then a downgrade", 0)
		if got := all.paid(); got != 37000 {
			t.Errorf("a full refund, then a downgrade: paid is %v", got)
		}
		// A third of the payment is left, and all of it is credited.
		part := left("part", "crew", "24000")
		part.wantShown("month", 12000, 1000)
		part.ChangePlan(part.Owner, "month", nil).Want(200)
		part.wantBalance("a partial refund, then a downgrade", -11000)

		year, month, half := left("year", "crew", ""), left("renews", "team-month", ""), left("half", "team-month", "1800")
		for _, u := range []unpaid{year, month} {
			if got := pending(u); got != 0 {
				t.Errorf("%s: %v is pending after the refund", u.Email, got)
			}
		}
		s.Advance(32 * apptest.Day)
		for u, want := range map[unpaid]float64{year: 36000, month: 3600 + 1200, half: 3600} {
			u.LogInAgain()
			u.wantBalance(u.Email+" renews", 0)
			if got := u.paid(); got > want+10 || got < want-10 {
				t.Errorf("%s: paid is %v, want %v", u.Email, got, want)
			}
		}
		year.wantShown("month", 0, 1000)
	})
}

// A change while an invoice is overdue shows everything that it charges, and credits nothing.
func TestOverdueChangeShowsTheOpenInvoice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("weekly", "flat", "week", 500, 0, nil)
		more := unpaid{s.NewCustomer("more")}.buys("crew", 10, apptest.Card(apptest.CardFailsAtRenewal))
		shorter := unpaid{s.NewCustomer("shorter")}.buys("crew", 10, apptest.Card(apptest.CardFailsAtRenewal))
		s.AdvanceTo(s.Now().AddDate(0, 1, 0).Add(2 * time.Hour))
		for _, u := range []unpaid{more, shorter} {
			u.LogInAgain()
			u.WantStatus("past_due")
			u.ReplaceCard(apptest.CardPays)
		}
		more.wantSeats("crew", 5, map[string]float64{"credit": 0, "charge": 0, "due_now": 0})
		more.wantSeats("crew", 12, map[string]float64{"credit": 0, "charge": 36000, "net": 36000, "due_now": 36000})
		due := more.PreviewChange(more.Owner, "crew", 12).At("data.due_now.cents").(float64)
		more.ChangePlan(more.Owner, "crew", apptest.Object{"quantity": 12}).Want(200).WantAt("data.subscription.status", "active")
		if got := more.paid() - 30000; got != due {
			t.Errorf("%v was charged, %v shown", got, due)
		}
		// The open invoice is higher than the price of the new plan, so the rest of its period is
		// credited.
		shorter.wantSeats("weekly", 0, map[string]float64{"credit": 0, "charge": 581, "net": 581, "due_now": 30000, "next_due": 0})
		shorter.ChangePlan(shorter.Owner, "weekly", nil).Want(200)
		shorter.wantBalance("a change to a shorter period", -29419)
		if got := shorter.paid(); got != 60000 {
			t.Errorf("%v was paid", got)
		}
	})
}

// In the hour after a renewal, a change first collects the draft of the renewal. The preview shows
// exactly the charge, and the customer's credit pays the draft first.
func TestPreviewIncludesTheDraft(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("month", "flat", "month", 3000, 0, nil)
		s.AddPlan("more", "flat", "month", 5000, 0, nil)
		s.AddPlan("less", "flat", "month", 1000, 0, nil)
		changes := []struct {
			name, to                   string
			given, due, applied, after float64
		}{
			{name: "pays", to: "more", due: 5000},
			{name: "part", to: "more", given: 2500, due: 2500, applied: 2500},
			{name: "most", to: "more", given: 3500, due: 1500, applied: 3500},
			{name: "lower", to: "less", due: 3000, after: 2000},
		}
		customers := make([]unpaid, len(changes))
		for i, ch := range changes {
			customers[i] = unpaid{s.NewCustomer(ch.name)}.buys("month", 1, apptest.Card(apptest.CardPays))
			if ch.given > 0 {
				s.Call("POST", "/api/v1/admin/tenants/"+customers[i].Tenant+"/credit", s.Admin(), apptest.Object{
					"amount_cents": ch.given, "currency": "EUR", "reason": "Goodwill",
				}).Want(201)
			}
		}
		s.AdvanceTo(s.Now().AddDate(0, 1, 0).Add(20 * time.Minute))
		for i, ch := range changes {
			u := customers[i]
			u.LogInAgain()
			u.invoice("draft")
			before := u.paid()
			u.wantSeats(ch.to, 0, map[string]float64{"credit": 0, "due_now": ch.due, "balance_applied": ch.applied})
			due := u.PreviewChange(u.Owner, ch.to, 0).At("data.due_now.cents").(float64)
			u.ChangePlan(u.Owner, ch.to, nil).Want(200)
			if got := u.paid() - before; got != due {
				t.Errorf("%s: %v was charged, %v shown", ch.name, got, due)
			}
			u.wantBalance(ch.name, -ch.after)
		}
	})
}

// Additional seats are charged even while a debit for the others is in progress.
func TestMoreSeatsDuringADebit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "year", 12000, 0, nil)
		buys := func(name, iban string) unpaid {
			u := unpaid{s.NewCustomer(name)}.buys("crew", 10, apptest.Debit(iban))
			u.wantSeats("crew", 5, map[string]float64{"credit": 0, "charge": 0})
			u.wantSeats("crew", 15, map[string]float64{"credit": 0, "charge": 60000, "net": 60000, "due_now": 60000})
			return u
		}
		pays, fails, changes := buys("pays", apptest.DebitPays), buys("fails", apptest.DebitFails), buys("changes", apptest.DebitFails)
		changes.ReplaceCard(apptest.CardPays)
		for _, u := range []unpaid{pays, fails, changes} {
			u.ChangePlan(u.Owner, "crew", apptest.Object{"quantity": 15}).Want(200)
		}
		pays.loses("leaves", 1)
		s.Advance(6 * apptest.Day)
		for u, want := range map[unpaid]float64{pays: 180000, fails: 0, changes: 60000} {
			u.LogInAgain()
			if got := u.paid(); got > want || got < want-60 {
				t.Errorf("%s: paid is %v, want %v", u.Email, got, want)
			}
			u.wantBalance(u.Email, 0)
		}
		fails.WantStatus("past_due")
		changes.WantStatus("past_due")
	})
}

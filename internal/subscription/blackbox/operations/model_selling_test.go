package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// sale is a tenant that uses everything that changes its bills, together with the model of its money.
// Its card always pays.
type sale struct {
	*life
	codes  *int  // number of promotion codes so far
	taxes  int64 // tax included in prices, in percent
	events int   // number of events so far
}

// The previewed, charged, invoiced and booked amounts equal the amounts of the model, in both invoice
// modes. The events are renewals, changes of plan, cycle and seats (now and at the end of the period),
// promotion codes, credit, credit notes and refunds of earlier and of current invoices, invoices that are
// paid later by transfer, and cancellations.
func TestMoneyOfSales(t *testing.T) {
	t.Parallel()
	t.Run("provider", func(t *testing.T) {
		t.Parallel()
		apptest.Each(t, func(t *testing.T, s *apptest.Server) { sell(t, s, 0) })
	})
	t.Run("platform", func(t *testing.T) {
		t.Parallel()
		apptest.Each(t, func(t *testing.T, s *apptest.Server) { sell(t, s, 20) }, apptest.WithPlatformInvoices)
	})
}

func sell(t *testing.T, s *apptest.Server, taxes int64) {
	addCurrency(s, "JPY", 0)
	addCurrency(s, "KWD", 3)
	m := newMarket(s, "sales")
	sales, codes := make([]*sale, dbtest.Rounds(6, 30)), 0
	for i := range sales {
		l := &life{
			Customer: s.NewCustomer(fmt.Sprintf("sale%d", i)), market: m, t: t, currency: i % 3,
			draw: rand.New(rand.NewPCG(uint64(i), 23+seed())), card: apptest.CardPays, cards: []string{apptest.CardPays},
		}
		l.members, l.money.step, l.money.away = []string{l.Email}, modelCurrencies[i%3].step, true
		if i/3%2 == 1 {
			l.money.sent, l.money.away = true, false
		}
		sales[i] = &sale{life: l, codes: &codes, taxes: taxes}
	}
	draw, lives := rand.New(rand.NewPCG(19+seed(), 29)), make([]*life, len(sales))
	for i, v := range sales {
		lives[i] = v.life
	}
	for range dbtest.Rounds(18, 30) {
		for _, v := range sales {
			v.trade()
			v.booked()
		}
		m.settle(s, lives, time.Duration(1+draw.IntN(20*24*60*60))*time.Second)
		for _, v := range sales {
			v.booked()
		}
	}
	t.Log(m.count)
	events := []string{"purchase", "change", "code", "removed code", "credit", "credit note", "refund", "schedule", "member", "sent purchase", "transfer", "unpaid change"}
	if len(sales) == 30 {
		events = append(events, "kept plan")
	}
	for _, event := range events {
		if m.count[event] == 0 {
			t.Errorf("event %s did not occur", event)
		}
	}
}

// trade runs one random event.
func (v *sale) trade() {
	defer func() {
		if v.t.Failed() {
			v.t.Logf("%s: %q, %+v", v.Email, v.told, v.money)
		}
	}()
	v.admin.Token = v.Admin()
	if v.money.status == "" {
		v.money.discount = nil
		if v.draw.IntN(2) == 0 {
			v.credit()
		}
		if v.money.sent {
			v.buySent()
		} else {
			v.buy()
		}
		return
	}
	if v.events++; v.events%4 == 0 { // before they are due
		for v.markPaid() {
		}
	}
	events := []func(){
		v.schedule, v.schedule, v.schedule, v.keep, v.code, v.code, v.removeCode, v.credit, v.creditNote, v.creditNote, v.creditNote,
		v.cancel, v.cancelNow, v.price, func() { v.markPaid() },
	}
	if !v.money.frozen {
		events = append(events, v.changeNow, v.changeNow, v.changeNow)
	}
	if !v.money.sent && v.money.isPaid() {
		events = append(events, v.team, v.team)
	}
	events[v.draw.IntN(len(events))]()
}

// changeNow changes the plan, and counts changes of a period that is not paid in full.
func (v *sale) changeNow() {
	if !v.money.isPaid() {
		v.note("unpaid change", "changes a period that is not paid")
	}
	v.change()
}

// code applies a new promotion code, which counts from the next invoice.
func (v *sale) code() {
	*v.codes++
	code := fmt.Sprintf("CODE-%d", *v.codes)
	body := apptest.Object{"code": code, "name": apptest.Object{"en": "Sale"}, "duration": "forever"}
	r := &reduction{}
	if v.draw.IntN(2) == 0 {
		r.percent = int64(1 + v.draw.IntN(25))
		body["percent_off"] = r.percent
	} else {
		r.amount = int64(1+v.draw.IntN(10)) * v.money.step
		body["amounts"] = []any{apptest.Object{"currency": modelCurrencies[v.currency].code, "amount_cents": r.amount}}
	}
	months := 0
	if v.draw.IntN(2) == 0 {
		months = 1 + v.draw.IntN(3)
		body["duration"], body["months"] = "repeating", months
	}
	v.admin.AdminCall("POST", "/discounts", body).Want(201)
	applied := v.Call("POST", v.Path("/subscription/promotion-code"), v.Token, apptest.Object{"promotion_code": strings.ToLower(code)}).Want(200)
	applied.WantAt("data.discount.code", code)
	if months > 0 {
		r.until = applied.TimeAt("data.discount.ends_at")
	}
	v.money.discount = r
	v.AwaitNotifications()
	v.note("code", "applies %+v", *r)
	v.agrees("a code")
}

func (v *sale) removeCode() {
	v.Call("DELETE", v.Path("/subscription/promotion-code"), v.Token, nil).Want(204)
	v.money.discount = nil
	v.AwaitNotifications()
	v.note("removed code", "removes the code")
	v.agrees("no code")
}

// credit adds credit, or deducts some of it.
func (v *sale) credit() {
	amount := int64(1+v.draw.IntN(2000)) * v.money.step
	if v.money.credit > 0 && v.draw.IntN(3) == 0 {
		amount = -min(amount, v.money.credit)
	}
	v.admin.AdminCall("POST", "/tenants/"+v.Tenant+"/credit", apptest.Object{
		"amount_cents": amount, "currency": modelCurrencies[v.currency].code, "reason": "Goodwill",
	}).Want(201)
	v.money.credit += amount
	v.AwaitNotifications()
	v.note("credit", "has %d more credit", amount)
	v.agrees("credit")
}

// schedule previews and schedules a change for the end of the period.
func (v *sale) schedule() {
	p, quantity := v.pick(v.money.plan.slug)
	ask := apptest.Object{"new_plan_id": v.ids[p.slug], "quantity": quantity, "when": "period_end"}
	if v.money.ends {
		v.Call("POST", v.Path("/subscription/change-plan"), v.Token, ask).WantRefused(422, "plan_change_error")
		return
	}
	shown := v.Call("GET", v.Path(fmt.Sprintf("/subscription/preview-change?new_plan_id=%s&quantity=%d&when=period_end", v.ids[p.slug], quantity)), v.Token, nil).Want(200)
	for _, key := range []string{"credit", "charge", "net", "balance_applied", "due_now"} {
		shown.WantAt("data."+key+".cents", 0.0)
	}
	next := v.money.net(v.unit(p.slug)*quantity, v.money.end)
	shown.WantAt("data.next_amount.cents", float64(next)).WantAt("data.next_due.cents", float64(next-min(next, v.money.credit)))
	if at := shown.TimeAt("data.effective_at"); !at.Equal(v.money.end) {
		v.t.Errorf("%s: the change is shown for %s, the period ends at %s", v.Email, at, v.money.end)
	}
	v.Call("POST", v.Path("/subscription/change-plan"), v.Token, ask).Want(200).WantAt("data.action", "scheduled").
		WantAt("data.subscription.pending_change.kind", "scheduled").WantAt("data.subscription.pending_change.plan.id", v.ids[p.slug])
	v.money.next = &step{p, v.unit(p.slug), quantity}
	v.AwaitNotifications()
	v.note("schedule", "schedules %s × %d", p.slug, quantity)
	v.agrees("scheduled")
}

// keep drops the scheduled change.
func (v *sale) keep() {
	if v.money.next != nil {
		v.note("kept plan", "keeps the plan")
	}
	v.Call("DELETE", v.Path("/subscription/pending-change"), v.Token, nil).Want(204)
	v.money.next = nil
	v.AwaitNotifications()
	v.Subscription(v.Owner).WantAt("data.pending_change", nil)
	v.agrees("kept")
}

// creditNote credits a part or the rest of a paid invoice of an earlier period, or of the current period
// unless seats are pending.
func (v *sale) creditNote() {
	remote := slices.DeleteFunc(v.ProviderObjects(v.Owner, "invoice"), func(in apptest.Reply) bool { return in.At("status") == "void" })
	at := -1
	for i, b := range v.money.bills {
		if b.Status == "paid" && b.Total > b.credited && (!b.until.After(v.Now()) || len(v.money.pending) == 0) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	b := &v.money.bills[at]
	left, leftTax := b.Total-b.credited, v.tax(b.Total)-b.creditedTax
	amount := left
	if v.draw.IntN(2) == 0 {
		amount = (1 + v.draw.Int64N(left/v.money.step)) * v.money.step
	}
	settlement := []string{"refund", "refund", "credit", "none"}[v.draw.IntN(4)]
	path := "/tenants/" + v.Tenant + "/invoices/" + v.invoiceOf(remote[at].Str("id")) + "/credit-notes"
	body := apptest.Object{"amount_cents": amount, "settlement": settlement, "reason": "other"}
	if settlement == "refund" && amount > b.card {
		v.admin.AdminCall("POST", path, body).WantRefused(422, "amount_too_large")
		return
	}
	tax := leftTax
	if amount < left {
		tax = min(max(v.tax(amount), amount-(left-leftTax)), leftTax)
	}
	for _, reply := range []apptest.Reply{v.admin.AdminCall("POST", path+"/preview", body).Want(200), v.admin.AdminCall("POST", path, body).Want(201)} {
		reply.WantAt("data.total.amount_cents", float64(amount)).WantAt("data.tax.amount_cents", float64(tax)).
			WantAt("data.subtotal.amount_cents", float64(amount-tax))
	}
	b.credited, b.creditedTax = b.credited+amount, b.creditedTax+tax
	v.note("credit note", "has a credit note of %d, %s", amount, settlement)
	switch settlement {
	case "refund":
		b.card, v.money.cash = b.card-amount, v.money.cash-amount
		v.note("refund", "has a refund")
	case "credit":
		v.money.credit += amount
	}
	v.AwaitNotifications()
	v.agrees("a credit note")
}

// tax returns the tax that an amount includes, rounded half up.
func (v *sale) tax(amount int64) int64 {
	return (2*amount*v.taxes + 100 + v.taxes) / (2 * (100 + v.taxes))
}

// invoiceOf returns the id of the service's invoice for an invoice of the provider.
func (v *sale) invoiceOf(remote string) string {
	v.t.Helper()
	list := v.Call("GET", v.Path("/invoices?per_page=100"), v.Token, nil).Want(200)
	for _, in := range list.At("data").([]any) {
		if in := in.(apptest.Object); in["psp_invoice_id"] == remote {
			return in["id"].(string)
		}
	}
	v.t.Fatalf("%s: no invoice for %s", v.Email, remote)
	return ""
}

// booked compares the invoices of the service, the credit that it shows and the money that cards paid
// with the model.
func (v *sale) booked() {
	v.t.Helper()
	var got, want []int64
	var credited, refunded int64
	list := v.Call("GET", v.Path("/invoices?per_page=100&sort=issue_date"), v.Token, nil).Want(200)
	for i, in := range list.At("data").([]any) {
		cents := func(key string) int64 {
			n, _ := list.At(fmt.Sprintf("data.%d.%s", i, key)).(float64)
			return int64(n)
		}
		if in.(apptest.Object)["status"] == "void" {
			continue
		}
		total, lines := cents("total.amount_cents"), int64(0)
		for n := range in.(apptest.Object)["lines"].([]any) {
			lines += cents(fmt.Sprintf("lines.%d.amount.amount_cents", n))
		}
		if sum := cents("subtotal.amount_cents") + cents("tax.amount_cents"); sum != total || lines != total && lines != cents("subtotal.amount_cents") {
			v.t.Errorf("%s: the invoice of %d has subtotal and tax of %d and lines of %d", v.Email, total, sum, lines)
		}
		got = append(got, total)
		credited, refunded = credited+cents("credited.amount_cents"), refunded+cents("refunded.amount_cents")
	}
	for _, b := range v.money.bills {
		want = append(want, b.Total)
		credited -= b.credited
	}
	if credited != 0 {
		v.t.Errorf("%s: the invoices show %d more credited than the model has; %q", v.Email, credited, v.told)
	}
	var paid int64
	for _, ch := range v.ProviderObjects(v.Owner, "charge") {
		if ch.At("status") == "succeeded" {
			paid += int64(ch.At("amount").(float64))
		}
	}
	credit, _ := v.Call("GET", v.Path("/credit"), v.Token, nil).Want(200).At("data.balance.amount_cents").(float64)
	diff := cmp.Diff(sum(want), sum(got)) + cmp.Diff(len(want), len(got)) + cmp.Diff(v.money.cash, paid-refunded) + cmp.Diff(v.money.credit, int64(credit))
	if diff != "" {
		v.t.Fatalf("%s: the model and the books (-want +got):\n%s%v %v %q", v.Email, diff, want, got, v.told)
	}
}

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// seed returns TENANTRY_TEST_SEED, which varies the random events, or 0.
func seed() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("TENANTRY_TEST_SEED"), 10, 64)
	return n
}

package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// life is a tenant that goes through random events, together with the model of its money.
type life struct {
	*apptest.Customer
	*market
	t        *testing.T
	draw     *rand.Rand
	currency int // index into modelCurrencies
	members  []string
	tried    bool   // whether it had a trial of the product
	card     string // the card at the provider
	cards    []string
	money    account
	told     []string // a log of the events, printed on failure
}

// market holds the plans that tenants buy, whose prices change.
type market struct {
	admin  apptest.CatalogAdmin
	ids    map[string]string
	prices map[string][3]int
	count  map[string]int // how often each event happened
}

var modelCurrencies = [3]struct {
	code string
	step int64
}{{"EUR", 1}, {"JPY", 1}, {"KWD", 10}}

// Tenants are billed what a model computes from prices and the calendar alone, to the smallest
// unit. The events are purchases with and without a trial, changes of plan, cycle and seats,
// cancellations and new purchases, price changes between a preview and the purchase, failing cards,
// and credit. Every preview equals the amount that is charged.
func TestMoneyMatchesTheModel(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		addCurrency(s, "JPY", 0)
		addCurrency(s, "KWD", 3)
		m := newMarket(s, "lives")
		lives := make([]*life, dbtest.Rounds(6, 100))
		for i := range lives {
			l := &life{
				Customer: s.NewCustomer(fmt.Sprintf("life%d", i)), market: m, t: t, currency: i % 3,
				draw: rand.New(rand.NewPCG(uint64(i), 17)), card: apptest.CardPays,
				cards: []string{apptest.CardPays, apptest.CardPays, apptest.CardFailsAtRenewal, apptest.CardConfirms},
			}
			l.members = []string{l.Email}
			l.money.step = modelCurrencies[l.currency].step
			lives[i] = l
		}
		draw := rand.New(rand.NewPCG(11, 13))
		for range dbtest.Rounds(12, 16) {
			for _, l := range lives {
				l.live()
			}
			m.settle(s, lives, time.Duration(1+draw.IntN(12*24*60*60))*time.Second)
		}
		t.Log(m.count)
		events := []string{"purchase", "change", "outdated", "member", "cancellation", "end", "price", "card"}
		if len(lives) == 100 {
			events = append(events, "resumption", "refused card", "confirmation", "dropped", "overdue")
		}
		for _, event := range events {
			if m.count[event] == 0 {
				t.Errorf("event %s did not occur", event)
			}
		}
	})
}

func newMarket(s *apptest.Server, product string) *market {
	m := &market{admin: s.CatalogAdmin(), ids: map[string]string{}, prices: map[string][3]int{}, count: map[string]int{}}
	id := m.admin.CreateProduct(product)
	for _, p := range sold {
		m.prices[p.slug] = p.prices
		m.ids[p.slug] = m.admin.CreatePricedPlan(id, p.slug, m.pricesOf(p.slug), apptest.Object{
			"pricing_type": p.kind, "billing_cycle": p.cycle, "trial_days": p.trial,
		})
	}
	return m
}

// settle advances the clock until no renewal invoice is a draft, and compares.
func (m *market) settle(s *apptest.Server, lives []*life, d time.Duration) {
	s.T.Helper()
	s.Advance(d)
	for draft := true; draft; {
		draft = false
		for _, in := range s.AllProviderObjects("invoice") {
			draft = draft || in.At("status") == "draft"
		}
		if draft {
			s.Advance(2 * time.Hour)
		}
	}
	now := s.Now()
	for _, l := range lives {
		l.LogInAgain() // the old token has expired
		l.money.pass(now, int64(len(l.members)))
		l.agrees("after " + d.String())
	}
}

// live runs one random event.
func (l *life) live() {
	defer func() {
		if l.t.Failed() {
			l.t.Logf("%s: %q, %+v", l.Email, l.told, l.money)
		}
	}()
	switch {
	case l.money.status == "":
		l.buy()
	case l.money.owes():
		l.mend()
	default:
		events := []func(){l.change, l.change, l.change, l.change, l.team, l.team, l.team, l.cancel, l.cancel, l.cancelNow, l.price, l.replaceCard}
		events[l.draw.IntN(len(events))]()
	}
}

func (l *life) note(event, text string, args ...any) {
	l.count[event]++
	l.told = append(l.told, fmt.Sprintf(text, args...))
}

// pricesOf returns the prices of a plan by currency.
func (m *market) pricesOf(slug string) map[string]int {
	prices := map[string]int{}
	for i, c := range modelCurrencies {
		prices[c.code] = m.prices[slug][i]
	}
	return prices
}

func (l *life) unit(slug string) int64 { return int64(l.prices[slug][l.currency]) }

// pick draws a plan other than the given one, with a quantity that covers the team.
func (l *life) pick(other string) (offered, int64) {
	plans := slices.DeleteFunc(slices.Clone(sold), func(p offered) bool { return p.slug == other })
	p := plans[l.draw.IntN(len(plans))]
	if p.kind == "seat" {
		return p, int64(len(l.members) + l.draw.IntN(4))
	}
	return p, 1
}

// buy subscribes a tenant without a subscription.
func (l *life) buy() {
	p, quantity := l.pick("")
	trial := p.trial
	if l.tried {
		trial = 0
	}
	body := apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": l.ids[p.slug], "currency": modelCurrencies[l.currency].code, "quantity": quantity})
	page := l.Call("POST", l.Path("/checkout"), l.Token, body).Want(200).Str("data.url")
	if l.draw.IntN(4) == 0 {
		l.Submit(page, apptest.Card(apptest.CardDeclined))
		l.note("declined card", "a declined card")
	}
	l.drawCard()
	form := apptest.Card(l.card)
	if l.card == apptest.CardConfirms {
		form = apptest.Confirmation(l.card)
	}
	l.Submit(page, form).Want(303)
	apptest.Eventually(l.t, "the subscription", func() bool { return l.Subscription(l.Owner).At("data") != nil })
	l.AwaitNotifications()
	l.money.buy(p, l.unit(p.slug), quantity, l.startedAt(), trial)
	l.tried = l.tried || trial > 0
	l.note("purchase", "buys %s × %d", p.slug, quantity)
	l.agrees("bought " + p.slug)
}

// startedAt returns when the newest subscription began.
func (l *life) startedAt() time.Time {
	subs := l.ProviderObjects(l.Owner, "subscription")
	return unix(subs[len(subs)-1], "created")
}

// unix returns a time field of a provider object.
func unix(a apptest.Reply, path string) time.Time {
	a.T.Helper()
	seconds, ok := a.At(path).(float64)
	if !ok {
		a.T.Fatalf("%s is %v", path, a.At(path))
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// promise holds the amounts of a preview.
type promise struct{ Credit, Charge, Pending int64 }

func promiseOf(a apptest.Reply, at string) promise {
	cents := func(key string) int64 { v, _ := a.At(at + key).(float64); return int64(v) }
	return promise{cents(".credit.cents"), cents(".charge.cents"), cents(".breakdown.pending.cents")}
}

// change previews another plan and changes to it. Sometimes the cost changes in between. Then the
// request is rejected, and only the amounts in the error are charged.
func (l *life) change() {
	p, quantity := l.pick(l.money.plan.slug)
	ask := func() apptest.Reply {
		return l.ChangePlan(l.Owner, p.slug, apptest.Object{"quantity": quantity})
	}
	from := l.Now().Truncate(time.Second)
	l.told = append(l.told, fmt.Sprintf("looks at %s × %d", p.slug, quantity))
	shown := l.PreviewChange(l.Owner, p.slug, int(quantity)).Want(200)
	amounts := "data"
	at := l.promised(shown, amounts, p, quantity, from)
	if l.draw.IntN(4) == 0 {
		l.reprice(p.slug)
		if credit, charge, pending := l.money.cost(p, l.unit(p.slug), quantity, at); promiseOf(shown, "data") != (promise{credit, charge, pending}) {
			from = l.Now().Truncate(time.Second)
			shown = ask()
			shown.WantRefused(409, "preview_outdated")
			amounts = "preview"
			at = l.promised(shown, amounts, p, quantity, from)
			l.note("outdated", "was shown other amounts")
			l.agrees("outdated")
		}
	}
	if l.money.pays(p, l.unit(p.slug), quantity, at) {
		ask().Want(200).WantAt("data.action", "updated")
	} else if !l.unpaid(ask()) {
		return
	}
	l.AwaitNotifications()
	made := l.Subscription(l.Owner).TimeAt("data.current_period_start")
	l.money.change(p, l.unit(p.slug), quantity, at, made)
	l.note("change", "changes to %s × %d", p.slug, quantity)
	l.agrees("changed to " + p.slug)
}

// unpaid continues after a change that the card does not pay immediately, and reports whether the
// change is made. A declined card changes nothing. A card that requires confirmation makes the
// change pending until it is confirmed or dropped.
func (l *life) unpaid(asked apptest.Reply) (made bool) {
	l.t.Helper()
	if l.card == apptest.CardFailsAtRenewal {
		asked.WantRefused(422, "plan_change_error")
		l.note("refused card", "the card is refused")
		l.agrees("refused")
		return false
	}
	page := asked.Want(200).WantAt("data.action", "confirmation_required").Str("data.payment_action.url")
	l.Subscription(l.Owner).WantAt("data.price_cents", float64(l.money.unit)).WantAt("data.pending_change.payment_action.type", "confirm")
	if l.draw.IntN(3) == 0 {
		l.Call("DELETE", l.Path("/subscription/pending-change"), l.Token, nil).Want(204)
		l.AwaitNotifications()
		l.note("dropped", "drops the change")
		l.agrees("dropped")
		return false
	}
	l.Submit(page, apptest.Confirmation("")).Want(303)
	l.AwaitNotifications()
	l.note("confirmation", "confirms")
	return true
}

// mend pays the owed invoices, with another card if the current one is declined.
func (l *life) mend() {
	if l.card == apptest.CardFailsAtRenewal {
		l.ReplaceCard(apptest.CardPays)
		l.setCard(apptest.CardPays)
		l.agrees("a new card pays nothing by itself")
	}
	list := l.Call("GET", l.Path("/invoices?status=open&sort=issue_date"), l.Token, nil).Want(200)
	present := l.Subscription(l.Owner).At("data.id")
	for _, open := range list.At("data").([]any) {
		in := open.(apptest.Object)
		paid := l.Call("POST", l.Path("/invoices/"+in["id"].(string)+"/pay"), l.Token, nil)
		// An invoice of an earlier subscription is paid with the card of that subscription.
		earlier := in["subscription_id"] != present
		if l.card == apptest.CardConfirms && !earlier || earlier && paid.Status == 422 {
			paid.WantRefused(422, "payment_failed")
			answer := apptest.Confirmation("")
			if earlier && paid.At("payment_action.type") == "pay" {
				answer = apptest.Card(apptest.CardPays)
			}
			l.Submit(paid.Str("payment_action.url"), answer).Want(303)
		} else {
			paid.Want(200).WantAt("data.status", "paid")
		}
	}
	l.AwaitNotifications()
	l.money.settled()
	l.note("overdue", "pays the open invoices")
	l.agrees("paid")
}

func (l *life) setCard(card string) { l.card, l.money.away = card, card == apptest.CardPays }

func (l *life) drawCard() {
	l.setCard(l.cards[l.draw.IntN(len(l.cards))])
}

// replaceCard replaces the card.
func (l *life) replaceCard() {
	l.drawCard()
	l.ReplaceCard(l.card)
	l.note("card", "has the card %s", l.card)
	l.agrees("another card")
}

// promised returns the time, in seconds, for which the model computes the previewed amounts.
func (l *life) promised(seen apptest.Reply, amounts string, p offered, quantity int64, from time.Time) time.Time {
	l.t.Helper()
	shown := promiseOf(seen, amounts)
	var got promise
	for at := from; !at.After(l.Now()); at = at.Add(time.Second) {
		got.Credit, got.Charge, got.Pending = l.money.cost(p, l.unit(p.slug), quantity, at)
		if got == shown {
			l.foresees(seen, amounts, p, quantity, got)
			return at
		}
	}
	l.t.Fatalf("%s: %s × %d is shown as %+v, the model has %+v; %q", l.Email, p.slug, quantity, shown, got, l.told)
	return from
}

// foresees compares the payment in a preview and the next regular bill with the model.
func (l *life) foresees(seen apptest.Reply, amounts string, p offered, quantity int64, made promise) {
	l.t.Helper()
	net := made.Charge - made.Credit
	applied := min(max(net, 0), l.money.credit)
	next, left := int64(0), l.money.credit-min(net, l.money.credit)
	if !l.money.ends {
		next = l.money.net(l.unit(p.slug)*quantity, seen.TimeAt(amounts+".next_billing_at"))
	}
	for key, want := range map[string]int64{
		"balance_applied": applied, "due_now": max(net, 0) - applied, "next_amount": next, "next_due": next - min(next, left),
	} {
		if got := seen.At(amounts + "." + key + ".cents"); got != float64(want) {
			l.t.Errorf("%s: %s × %d has %s %v, the model has %d; %q", l.Email, p.slug, quantity, key, got, want, l.told)
		}
	}
}

// reprice gives a plan new prices.
func (l *life) reprice(slug string) {
	prices := l.prices[slug]
	for i := range prices {
		step := int(modelCurrencies[i].step)
		prices[i] = max(prices[i]*(50+l.draw.IntN(100))/100/step, 70) * step
	}
	l.prices[slug] = prices
	l.admin.Token = l.Admin()
	var list []any
	for currency, cents := range l.pricesOf(slug) {
		list = append(list, apptest.Price(currency, cents))
	}
	l.admin.AdminCall("PUT", "/plans/"+l.ids[slug]+"/prices", apptest.Object{"prices": list}).Want(200)
	l.note("price", "%s has new prices", slug)
}

// price changes the price of the tenant's plan. The tenant keeps the old price.
func (l *life) price() { l.reprice(l.money.plan.slug) }

// team makes a member join or leave.
func (l *life) team() {
	before := l.money.quantity
	if len(l.members) > 1 && l.draw.IntN(2) == 0 {
		last := len(l.members) - 1
		l.Call("DELETE", l.Path("/team/members/")+l.members[last], l.Token, nil).Want(200)
		l.members = l.members[:last]
		l.note("member", "somebody leaves")
		l.seats(before, int64(len(l.members)))
		return
	}
	name := fmt.Sprintf("m%d-%s", l.count["member"], l.Email)
	_, id := l.Join(l.Owner, "Member", name, "member")
	l.members = append(l.members, strconv.FormatInt(id, 10))
	l.note("member", "somebody joins")
	l.seats(before, max(before, int64(len(l.members))))
}

// seats expects the provider's quantity to follow the team.
func (l *life) seats(before, after int64) {
	if l.money.plan.kind != "seat" || before == after {
		l.agrees("team")
		return
	}
	apptest.Eventually(l.t, "the seats", func() bool { return l.Subscription(l.Owner).At("data.quantity") == float64(after) })
	l.AwaitNotifications()
	var at time.Time // zero in a trial, where seats are not prorated
	if made := l.ProviderObjects(l.Owner, "invoiceitem"); !l.money.trial {
		at = unix(made[len(made)-1], "period.start")
	}
	l.money.seats(after, at)
	l.agrees("seats")
}

// cancel schedules or unschedules the end of the subscription with its period.
func (l *life) cancel() {
	if l.money.ends {
		l.Call("POST", l.Path("/subscription/resume"), l.Token, nil).Want(200)
		l.note("resumption", "resumes")
	} else {
		l.Call("POST", l.Path("/subscription/cancel"), l.Token, apptest.Object{}).Want(200)
		l.note("cancellation", "cancels")
	}
	l.money.ends, l.money.next = !l.money.ends, nil
	l.AwaitNotifications()
	l.agrees("canceled or resumed")
}

// cancelNow ends the subscription immediately.
func (l *life) cancelNow() {
	l.Call("POST", l.Path("/subscription/cancel"), l.Token, apptest.Object{"immediately": true}).Want(200)
	l.AwaitNotifications()
	l.money.endNow()
	l.note("end", "cancels now")
	l.agrees("canceled now")
}

// agrees compares the service and the provider with the model.
func (l *life) agrees(when string) {
	l.t.Helper()
	got := []bill{}
	for _, in := range l.ProviderObjects(l.Owner, "invoice") {
		switch status := in.Str("status"); {
		case status != "void":
			got = append(got, bill{Total: int64(in.At("total").(float64)), Status: status})
		case in.At("amount_paid") != 0.0:
			l.t.Errorf("%s, %s: a void invoice has %v paid", l.Email, when, in.At("amount_paid"))
		}
	}
	want := make([]bill, len(l.money.bills))
	for i, b := range l.money.bills {
		want[i] = bill{Total: b.Total, Status: b.Status}
	}
	credit := 0.0
	if c := l.ProviderObjects(l.Owner, "customer"); len(c) > 0 {
		credit = c[0].At("balance").(float64)
	}
	sub := l.Subscription(l.Owner)
	status, _ := sub.At("data.status").(string)
	diff := cmp.Diff(want, got, cmp.AllowUnexported(bill{})) + cmp.Diff(-float64(l.money.credit), credit) + cmp.Diff(l.money.status, status)
	if status != "" {
		type shown struct {
			Price, Quantity float64
			Ends            bool
			Start, End      time.Time
		}
		diff += cmp.Diff(
			shown{float64(l.money.unit), float64(l.money.quantity), l.money.ends, l.money.start, l.money.end},
			shown{
				sub.At("data.price_cents").(float64), sub.At("data.quantity").(float64), sub.At("data.cancel_at_period_end").(bool),
				sub.TimeAt("data.current_period_start"), sub.TimeAt("data.current_period_end"),
			})
	}
	if diff != "" {
		l.t.Fatalf("%s, %s: model and service differ (-want +got):\n%s%q", l.Email, when, diff, l.told)
	}
}

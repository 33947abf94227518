package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// sale is a tenant that is sold everything that changes its bills, together with the model of its
// money. Its card always pays.
type sale struct {
	*life
	codes *int // number of promotion codes so far
	given int64
}

// What is previewed, charged, invoiced and booked is the amount that the model computes: through
// renewals, changes of plan, cycle and seats, promotion codes, credit and cancellations, in both
// invoice modes.
func TestMoneyOfSales(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string][]apptest.Option{"provider": nil, "platform": {apptest.WithPlatformInvoices}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, sell, options...)
		})
	}
}

func sell(t *testing.T, s *apptest.Server) {
	addCurrency(s, "JPY", 0)
	addCurrency(s, "KWD", 3)
	m := newMarket(s, "sales")
	sales, codes := make([]*sale, dbtest.Rounds(3, 30)), 0
	for i := range sales {
		l := &life{
			Customer: s.NewCustomer(fmt.Sprintf("sale%d", i)), market: m, t: t, currency: i % 3,
			draw: rand.New(rand.NewPCG(uint64(i), 23)), card: apptest.CardPays, cards: []string{apptest.CardPays},
		}
		l.members, l.money.step, l.money.away = []string{l.Email}, modelCurrencies[i%3].step, true
		sales[i] = &sale{life: l, codes: &codes}
	}
	draw, lives := rand.New(rand.NewPCG(19, 29)), make([]*life, len(sales))
	for i, v := range sales {
		lives[i] = v.life
	}
	for range dbtest.Rounds(8, 20) {
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
	for _, event := range []string{"purchase", "change", "code", "removed code", "credit", "member"} {
		if m.count[event] == 0 {
			t.Errorf("there was no %s", event)
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
		v.buy()
		return
	}
	events := []func(){v.change, v.change, v.change, v.code, v.code, v.removeCode, v.credit, v.credit, v.team, v.team, v.cancel, v.cancelNow, v.price}
	events[v.draw.IntN(len(events))]()
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

// credit gives credit, or takes some of it back.
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

// booked compares the invoices of the service, the credit that it shows and the money that cards paid
// with the model.
func (v *sale) booked() {
	v.t.Helper()
	var got, want []int64
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
	}
	for _, b := range v.money.bills {
		want = append(want, b.Total)
	}
	var paid int64
	for _, ch := range v.ProviderObjects(v.Owner, "charge") {
		if ch.At("status") == "succeeded" {
			paid += int64(ch.At("amount").(float64) - ch.At("amount_refunded").(float64))
		}
	}
	credit, _ := v.Call("GET", v.Path("/credit"), v.Token, nil).Want(200).At("data.balance.amount_cents").(float64)
	diff := cmp.Diff(sum(want), sum(got)) + cmp.Diff(len(want), len(got)) + cmp.Diff(v.money.cash, paid) + cmp.Diff(v.money.credit, int64(credit))
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

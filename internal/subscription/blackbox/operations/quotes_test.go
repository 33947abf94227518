package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// sold lists the plans of TestEveryChangeCostsThePreviewedAmount, with prices in EUR, JPY and KWD, in
// minor units.
var sold = []offered{
	{"small", "flat", "monthly", 0, [3]int{1_900, 2_900, 5_990}},
	{"large", "flat", "monthly", 0, [3]int{9_999, 14_801, 31_570}},
	{"quarter", "flat", "quarterly", 0, [3]int{25_007, 38_003, 80_010}},
	{"year", "flat", "yearly", 0, [3]int{99_000, 150_001, 310_050}},
	{"week", "flat", "weekly", 0, [3]int{701, 1_103, 2_230}},
	{"tries", "flat", "monthly", 30, [3]int{4_999, 7_003, 15_550}},
	{"seats", "seat", "monthly", 0, [3]int{333, 499, 1_070}},
	{"seat-years", "seat", "yearly", 0, [3]int{3_333, 4_999, 10_700}},
	{"seat-tries", "seat", "monthly", 14, [3]int{777, 1_201, 2_510}},
}

// offered is a plan with its slug, pricing type, billing cycle, trial days and its price in each
// currency.
type offered struct {
	slug, kind, cycle string
	trial             int
	prices            [3]int
}

// shopper is a tenant that changes from plan to plan.
type shopper struct {
	*apptest.Customer
	plan     string
	quantity int // the requested seats, 0 on a flat plan
	net      float64
	charge   float64
	credit   float64
	invoices int // the number of invoices before the change
}

// For any change, up or down, to another interval or number of seats, within a trial or not, the
// next invoice has the previewed amounts, to the smallest unit of the currency.
func TestEveryChangeCostsThePreviewedAmount(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, s *apptest.Server, draw *rand.Rand) {
		currencies := []string{"EUR", "JPY", "KWD"}
		addCurrency(s, "JPY", 0)
		addCurrency(s, "KWD", 3)
		k := s.CatalogAdmin()
		product := k.CreateProduct("quotes")
		plans := map[string]string{}
		for _, p := range sold {
			prices := map[string]int{}
			for i, currency := range currencies {
				prices[currency] = p.prices[i]
			}
			plans[p.slug] = k.CreatePricedPlan(product, p.slug, prices, apptest.Object{"pricing_type": p.kind, "billing_cycle": p.cycle, "trial_days": p.trial})
		}
		shoppers := make([]*shopper, dbtest.Rounds(3, 15))
		for i := range shoppers {
			c := &shopper{Customer: s.NewCustomer(fmt.Sprintf("shopper%d", i))}
			first := sold[(i*5)%len(sold)] // every third plan begins with a trial
			c.Buy(plans[first.slug], currencies[i%3], apptest.Card(apptest.CardPays))
			c.plan = first.slug
			shoppers[i] = c
		}
		changes, inTrial, paid, credited := 0, 0, 0, 0
		for range dbtest.Rounds(4, 14) {
			// Never to the second of a renewal, because the periods are longer.
			s.Advance(time.Duration(1+draw.IntN(9*24*60*60)) * time.Second)
			for _, c := range shoppers {
				c.LogInAgain()
				c.draw(draw)
				c.shown()
			}
			// The preview stays valid while the user decides.
			s.Advance(time.Duration(1+draw.IntN(9*60)) * time.Second)
			for _, c := range shoppers {
				trial := c.Subscription(c.Owner).At("data.status") == "trialing"
				c.invoices = len(c.ProviderObjects(c.Owner, "invoice"))
				c.ChangePlan(c.Owner, c.plan, c.seatsWanted()).Want(200)
				c.costsWhatWasShown(t)
				changes++
				switch {
				case trial:
					inTrial++
				case c.net > 0:
					paid++
				default:
					credited++
				}
			}
		}
		t.Logf("%d changes: %d within a trial, %d paid, %d credited", changes, inTrial, paid, credited)
		if want := dbtest.Rounds(12, 200); changes < want || inTrial == 0 || paid == 0 || credited == 0 {
			t.Errorf("%d changes, want %d of all kinds", changes, want)
		}
	})
}

// eachSeed runs f on each database with a fixed random seed.
func eachSeed(t *testing.T, f func(t *testing.T, s *apptest.Server, draw *rand.Rand)) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) { f(t, s, rand.New(rand.NewPCG(11, 13))) })
}

// draw picks another plan, and a number of seats if the plan has them.
func (c *shopper) draw(chance *rand.Rand) {
	others := slices.DeleteFunc(slices.Clone(sold), func(p offered) bool { return p.slug == c.plan })
	next := others[chance.IntN(len(others))]
	c.plan, c.quantity = next.slug, 0
	if next.kind == "seat" {
		c.quantity = 1 + chance.IntN(20)
	}
}

func (c *shopper) seatsWanted() apptest.Object {
	if c.quantity == 0 {
		return nil
	}
	return apptest.Object{"quantity": c.quantity}
}

// shown reads the preview.
func (c *shopper) shown() {
	c.T.Helper()
	a := c.PreviewChange(c.Owner, c.plan, c.quantity)
	c.net = wantAmounts(a)
	c.charge, c.credit = a.At("data.charge.cents").(float64), a.At("data.credit.cents").(float64)
}

// costsWhatWasShown compares the invoice of the change with the preview.
func (c *shopper) costsWhatWasShown(t *testing.T) {
	t.Helper()
	made := c.ProviderObjects(c.Owner, "invoice")[c.invoices:]
	if len(made) == 0 && c.charge == 0 && c.credit == 0 {
		return
	}
	if len(made) != 1 {
		t.Fatalf("%s to %s created %d invoices, the preview was %v − %v", c.Email, c.plan, len(made), c.charge, c.credit)
	}
	charge, credit := 0.0, 0.0
	for _, line := range made[0].At("lines.data").([]any) {
		if amount := line.(apptest.Object)["amount"].(float64); amount > 0 {
			charge += amount
		} else {
			credit -= amount
		}
	}
	if charge != c.charge || credit != c.credit || made[0].At("total") != c.net || made[0].At("status") != "paid" {
		t.Errorf("%s to %s: the preview shows %v − %v = %v, the invoice has %v − %v = %v, %v", c.Email, c.plan,
			c.charge, c.credit, c.net, charge, credit, made[0].At("total"), made[0].At("status"))
	}
}

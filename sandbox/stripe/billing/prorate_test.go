package billing_test

import (
	"testing"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
)

func TestProrate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount, part, whole int64
		currency            string
		want                int64
	}{
		{1000, 15, 30, "eur", 500},
		{1000, 30, 30, "eur", 1000},
		{1000, 31, 30, "eur", 1000},
		{1000, 0, 30, "eur", 0},
		{1000, -1, 30, "eur", 0},
		{0, 15, 30, "eur", 0},
		{1000, 1, 3, "eur", 333},
		{1000, 2, 3, "eur", 667},
		{1, 1, 2, "eur", 1}, // half rounds away from zero
		{-1, 1, 2, "eur", -1},
		{-1000, 2, 3, "eur", -667},
		{100, 1, 3, "jpy", 33},
		{1500, 1, 7, "kwd", 210}, // 214.28…, in steps of ten fils
		{1000, 1, 3, "isk", 300}, // 333.33…, in steps of a hundred aurar
		{99999899000001, 94608000, 94694400, "eur", 99908658216242},
	} {
		if got := billing.Prorate(c.amount, c.part, c.whole, billing.Step(c.currency)); got != c.want {
			t.Errorf("%d/%d of %d %s is %d, want %d", c.part, c.whole, c.amount, c.currency, got, c.want)
		}
	}
}

// TestProratedPartsAddUp checks that credit and charge for the same time are equal: changing to a
// price of the same amount costs nothing.
func TestProratedPartsAddUp(t *testing.T) {
	t.Parallel()
	const whole = 31 * 24 * 60 * 60
	for amount := int64(1); amount < 5000; amount += 37 {
		last := int64(0)
		for part := int64(0); part <= whole; part += 9973 {
			got := billing.Prorate(amount, part, whole, 1)
			if got < last || got > amount || billing.Prorate(-amount, part, whole, 1) != -got {
				t.Fatalf("%d of %d seconds of %d come to %d", part, whole, amount, got)
			}
			if rest := billing.Prorate(amount, whole-part, whole, 1); got+rest < amount || got+rest > amount+1 {
				t.Fatalf("%d is split into %d and %d", amount, got, rest)
			}
			last = got
		}
	}
}

func TestOwed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, balance, due, left int64 }{
		{1000, 0, 1000, 0},
		{1000, -300, 700, 0},
		{1000, -1000, 0, 0},
		{1000, -1500, 0, -500},
		{-400, 0, 0, -400},
		{-400, -100, 0, -500},
		{-400, 1000, 600, 0},
		{0, 250, 250, 0},
	} {
		if due, left := billing.ApplyBalance(c.total, c.balance); due != c.due || left != c.left {
			t.Errorf("%d with a balance of %d: %d is due and %d left, want %d and %d", c.total, c.balance, due, left, c.due, c.left)
		}
	}
}

package rates

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

func parse(t *testing.T, text string) money.UnitPrice {
	t.Helper()
	value, err := money.ParseUnitPrice(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestConversion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate     string
		from, to int32
		amount   int64
		want     int64
	}{
		{"1.05", 2, 2, 2100, 2000},
		{"2", 2, 2, 1, 1}, // half up
		{"3", 2, 2, 1, 0},
		{"160", 0, 2, 8000, 5000}, // yen
		{"0.33", 3, 2, 330, 100},  // dinars
		{"0.0000000001", 2, 2, 1, 10_000_000_000},
		{"1000000000000", 2, 2, 1_000_000_000_000_000, 1000},
		{"0.0000000001", 0, 2, 1_000_000_000_000_000, maxAmount},
	} {
		if got := newConversion(parse(t, c.rate), c.from, c.to).Convert(c.amount); got != c.want {
			t.Errorf("%d at %s: %d, want %d", c.amount, c.rate, got, c.want)
		}
	}
}

// The conversion is exact for any rate and amount.
func TestConversionIsExact(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		rate := new(big.Rat).SetFrac64(1+draw.Int64N(1<<draw.IntN(62)), scale)
		from, to, amount := draw.Int32N(4), draw.Int32N(4), draw.Int64N(1<<draw.IntN(50))
		want := new(big.Rat).SetInt64(amount)
		for range to {
			want.Mul(want, big.NewRat(10, 1))
		}
		for range from {
			want.Quo(want, big.NewRat(10, 1))
		}
		want.Quo(want, rate).Add(want, big.NewRat(1, 2))
		exact := new(big.Int).Quo(want.Num(), want.Denom())
		if exact.Cmp(big.NewInt(maxAmount)) > 0 {
			exact.SetInt64(maxAmount)
		}
		if got := newConversion(parse(t, rate.FloatString(Decimals)), from, to).Convert(amount); got != exact.Int64() {
			t.Fatalf("%d at %s: %d, want %s", amount, rate.FloatString(Decimals), got, exact)
		}
	}
}

// A time gets the latest rate of its day or the ten days before, otherwise an older or later rate.
func TestRateOfADay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 20, 23, 0, 0, 0, time.UTC)
	day := journal.DayOf(at)
	for name, c := range map[string]struct {
		days    []int64
		want    int // index; -1 without a rate
		missing bool
	}{
		"of the day":        {[]int64{-3, 0, 1}, 1, false},
		"ten days before":   {[]int64{-20, -10, 1}, 1, false},
		"eleven days":       {[]int64{-20, -11, 1}, 1, true},
		"only later":        {[]int64{1, 5}, 0, true},
		"none":              {nil, -1, true},
		"the latest before": {[]int64{-9, -8, -7}, 2, false},
	} {
		table := Table{base: "EUR", units: map[string]int32{"EUR": 2, "USD": 2}, rates: map[string][]rate{}}
		values := []string{"1.5", "2.5", "3.5"}
		for i, d := range c.days {
			table.rates["USD"] = append(table.rates["USD"], rate{day + d, parse(t, values[i])})
		}
		got, missing := table.ConversionAt("USD", at)
		want := "0"
		if c.want >= 0 {
			want = values[c.want]
		}
		if got.Rate().String() != want || missing != c.missing || table.Has("USD") != (c.want >= 0) {
			t.Errorf("%s: %s, missing %t", name, got.Rate(), missing)
		}
	}
	if c, missing := (Table{base: "EUR"}).ConversionAt("EUR", at); c.Convert(7) != 7 || missing {
		t.Error("amounts in the base currency are converted")
	}
}

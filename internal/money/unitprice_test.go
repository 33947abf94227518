package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

func unitPrice(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string,
) money.UnitPrice {
	t.Helper()
	p, err := money.ParseUnitPrice(text)
	if err != nil {
		t.Fatalf("ParseUnitPrice(%q): %v", text, err)
	}
	return p
}

func TestParseUnitPrice(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want string
		err  error
	}{
		"0":                                     {want: "0"},
		"-0":                                    {want: "0"},
		"-0.000e5":                              {want: "0"},
		"0e999999999999999999999":               {want: "0"},
		"1":                                     {want: "1"},
		"100":                                   {want: "100"},
		"2.50":                                  {want: "2.5"},
		"0.0025":                                {want: "0.0025"},
		"10.01":                                 {want: "10.01"},
		"0.000000000001":                        {want: "0.000000000001"},
		"1e-12":                                 {want: "0.000000000001"},
		"1000e-15":                              {want: "0.000000000001"},
		"0.0000000000001e1":                     {want: "0.000000000001"},
		"0.999999999999":                        {want: "0.999999999999"},
		"1.5e-2":                                {want: "0.015"},
		"1E+3":                                  {want: "1000"},
		"1e12":                                  {want: "1000000000000"},
		"1000000000000.000":                     {want: "1000000000000"},
		"999999999999.999999999999":             {want: "999999999999.999999999999"},
		"1." + zeros(40):                        {want: "1"},
		"1" + zeros(40) + "e-40":                {want: "1"},
		"0." + zeros(40) + "1e41":               {want: "1"},
		"-1":                                    {err: money.ErrNegative},
		"-0.000000000001":                       {err: money.ErrNegative},
		"-1e99":                                 {err: money.ErrNegative},
		"1000000000000.000000000001":            {err: money.ErrTooLarge},
		"1000000000001":                         {err: money.ErrTooLarge},
		"9999999999999":                         {err: money.ErrTooLarge},
		"1e13":                                  {err: money.ErrTooLarge},
		"1e2147483647":                          {err: money.ErrTooLarge},
		"1e9223372036854775807":                 {err: money.ErrTooLarge},
		"1e999999999999999999999":               {err: money.ErrTooLarge},
		"1" + zeros(400):                        {err: money.ErrTooLarge},
		"0.0000000000001":                       {err: money.ErrTooPrecise},
		"1e-13":                                 {err: money.ErrTooPrecise},
		"1e-9223372036854775808":                {err: money.ErrTooPrecise},
		"1e-999999999999999999999":              {err: money.ErrTooPrecise},
		"0.33333333333333333333333333333333333": {err: money.ErrTooPrecise},
		"":                                      {err: money.ErrNotNumber},
		"-":                                     {err: money.ErrNotNumber},
		"+1":                                    {err: money.ErrNotNumber},
		"01":                                    {err: money.ErrNotNumber},
		".5":                                    {err: money.ErrNotNumber},
		"5.":                                    {err: money.ErrNotNumber},
		"1e":                                    {err: money.ErrNotNumber},
		"0x1":                                   {err: money.ErrNotNumber},
		"1_000":                                 {err: money.ErrNotNumber},
		" 1":                                    {err: money.ErrNotNumber},
		"1\n":                                   {err: money.ErrNotNumber},
		"1,5":                                   {err: money.ErrNotNumber},
		".inf":                                  {err: money.ErrNotNumber},
		"NaN":                                   {err: money.ErrNotNumber},
		`"1"`:                                   {err: money.ErrNotNumber},
		"null":                                  {err: money.ErrNotNumber},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := money.ParseUnitPrice(text)
			if !errors.Is(err, tt.err) {
				t.Fatalf("ParseUnitPrice(%q): %v, want %v", text, err, tt.err)
			}
			if err == nil && got.String() != tt.want {
				t.Errorf("ParseUnitPrice(%q) = %s, want %s", text, got, tt.want)
			}
		})
	}
}

func TestUnitPriceAmount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		price    string
		quantity money.Quantity
		want     int64
	}{
		{"0", money.Max, 0},
		{"1", 0, 0},
		{"12", 3 * money.One, 36},
		{"0.5", money.One, 1},            // half a cent rounds up
		{"0.499999999999", money.One, 0}, // a trillionth less rounds down
		{"1.5", money.One, 2},
		{"2.5", money.One, 3}, // half up, not half to even
		{"0.000001", 499_999 * money.One, 0},
		{"0.000001", 500_000 * money.One, 1},
		{"1", 499_999, 0}, // millionths of a unit
		{"1", 500_000, 1},
		{"0.0025", 1000 * money.One, 3}, // 2.5 cents, rounded once per line
		{"0.000000000001", money.Max, 1},
		{"0.1", 3 * money.One, 0},
		{"0.7", money.One, 1},
		{"1000000000000", 9_000_000 * money.One, 9_000_000_000_000_000_000},
		{"1000000000000", money.Max, math.MaxInt64}, // capped at the limit
		{"999999999999.999999999999", math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := unitPrice(t, tt.price).Amount(money.TotalOf(tt.quantity), 1); got != tt.want {
			t.Errorf("%s × %s = %d, want %d", tt.price, tt.quantity, got, tt.want)
		}
	}
}

func TestUnitPriceJSON(t *testing.T) {
	t.Parallel()
	body := struct {
		Price    money.UnitPrice  `json:"price"`
		Optional *money.UnitPrice `json:"optional"`
	}{Price: unitPrice(t, "7")}
	if err := json.Unmarshal([]byte(`{"price": 2.50, "optional": null}`), &body); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(body)
	if err != nil || string(text) != `{"price":2.5,"optional":null}` {
		t.Errorf("wrote %s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"price": null}`), &body); err != nil || body.Price != unitPrice(t, "2.5") {
		t.Errorf("null changed the price to %s, %v", body.Price, err)
	}
	for text, want := range map[string]error{
		`{"price": "1"}`: money.ErrNotNumber, `{"price": -1}`: money.ErrNegative,
		`{"price": 1e13}`: money.ErrTooLarge, `{"price": 1e-13}`: money.ErrTooPrecise,
	} {
		if err := json.Unmarshal([]byte(text), &body); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// drawUnitPrice draws a price and returns it with its exact value.
func drawUnitPrice(t *rapid.T) (money.UnitPrice, *big.Rat) {
	units := big.NewInt(rapid.Int64Range(0, money.MaxUnitPrice-1).Draw(t, "cents"))
	units.Mul(units, big.NewInt(1e12))
	units.Add(units, big.NewInt(rapid.Int64Range(0, 999_999_999_999).Draw(t, "trillionths")))
	exact := new(big.Rat).SetFrac(units, big.NewInt(1e12))
	return unitPrice(t, exact.FloatString(12)), exact
}

// The conversion between text and price is one-to-one and exact.
func TestUnitPriceRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, exact := drawUnitPrice(t)
		text := p.String()
		if read, ok := new(big.Rat).SetString(text); !ok || read.Cmp(exact) != 0 {
			t.Fatalf("%s is written as %s", exact.FloatString(12), text)
		}
		if strings.Contains(text, ".") && strings.HasSuffix(text, "0") || !json.Valid([]byte(text)) {
			t.Fatalf("%s is not the shortest JSON number", text)
		}
		if again := unitPrice(t, text); again != p {
			t.Fatalf("%s read as %s", text, again)
		}
	})
}

// Any JSON number is either parsed exactly or rejected for the right reason.
func TestParseUnitPriceIsExact(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,16})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := text.Draw(t, "number")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("math/big does not parse %q", text)
		}
		tooLarge := exact.Cmp(big.NewRat(money.MaxUnitPrice, 1)) > 0
		tooPrecise := !new(big.Rat).Mul(exact, big.NewRat(1e12, 1)).IsInt()
		got, err := money.ParseUnitPrice(text)
		switch {
		case exact.Sign() < 0:
			ok = errors.Is(err, money.ErrNegative)
		case tooLarge || tooPrecise:
			ok = tooLarge && errors.Is(err, money.ErrTooLarge) || tooPrecise && errors.Is(err, money.ErrTooPrecise)
		default:
			read, isNumber := new(big.Rat).SetString(got.String())
			ok = err == nil && isNumber && read.Cmp(exact) == 0
		}
		if !ok {
			t.Fatalf("%s = %s, %v", text, got, err)
		}
	})
}

// An amount differs from the exact product by at most half a minor unit. Exactly half is rounded
// up.
func TestUnitPriceAmountIsRoundedHalfUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, price := drawUnitPrice(t)
		q := money.Quantity(rapid.Int64Range(0, math.MaxInt64).Draw(t, "quantity"))
		exact := new(big.Rat).Mul(price, big.NewRat(int64(q), int64(money.One)))
		got := p.Amount(money.TotalOf(q), 1)
		if limit := new(big.Rat).SetFrac(big.NewInt(math.MaxInt64), big.NewInt(1)); exact.Cmp(limit) >= 0 {
			if got != math.MaxInt64 {
				t.Fatalf("%s × %s = %d, want the limit", p, q, got)
			}
			return
		}
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(got), exact)
		if off.Cmp(big.NewRat(1, 2)) > 0 || off.Cmp(big.NewRat(-1, 2)) <= 0 {
			t.Fatalf("%s × %s = %d, which is off by %s", p, q, got, off.FloatString(20))
		}
	})
}

func FuzzParseUnitPrice(f *testing.F) {
	for _, seed := range []string{"1", "-0.5", "1e3", "1.5e-2", "9e99", "01", "1e-12", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := money.ParseUnitPrice(text)
		if isNumber := json.Valid([]byte(text)) && strings.Trim(text, "-0123456789.eE+") == ""; isNumber == errors.Is(err, money.ErrNotNumber) {
			t.Fatalf("ParseUnitPrice(%q): %v", text, err)
		}
		if again, err := money.ParseUnitPrice(p.String()); err != nil || again != p {
			t.Fatalf("ParseUnitPrice(%q) = %s, which reads as %s, %v", text, p, again, err)
		}
	})
}

func TestUnitPriceAmountByStep(t *testing.T) {
	t.Parallel()
	for quantity, want := range map[int64]int64{0: 0, 1: 10, 2: 10, 3: 20, 100: 700} { // 7 each
		if got := unitPrice(t, "7").Amount(money.NewTotal(quantity, 0), 10); got != want {
			t.Errorf("%d × 7 is %d, want %d", quantity, got, want)
		}
	}
	if got := unitPrice(t, "7.25").Amount(money.NewTotal(2, 0), 10); got != 10 { // 14.5 is not rounded to 15 first
		t.Errorf("2 × 7.25 is %d", got)
	}
	if got := unitPrice(t, "1000000000000").Amount(money.NewTotal(1_000_000_000_000, 0), 100); got != math.MaxInt64 {
		t.Errorf("overflow returned %d", got)
	}
}

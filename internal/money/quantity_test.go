package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

func TestParseQuantity(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want money.Quantity
		err  error
	}{
		"0":                                  {want: 0},
		"-0":                                 {want: 0},
		"0.0":                                {want: 0},
		"0e999999999999999999999":            {want: 0},
		"1":                                  {want: 1_000_000},
		"100":                                {want: 100_000_000},
		"2.5":                                {want: 2_500_000},
		"-2.5":                               {want: -2_500_000},
		"0.000001":                           {want: 1},
		"1.0000000":                          {want: 1_000_000},
		"1.50000000000000000000000000000000": {want: 1_500_000},
		"10.01":                              {want: 10_010_000},
		"1e3":                                {want: 1_000_000_000},
		"1E+3":                               {want: 1_000_000_000},
		"1.5e-2":                             {want: 15_000},
		"1000e-9":                            {want: 1},
		"0.0000001e1":                        {want: 1},
		"1e-6":                               {want: 1},
		"1e12":                               {want: money.Max},
		"1000000000000":                      {want: money.Max},
		"1000000000000.000000":               {want: money.Max},
		"999999999999.999999":                {want: money.Max - 1},
		"-1000000000000":                     {want: -money.Max},
		"1" + zeros(40) + "e-40":             {want: 1_000_000},
		"0." + zeros(40) + "1e41":            {want: 1_000_000},
		"1000000000000.000001":               {err: money.ErrTooLarge},
		"-1000000000001":                     {err: money.ErrTooLarge},
		"1000000000001":                      {err: money.ErrTooLarge},
		"9999999999999":                      {err: money.ErrTooLarge},
		"1e13":                               {err: money.ErrTooLarge},
		"1e999999999999999999999":            {err: money.ErrTooLarge},
		"18446744073709551617":               {err: money.ErrTooLarge},
		"1" + zeros(400):                     {err: money.ErrTooLarge},
		"0.0000001":                          {err: money.ErrTooPrecise},
		"0.1234567":                          {err: money.ErrTooPrecise},
		"1e-7":                               {err: money.ErrTooPrecise},
		"1e-999999999999999999999":           {err: money.ErrTooPrecise},
		"0.3333333333333333333333333":        {err: money.ErrTooPrecise},
		"":                                   {err: money.ErrNotNumber},
		"-":                                  {err: money.ErrNotNumber},
		"+1":                                 {err: money.ErrNotNumber},
		"01":                                 {err: money.ErrNotNumber},
		".5":                                 {err: money.ErrNotNumber},
		"5.":                                 {err: money.ErrNotNumber},
		"1e":                                 {err: money.ErrNotNumber},
		"1e+":                                {err: money.ErrNotNumber},
		"0x1":                                {err: money.ErrNotNumber},
		"1_000":                              {err: money.ErrNotNumber},
		" 1":                                 {err: money.ErrNotNumber},
		"1 ":                                 {err: money.ErrNotNumber},
		"1,5":                                {err: money.ErrNotNumber},
		"NaN":                                {err: money.ErrNotNumber},
		"Infinity":                           {err: money.ErrNotNumber},
		`"1"`:                                {err: money.ErrNotNumber},
		"null":                               {err: money.ErrNotNumber},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := money.ParseQuantity(text)
			if !errors.Is(err, tt.err) || got != tt.want {
				t.Errorf("ParseQuantity(%q) = %d, %v; want %d, %v", text, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestQuantityString(t *testing.T) {
	t.Parallel()
	tests := map[money.Quantity]string{
		0:                 "0",
		1:                 "0.000001",
		-1:                "-0.000001",
		100 * money.One:   "100",
		2_500_000:         "2.5",
		10_010_000:        "10.01",
		money.Max:         "1000000000000",
		math.MaxInt64:     "9223372036854.775807",
		math.MinInt64:     "-9223372036854.775808",
		-12_345_678:       "-12.345678",
		money.One * 7 / 8: "0.875",
	}
	for q, want := range tests {
		if got := q.String(); got != want {
			t.Errorf("Quantity(%d).String() = %q, want %q", int64(q), got, want)
		}
	}
}

func TestQuantityJSON(t *testing.T) {
	t.Parallel()
	type body struct {
		Quantity money.Quantity  `json:"quantity"`
		Optional *money.Quantity `json:"optional"`
	}
	codecs := map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"encoding/json": {json.Marshal, json.Unmarshal},
		"json v2": {
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
			func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
		},
	}
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got body
			if err := codec.unmarshal([]byte(`{"quantity": 2.50, "optional": null}`), &got); err != nil {
				t.Fatal(err)
			}
			if got.Quantity != 2_500_000 || got.Optional != nil {
				t.Errorf("read %+v", got)
			}
			out, err := codec.marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"quantity":2.5,"optional":null}`; string(out) != want {
				t.Errorf("wrote %s, want %s", out, want)
			}
			for text, want := range map[string]error{
				`{"quantity": "1"}`:  money.ErrNotNumber,
				`{"quantity": true}`: money.ErrNotNumber,
				`{"quantity": 1e13}`: money.ErrTooLarge,
				`{"quantity": 1e-7}`: money.ErrTooPrecise,
			} {
				if err := codec.unmarshal([]byte(text), &got); !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", text, err, want)
				}
			}
		})
	}
}

func TestQuantityText(t *testing.T) {
	t.Parallel()
	var q money.Quantity
	if err := q.UnmarshalText([]byte("1e3")); err != nil || q != 1000*money.One {
		t.Errorf("read %v, %v", q, err)
	}
	if err := q.UnmarshalText([]byte("null")); !errors.Is(err, money.ErrNotNumber) {
		t.Errorf("null as text: %v", err)
	}
	if text, _ := q.MarshalText(); string(text) != "1000" {
		t.Errorf("wrote %s", text)
	}
}

func TestWholeUnits(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64 / int64(money.One)
	if q, ok := money.WholeUnits(most); !ok || q != money.Quantity(most)*money.One {
		t.Errorf("Whole(%d) = %v, %v", most, q, ok)
	}
	for _, n := range []int64{most + 1, -most - 1, math.MaxInt64, math.MinInt64} {
		if _, ok := money.WholeUnits(n); ok {
			t.Errorf("Whole(%d) fits", n)
		}
	}
}

// The conversion between text and quantity is one-to-one.
func TestQuantityRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := money.Quantity(rapid.Int64Range(-int64(money.Max), int64(money.Max)).Draw(t, "millionths"))
		got, err := money.ParseQuantity(q.String())
		if err != nil || got != q {
			t.Fatalf("%s read as %d, %v; want %d", q, got, err, q)
		}
		if !json.Valid([]byte(q.String())) {
			t.Fatalf("%s is not a JSON number", q)
		}
		if f, _ := strconv.ParseFloat(q.String(), 64); money.Quantity(math.Round(f)) != q/money.One && math.Abs(f-float64(q)/1e6) > 1e-3 {
			t.Fatalf("%s is far from %v", q, f)
		}
	})
}

// Any JSON number is either parsed exactly or rejected for the right reason.
func TestParseQuantityIsExact(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := number.Draw(t, "number")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("math/big does not parse %q", text)
		}
		millionths := new(big.Rat).Mul(exact, big.NewRat(int64(money.One), 1))
		tooLarge := new(big.Rat).Abs(millionths).Cmp(big.NewRat(int64(money.Max), 1)) > 0
		got, err := money.ParseQuantity(text)
		switch {
		case tooLarge && millionths.IsInt():
			if !errors.Is(err, money.ErrTooLarge) {
				t.Fatalf("%s = %d, %v; want too large", text, got, err)
			}
		case tooLarge:
			if err == nil {
				t.Fatalf("%s = %d; want an error", text, got)
			}
		case !millionths.IsInt():
			if !errors.Is(err, money.ErrTooPrecise) {
				t.Fatalf("%s = %d, %v; want too precise", text, got, err)
			}
		case err != nil || millionths.Num().Int64() != int64(got):
			t.Fatalf("%s = %d, %v; want %s", text, got, err, millionths.Num())
		}
	})
}

func TestAddReportsOverflow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64().Draw(t, "a")
		b := rapid.Int64().Draw(t, "b")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		sum, ok := money.Quantity(a).Add(money.Quantity(b))
		if ok != want.IsInt64() {
			t.Fatalf("%d + %d: ok is %v", a, b, ok)
		}
		if ok && int64(sum) != want.Int64() {
			t.Fatalf("%d + %d = %d", a, b, sum)
		}
		if !ok && sum != money.Quantity(a) {
			t.Fatalf("%d + %d changed the quantity to %d", a, b, sum)
		}
	})
}

func FuzzParseQuantity(f *testing.F) {
	for _, seed := range []string{"1", "-0.5", "1e3", "1.5e-2", "9e99", "01", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := money.ParseQuantity(text)
		if isNumber := json.Valid([]byte(text)) && strings.Trim(text, "-0123456789.eE+") == ""; isNumber == errors.Is(err, money.ErrNotNumber) {
			t.Fatalf("ParseQuantity(%q): %v", text, err)
		}
		if err == nil && (q > money.Max || q < -money.Max) {
			t.Fatalf("ParseQuantity(%q) = %d", text, q)
		}
	})
}

func zeros(n int) string { return strings.Repeat("0", n) }

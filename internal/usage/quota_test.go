package usage

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

func quantity(text string) money.Quantity {
	q, err := money.ParseQuantity(text)
	if err != nil {
		panic(err)
	}
	return q
}

func total(text string) money.Total { return money.TotalOf(quantity(text)) }

func ptr[T any](v T) *T { return &v }

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		aggregation Aggregation
		current     string
		quantity    string
		limit       *int64
		want        error
	}{
		{"sum up to the limit", Sum, "7.5", "2.5", ptr(int64(10)), nil},
		{"sum one millionth over", Sum, "7.5", "2.500001", ptr(int64(10)), ErrQuotaExceeded},
		{"sum adds nothing at the limit", Sum, "10", "0", ptr(int64(10)), nil},
		{"sum adds nothing over a lowered limit", Sum, "11", "0", ptr(int64(10)), ErrQuotaExceeded},
		{"sum without limit", Sum, "1000000000000", "1000000000000", nil, nil},
		{"sum with limit 0", Sum, "0", "0.000001", ptr(int64(0)), ErrQuotaExceeded},
		{"sum of nothing with limit 0", Sum, "0", "0", ptr(int64(0)), nil},
		{"sum with the largest limit", Sum, "1000000000000", "1000000000000", ptr(int64(math.MaxInt64)), nil},

		{"count up to the limit, whatever the quantity", Count, "9", "1000", ptr(int64(10)), nil},
		{"count over the limit, even with quantity 0", Count, "10", "0", ptr(int64(10)), ErrQuotaExceeded},
		{"count without limit", Count, "10", "1", nil, nil},

		{"max at the limit", Max, "3", "10", ptr(int64(10)), nil},
		{"max over the limit", Max, "3", "10.000001", ptr(int64(10)), ErrQuotaExceeded},
		{"max below a level that is over a lowered limit", Max, "11", "1", ptr(int64(10)), ErrQuotaExceeded},

		{"last value at the limit", LastValue, "3", "10", ptr(int64(10)), nil},
		{"last value over the limit", LastValue, "3", "10.000001", ptr(int64(10)), ErrQuotaExceeded},
		{"last value back below the limit", LastValue, "11", "1", ptr(int64(10)), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for enforcement, want := range map[Enforcement]error{EnforcementHard: tt.want, EnforcementSoft: nil, EnforcementUnenforced: nil} {
				m := Meter{Aggregation: tt.aggregation, Enforcement: enforcement}
				if _, got := judge(m, window{used: Counter{Value: total(tt.current)}}, quantity(tt.quantity), bounds{limit: tt.limit}); !errors.Is(got, want) {
					t.Errorf("%s: got %v, want %v", enforcement, got, want)
				}
			}
		})
	}
}

func TestJudgeRefusesTotalsThatDoNotFit(t *testing.T) {
	t.Parallel()
	full := money.Total{Units: money.MaxTotal}
	huge := int64(math.MaxInt64)
	tests := []struct {
		name        string
		aggregation Aggregation
		enforcement Enforcement
		limit       *int64
		want        error
	}{
		{"a sum without limit", Sum, EnforcementHard, nil, errTotalTooLarge},
		{"a sum with a limit beyond every total", Sum, EnforcementHard, &huge, errTotalTooLarge},
		{"a sum with a limit: the quota comes first", Sum, EnforcementHard, ptr(int64(10)), ErrQuotaExceeded},
		{"a soft sum", Sum, EnforcementSoft, ptr(int64(10)), errTotalTooLarge},
		{"a count", Count, EnforcementUnenforced, nil, errTotalTooLarge},
		{"a maximum does not add", Max, EnforcementUnenforced, nil, nil},
		{"a last value does not add", LastValue, EnforcementUnenforced, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := Meter{Aggregation: tt.aggregation, Enforcement: tt.enforcement}
			_, got := judge(m, window{used: Counter{Value: full}}, money.One, bounds{limit: tt.limit})
			if !errors.Is(got, tt.want) && got != tt.want { //nolint:errorlint // errTotalTooLarge equals no other refusal
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStatusAndPercent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		current money.Total
		limit   *int64
		status  Status
		percent *float64
	}{
		{"unlimited", total("1e12"), nil, QuotaOK, nil},
		{"nothing", money.Total{}, ptr(int64(100)), QuotaOK, ptr(0.0)},
		{"one millionth below 80 percent", total("79.999999"), ptr(int64(100)), QuotaOK, ptr(80.0)},
		{"80 percent", total("80"), ptr(int64(100)), QuotaWarning, ptr(80.0)},
		{"one millionth below 100 percent", total("99.999999"), ptr(int64(100)), QuotaWarning, ptr(100.0)},
		{"100 percent", total("100"), ptr(int64(100)), QuotaExceeded, ptr(100.0)},
		{"beyond", total("250.5"), ptr(int64(100)), QuotaExceeded, ptr(250.5)},
		{"rounded down", total("1"), ptr(int64(3)), QuotaOK, ptr(33.33)},
		{"rounded up", total("2"), ptr(int64(3)), QuotaOK, ptr(66.67)},
		{"limit 1", total("0.8"), ptr(int64(1)), QuotaWarning, ptr(80.0)},
		{"limit 0, nothing used", money.Total{}, ptr(int64(0)), QuotaOK, ptr(0.0)},
		{"limit 0, something used", money.Total{Millionths: 1}, ptr(int64(0)), QuotaExceeded, ptr(100.0)},
		{"a limit beyond every total", money.Total{Units: money.MaxTotal}, ptr(int64(math.MaxInt64)), QuotaOK, ptr(10.84)},
		{"80 percent of a limit beyond millionths", money.Total{Units: 8_000_000_000_000}, ptr(int64(10_000_000_000_000)), QuotaWarning, ptr(80.0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Reading{Current: tt.current, Limit: tt.limit}
			if got := r.Status(); got != tt.status {
				t.Errorf("status %s, want %s", got, tt.status)
			}
			if diff := cmp.Diff(tt.percent, r.Percent()); diff != "" {
				t.Errorf("percent (-want +got)\n%s", diff)
			}
		})
	}
}

// The thresholds are exact for any usage and limit.
func TestStatusIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, money.MaxTotal).Draw(t, "limit")
		units := rapid.OneOf(
			rapid.Int64Range(0, money.MaxTotal),
			rapid.Int64Range(max(0, limit-limit/5-2), limit-limit/5+2),
			rapid.Int64Range(max(0, limit-2), limit+2),
		).Draw(t, "units")
		current := money.Total{Units: units, Millionths: rapid.SampledFrom([]int64{0, 1, 199_999, 200_000, 400_000, 600_000, 800_000, 999_999}).Draw(t, "millionths")}

		want := QuotaOK
		used := new(big.Int).Mul(big.NewInt(current.Units), big.NewInt(int64(money.One)))
		used.Add(used, big.NewInt(current.Millionths))
		used.Mul(used, big.NewInt(100))
		most := new(big.Int).Mul(big.NewInt(limit), big.NewInt(int64(money.One)))
		if used.Cmp(new(big.Int).Mul(most, big.NewInt(80))) >= 0 {
			want = QuotaWarning
		}
		if used.Cmp(new(big.Int).Mul(most, big.NewInt(100))) >= 0 {
			want = QuotaExceeded
		}
		if got := statusOf(current, &limit); got != want {
			t.Fatalf("%s of %d is %s, want %s", current, limit, got, want)
		}
	})
}

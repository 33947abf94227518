package money_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		current, limit money.Quantity
		want           string
	}{
		"none":                      {0, 1000, "0"},
		"a third":                   {1, 3, "33.33"},
		"two thirds":                {2, 3, "66.67"},
		"half of a hundredth is up": {1, 20_000, "0.01"},
		"just below half is down":   {49_999, 1_000_000_000, "0"},
		"all":                       {1000, 1000, "100"},
		"beyond":                    {2500, 1000, "250"},
		"one short of the limit":    {money.Max - 1, money.Max, "100"},
		"the largest of all":        {math.MaxInt64, math.MaxInt64, "100"},
		"nothing of nothing":        {0, 0, "0"},
		"something of nothing":      {1, 0, "100"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(money.Percent(tt.current, tt.limit))
			if err != nil || string(got) != tt.want {
				t.Errorf("Percent(%d, %d) = %s, %v; want %s", tt.current, tt.limit, got, err, tt.want)
			}
		})
	}
}

func TestPercentIsWithinHalfAHundredth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, int64(money.Max)).Draw(t, "limit")
		current := rapid.Int64Range(0, limit).Draw(t, "current")
		got := money.Percent(money.Quantity(current), money.Quantity(limit))
		if want := float64(current) / float64(limit) * 100; math.Abs(got-want) > 0.005+1e-9 {
			t.Fatalf("Percent(%d, %d) = %v, about %v", current, limit, got, want)
		}
	})
}

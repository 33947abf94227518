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
		current money.Total
		limit   int64
		want    string
	}{
		"none":                      {money.Total{}, 1000, "0"},
		"a third":                   {money.Total{Units: 1}, 3, "33.33"},
		"two thirds":                {money.Total{Units: 2}, 3, "66.67"},
		"half of a hundredth is up": {money.Total{Units: 1}, 20_000, "0.01"},
		"just below half is down":   {money.Total{Millionths: 49_999}, 1000, "0"},
		"all":                       {money.Total{Units: 1000}, 1000, "100"},
		"beyond":                    {money.Total{Units: 2500}, 1000, "250"},
		"one short of the limit":    {money.Total{Units: money.MaxTotal - 1, Millionths: 999_999}, money.MaxTotal, "100"},
		"the largest of all":        {money.Total{Units: money.MaxTotal}, math.MaxInt64, "10.84"},
		"nothing of nothing":        {money.Total{}, 0, "0"},
		"something of nothing":      {money.Total{Millionths: 1}, 0, "100"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(money.Percent(tt.current, tt.limit))
			if err != nil || string(got) != tt.want {
				t.Errorf("Percent(%s, %d) = %s, %v; want %s", tt.current, tt.limit, got, err, tt.want)
			}
		})
	}
}

func TestPercentIsWithinHalfAHundredth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, money.MaxTotal).Draw(t, "limit")
		current := rapid.Int64Range(0, limit).Draw(t, "current")
		got := money.Percent(money.Total{Units: current}, limit)
		if want := float64(current) / float64(limit) * 100; math.Abs(got-want) > 0.005+1e-9 {
			t.Fatalf("Percent(%d, %d) = %v, about %v", current, limit, got, want)
		}
	})
}

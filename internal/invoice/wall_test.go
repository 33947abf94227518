package invoice

import (
	"testing"
	"time"
)

// The seller's time zone decides the date and the year, also across daylight saving changes.
func TestWall(t *testing.T) {
	t.Parallel()
	for zone, days := range map[string]map[string]string{
		"":                 {"2026-12-31T23:30:00Z": "2026-12-31"},
		"Europe/Berlin":    {"2026-12-31T23:30:00Z": "2027-01-01", "2026-06-30T22:30:00Z": "2026-07-01", "2026-12-31T22:30:00Z": "2026-12-31"},
		"America/New_York": {"2027-01-01T04:30:00Z": "2026-12-31", "2027-01-01T05:00:00Z": "2027-01-01"},
		"Pacific/Auckland": {"2026-12-31T11:00:00Z": "2027-01-01"},
	} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		issuing := IssuingConfig{TimeZone: location}
		for at, want := range days {
			moment, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			if got := dateOf(issuing.wallTime(moment)); got != want {
				t.Errorf("%s in %q is %s, want %s", at, zone, got, want)
			}
		}
	}
	if at := time.Unix(1, 0); !(&IssuingConfig{}).wallTime(at).Equal(at) {
		t.Error("without a time zone dates are in UTC")
	}
}

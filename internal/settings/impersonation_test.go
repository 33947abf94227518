package settings_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

func TestImpersonationSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, minutes string
		wantReason      bool
		want            int
		refused         bool
	}{
		{"", "", false, 0, false},
		{"optional", "5", false, 5, false},
		{"required", "480", true, 480, false},
		{"on", "4", false, 0, true},
		{"Required", "481", false, 0, true},
		{"required ", "1h", false, 0, true},
	} {
		got, err := settings.DevFlags{HTTPFlags: settings.HTTPFlags{ImpersonationReason: c.reason, ImpersonationMinutes: c.minutes}}.Settings(env(nil))
		if got.ImpersonationReason != c.wantReason || got.ImpersonationMinutes != c.want || (err != nil) != c.refused {
			t.Errorf("%q, %q: %v, %d, %v", c.reason, c.minutes, got.ImpersonationReason, got.ImpersonationMinutes, err)
		}
		for _, name := range []string{"TENANTRY_IMPERSONATION_REASON", "TENANTRY_IMPERSONATION_MINUTES"} {
			if c.refused && !strings.Contains(err.Error(), name+": ") {
				t.Errorf("%s is not refused: %v", name, err)
			}
		}
	}
}

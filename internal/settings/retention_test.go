package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		flags settings.RetentionFlags
		want  settings.Retention
	}{
		"defaults": {settings.RetentionFlags{}, settings.Retention{Audit: 400 * day, DeadJobs: 30 * day, Deliveries: 30 * day, Tenants: 30 * day}},
		"all": {
			settings.RetentionFlags{AuditRetention: "1", DeadJobRetention: "2", DeliveryRetention: "31", TenantRetention: "3"},
			settings.Retention{Audit: day, DeadJobs: 2 * day, Deliveries: 31 * day, Tenants: 3 * day},
		},
	} {
		s, err := settings.DevFlags{RetentionFlags: tt.flags}.Settings(none)
		if err != nil || s.Retention.WithDefaults() != tt.want {
			t.Errorf("%s: %+v, %v", name, s.Retention.WithDefaults(), err)
		}
	}
	_, err := settings.DevFlags{RetentionFlags: settings.RetentionFlags{AuditRetention: "0", DeadJobRetention: "ever", DeliveryRetention: "29", TenantRetention: "0"}}.Settings(none)
	for _, want := range []string{
		`TENANTRY_AUDIT_RETENTION: "0" is not a number of days from 1 to 36500`, `TENANTRY_DEAD_JOB_RETENTION: "ever" is not`,
		`TENANTRY_DELIVERY_RETENTION: "29" is not a number of days from 30 to`,
		`TENANTRY_TENANT_RETENTION: "0" is not a number of days from 1 to`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for given, want := range map[string]time.Duration{"": 24 * time.Hour, "0": 0, "1": time.Hour, "168": 168 * time.Hour} {
		s, err := settings.DevFlags{RetentionFlags: settings.RetentionFlags{RequestLogHours: given}}.Settings(none)
		if err != nil || s.RequestLogDuration() != want {
			t.Errorf("%q: %s, %v", given, s.RequestLogDuration(), err)
		}
	}
	for _, given := range []string{"-1", "169", "1.5", "24h", " "} {
		_, err := settings.DevFlags{RetentionFlags: settings.RetentionFlags{RequestLogHours: given}}.Settings(none)
		if want := `TENANTRY_REQUEST_LOG_HOURS: "` + given + `" is not a number of hours from 0 to 168`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestWebhookResponses(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for given, stored := range map[string]bool{"": true, "on": true, "off": false} {
		s, err := settings.DevFlags{RetentionFlags: settings.RetentionFlags{WebhookResponses: given}}.Settings(none)
		if err != nil || s.NoWebhookResponses == stored {
			t.Errorf("%q: off is %t, %v", given, s.NoWebhookResponses, err)
		}
	}
	if _, err := (settings.DevFlags{RetentionFlags: settings.RetentionFlags{WebhookResponses: "no"}}).Settings(none); err == nil {
		t.Error("no is accepted")
	}
}

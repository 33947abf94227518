package settings

import (
	"cmp"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/psp/inbox"
)

const day = 24 * time.Hour

// Retention holds the retention periods of records that grow with use.
type Retention struct {
	Audit      time.Duration // the audit trail, impersonations, and past invitations
	DeadJobs   time.Duration
	Deliveries time.Duration // notifications of the payment provider and webhook deliveries
	Tenants    time.Duration // deleted tenants
}

const (
	defaultRequestLog  = 24 * time.Hour
	maxRequestLogHours = 168
)

// RequestLogDuration returns how long requests are logged; 0 means not at all.
func (s Settings) RequestLogDuration() time.Duration {
	if s.RequestLog == nil {
		return defaultRequestLog
	}
	return *s.RequestLog
}

// WithDefaults returns r with the defaults for unset periods.
func (r Retention) WithDefaults() Retention {
	return Retention{
		Audit: cmp.Or(r.Audit, 400*day), DeadJobs: cmp.Or(r.DeadJobs, 30*day), Deliveries: cmp.Or(r.Deliveries, 30*day),
		Tenants: cmp.Or(r.Tenants, 30*day),
	}
}

// retention reads the retention periods.
func (p *parser) retention(f RetentionFlags, s *Settings) {
	for _, d := range []struct {
		name, given string
		least       int
		to          *time.Duration
	}{
		{"TENANTRY_AUDIT_RETENTION", f.AuditRetention, 1, &s.Retention.Audit},
		{"TENANTRY_DEAD_JOB_RETENTION", f.DeadJobRetention, 1, &s.Retention.DeadJobs},
		{"TENANTRY_DELIVERY_RETENTION", f.DeliveryRetention, int(inbox.MinRetention / day), &s.Retention.Deliveries},
		{"TENANTRY_TENANT_RETENTION", f.TenantRetention, 1, &s.Retention.Tenants},
	} {
		if d.given == "" {
			continue
		}
		days, err := strconv.Atoi(d.given)
		if err != nil || days < d.least || days > maxRetentionDays {
			p.fail(d.name, "%q is not a number of days from %d to %d", d.given, d.least, maxRetentionDays)
			continue
		}
		*d.to = time.Duration(days) * day
	}
	if f.RequestLogHours != "" {
		hours, err := strconv.Atoi(f.RequestLogHours)
		if err != nil || hours < 0 || hours > maxRequestLogHours {
			p.fail("TENANTRY_REQUEST_LOG_HOURS", "%q is not a number of hours from 0 to %d", f.RequestLogHours, maxRequestLogHours)
		}
		s.RequestLog = new(time.Duration(hours) * time.Hour)
	}
	s.NoWebhookResponses = !p.onOff("TENANTRY_WEBHOOK_RESPONSES", f.WebhookResponses, true)
}

package app

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

// quotaAlerts notifies a tenant when a soft quota is almost or completely used. It sends mail to the
// billing address, or else to the owner, and push messages to the owner and the admins
// (rules: usage#alerts).
type quotaAlerts struct {
	Tenants interface {
		Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
		Members(ctx context.Context, id uuid.UUID) ([]tenant.Member, error)
		Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	}
	Letters interface {
		QuotaAlert(ctx context.Context, locale, to string, a letters.QuotaAlert) error
	}
	Pushes interface {
		Notify(ctx context.Context, userID int64, m push.Message) error
	}
	Messages    *i18n.Catalog
	BillingPage string // URL of the frontend's billing page
}

// QuotaAlert enqueues the mail and the push messages in the transaction of ctx.
func (q quotaAlerts) QuotaAlert(ctx context.Context, a usage.Alert) error {
	t, err := q.Tenants.Get(ctx, a.TenantID)
	if err != nil {
		return fmt.Errorf("quota alert: read tenant: %w", err)
	}
	if t.DeletedAt != nil {
		return nil // the tenant is deleted
	}
	members, err := q.Tenants.Members(ctx, a.TenantID)
	if err != nil {
		return fmt.Errorf("quota alert: list members: %w", err)
	}
	locale, err := q.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return fmt.Errorf("quota alert: %w", err)
	}
	var to string
	if t.Billing.BillingEmail != nil {
		to = *t.Billing.BillingEmail
	}
	for _, m := range members {
		if to == "" && m.Role == tenant.BuiltInOwner {
			to = m.Email
		}
		if m.Role == tenant.BuiltInOwner || m.Role == builtInAdmin {
			if err := q.Pushes.Notify(ctx, m.UserID, q.push(t.LocaleFor(m.Locale, locale), t, a)); err != nil {
				return err
			}
		}
	}
	if to == "" {
		return nil // the owner has left the tenant
	}
	return q.Letters.QuotaAlert(ctx, locale, to, letterOf(locale, t, a))
}

// builtInAdmin is the built-in role below the owner.
const builtInAdmin = "admin"

func letterOf(locale string, t tenant.Tenant, a usage.Alert) letters.QuotaAlert {
	letter := letters.QuotaAlert{
		Tenant: t.Name, Meter: i18n.Pick(a.MeterNames, locale), Current: a.Current, Limit: a.Limit, Percent: a.Threshold,
	}
	if a.Meter.UnitLabel != nil {
		letter.Unit = *a.Meter.UnitLabel
	}
	if !a.Period.Unbounded() {
		letter.PeriodEnd = a.Period.End
	}
	return letter
}

func (q quotaAlerts) push(locale string, t tenant.Tenant, a usage.Alert) push.Message {
	key := "push.quota_near"
	if a.Threshold >= 100 {
		key = "push.quota_reached"
	}
	return push.Message{
		Title: q.Messages.Text(locale, "push.quota", nil),
		Body: q.Messages.Text(locale, key, map[string]any{
			"tenant": t.Name, "meter": i18n.Pick(a.MeterNames, locale), "percent": i18n.NewFormatter(locale).Percent(a.Threshold),
		}),
		URL: q.BillingPage,
		// In the browser, the alert at 100 percent replaces the alert at 80 percent.
		Tag: "quota-" + a.Meter.Code,
	}
}

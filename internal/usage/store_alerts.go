package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// unsentAlert reads and locks an alert. It returns errAlertSent if the alert was already sent.
func (s store) unsentAlert(ctx context.Context, id uuid.UUID) (Alert, error) {
	tenantID, err := s.q(ctx).TenantOfAlert(ctx, id)
	if err != nil {
		return Alert{}, sqldb.WrapAbsent(err, "read tenant of an alert", errAlertSent)
	}
	row, err := s.q(ctx).UnsentAlert(ctx, usagesql.UnsentAlertParams{TenantID: tenantID, ID: id})
	if err != nil {
		return Alert{}, sqldb.WrapAbsent(err, "read alert", errAlertSent)
	}
	names, err := i18n.LocalizedNames(row.Meter.Name, row.FeatureName)
	a := row.UsageAlert
	return Alert{
		ID: a.ID, TenantID: a.TenantID, Meter: MeterOf(row.Meter), MeterNames: names, Period: Period{Start: a.PeriodStart, End: a.PeriodEnd},
		Threshold: int(a.Threshold), Current: money.Total{Units: a.Units, Millionths: a.Millionths}, Limit: a.Quota,
	}, err
}

func (s store) markAlertSent(ctx context.Context, a Alert, now time.Time) error {
	err := s.q(ctx).MarkAlertSent(ctx, usagesql.MarkAlertSentParams{TenantID: a.TenantID, ID: a.ID, Now: &now})
	return sqldb.Wrap(err, "mark alert as sent")
}

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

// alertsQuery reads the alerts of tenants in current windows into found.
func (s store) alertsQuery(tenantIDs []uuid.UUID, now time.Time, found map[StreamKey][]raisedAlert) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 2, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read alerts",
		Text: `SELECT tenant_id, meter_id, period_start, period_end, threshold, quota, created_at FROM usage_alerts
WHERE period_end > $1::timestamptz AND tenant_id ` + among,
		Args: append([]any{now}, args...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var a raisedAlert
			err := scan(&k.TenantID, &k.MeterID, &a.period.Start, &a.period.End, &a.threshold, &a.limit, &a.at)
			found[k] = append(found[k], a)
			return err
		},
	}
}

func (s store) markAlertSent(ctx context.Context, a Alert, now time.Time) error {
	err := s.q(ctx).MarkAlertSent(ctx, usagesql.MarkAlertSentParams{TenantID: a.TenantID, ID: a.ID, Now: &now})
	return sqldb.Wrap(err, "mark alert as sent")
}

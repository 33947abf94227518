package stats

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/statssql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *statssql.Queries { return statssql.New(s.db.Conn(ctx)) }

// tenants counts the tenants that are not deleted, in total and created since a time.
func (s store) tenants(ctx context.Context, since time.Time) (total, added int64, err error) {
	n, err := s.q(ctx).CountTenants(ctx, since)
	return n.Every - n.Deleted, n.Added - n.AddedAndDeleted, sqldb.Wrap(err, "count tenants")
}

// countLive counts the subscriptions that have not ended, by status.
func (s store) countLive(ctx context.Context) (map[string]int64, error) {
	rows, err := s.q(ctx).LiveSubscriptions(ctx)
	found := make(map[string]int64, len(rows))
	for _, r := range rows {
		found[r.Status] = r.Subscriptions
	}
	return found, sqldb.Wrap(err, "count subscriptions")
}

// hourOf returns the number of the UTC hour of a time, counted from 1970.
func hourOf(at time.Time) int64 { return at.Unix() / int64(time.Hour/time.Second) }

// refusals counts the rejections in the 24 hours that end with the given hour, and in the 24 hours
// before.
func (s store) refusals(ctx context.Context, hour int64) (QuotaRefusalFigures, error) {
	row, err := s.q(ctx).QuotaRefusals(ctx, statssql.QuotaRefusalsParams{
		Middle: hour - hoursOfDay, After: hour - 2*hoursOfDay, Until: hour,
	})
	if err != nil {
		return QuotaRefusalFigures{}, sqldb.Wrap(err, "count quota rejections")
	}
	tenants, err := s.q(ctx).RefusedTenants(ctx, statssql.RefusedTenantsParams{After: hour - hoursOfDay, Until: hour})
	return QuotaRefusalFigures{row.Last, row.Previous, tenants}, sqldb.Wrap(err, "count tenants with quota rejections")
}

// refusalDays returns the number of rejected events by day. It omits days without rejections.
func (s store) refusalDays(ctx context.Context, from, to int64) (map[int64]int64, error) {
	rows, err := s.q(ctx).QuotaRefusalsByDay(ctx, statssql.QuotaRefusalsByDayParams{Since: from, Until: to})
	found := make(map[int64]int64, len(rows))
	for _, r := range rows {
		found[r.Day] = r.Refused
	}
	return found, sqldb.Wrap(err, "read quota rejections by day")
}

// waitingJobs has the numbers of waiting jobs.
type waitingJobs struct{ waiting, late, dead, mails, failing int64 }

// jobs counts jobs. Jobs due before due are late, and jobs of mailKind are mails.
func (s store) jobs(ctx context.Context, due time.Time, mailKind string) (waitingJobs, error) {
	n, err := s.q(ctx).WaitingJobs(ctx, statssql.WaitingJobsParams{Late: due, Mail: mailKind, Most: countLimit})
	return waitingJobs{n.Waiting, n.Late, n.Dead, n.Mails, n.Failing}, sqldb.Wrap(err, "count waiting jobs")
}

// deliveries counts webhook deliveries since a time.
func (s store) deliveries(ctx context.Context, since time.Time) (h WebhookHealth, err error) {
	for status, n := range map[string]*int64{"delivered": &h.Delivered, "failed": &h.Failed} {
		if *n, err = s.q(ctx).CountDeliveries(ctx, statssql.CountDeliveriesParams{Status: status, Since: since, Most: countLimit}); err != nil {
			return h, sqldb.Wrap(err, "count deliveries")
		}
	}
	return h, nil
}

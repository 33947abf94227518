package app

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/metrics"
)

// metricsTimeout bounds the queries of one reading of the metrics.
const metricsTimeout = 5 * time.Second

// registerFigures adds the metrics that are read when somebody asks for them.
func (svc *service) registerFigures() {
	m := svc.metrics
	m.Read([]metrics.Sample{
		{Name: "tenantry_jobs_waiting", Help: "Jobs that are due now or later, in all instances."},
		{Name: "tenantry_jobs_running", Help: "Jobs that an instance is running."},
		{Name: "tenantry_jobs_dead", Help: "Jobs that failed for the last time and need attention."},
		{Name: "tenantry_jobs_lag_seconds", Help: "How long the oldest waiting job has been due."},
	}, func() []float64 {
		ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
		defer cancel()
		stats, err := svc.jobs.Stats(ctx)
		if err != nil {
			svc.log.WarnContext(ctx, "jobs could not be counted", "error", err)
			return nil
		}
		return []float64{float64(stats.Waiting), float64(stats.Running), float64(stats.Dead), stats.Lag.Seconds()}
	})
	m.Read([]metrics.Sample{
		{Name: "tenantry_usage_report_lag_seconds", Help: "How long the oldest billable usage has been waiting to be reported to the payment provider."},
		{Name: "tenantry_usage_reports_refused", Help: "Billable usage that the payment provider refused and that needs attention."},
	}, func() []float64 {
		ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
		defer cancel()
		lag, err := svc.reporter.Lag(ctx)
		if err != nil {
			svc.log.WarnContext(ctx, "the lag of usage reports could not be read", "error", err)
			return nil
		}
		refused, err := svc.reporter.Rejected(ctx)
		if err != nil {
			svc.log.WarnContext(ctx, "refused usage could not be counted", "error", err)
			return nil
		}
		return []float64{lag.Seconds(), float64(refused)}
	})
	for i, pool := range svc.db.Pools() {
		labels := map[string]string{"pool": pool.Name}
		m.Read([]metrics.Sample{
			{Name: "tenantry_db_connections_open", Help: "Open connections to the database.", Labels: labels},
			{Name: "tenantry_db_connections_in_use", Help: "Connections that a query or a transaction holds.", Labels: labels},
			{Name: "tenantry_db_waits_total", Help: "How often a query had to wait for a connection.", Labels: labels, Total: true},
			{Name: "tenantry_db_wait_seconds_total", Help: "Time spent waiting for connections.", Labels: labels, Total: true},
		}, func() []float64 {
			s := svc.db.Pools()[i]
			return []float64{float64(s.Open), float64(s.InUse), float64(s.Waits), s.Waited.Seconds()}
		})
	}
}

package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/metrics"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/webhook"
)

// scrapeTimeout bounds the queries of one source in one scrape.
const scrapeTimeout = 5 * time.Second

// metricSources are the sources of the metrics that each scrape reads from the database and from its
// files. A scrape costs about the same for any amount of data, because counts stop at 10,000.
type metricSources struct {
	DB       *sqldb.DB
	Jobs     *jobs.Queue
	Inbox    *inbox.Receiver
	Hooks    *webhook.Service
	Reporter *billing.Reporter
	Log      *slog.Logger
}

// registerMetrics registers the metrics of the sources.
func registerMetrics(m *metrics.Metrics, s metricSources) {
	s.jobs(m)
	s.inbox(m)
	s.hooks(m)
	s.reports(m)
	s.pools(m)
	if path := s.DB.File(); path != "" {
		s.file(m, path)
	}
}

// collect registers the metrics of one source. If read fails, it logs the error and omits the
// metrics.
func (s metricSources) collect(m *metrics.Metrics, source string, families []metrics.Family, read func(ctx context.Context, put metrics.Put) error) {
	m.RegisterComputed(families, func(put metrics.Put) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		if err := read(ctx, put); err != nil {
			s.Log.WarnContext(ctx, "failed to read metrics", "of", source, "error", err)
		}
	})
}

func (s metricSources) jobs(m *metrics.Metrics) {
	s.collect(m, "jobs", []metrics.Family{
		{Name: "tenantry_jobs_waiting", Help: "Queued jobs of all instances, up to 10,000."},
		{Name: "tenantry_jobs_running", Help: "Running jobs of all instances."},
		{Name: "tenantry_jobs_dead", Help: "Jobs that failed permanently, up to 10,000."},
		{Name: "tenantry_jobs_lag_seconds", Help: "Time since the oldest queued job became due."},
		{Name: "tenantry_job_due", Help: "Due jobs by kind that have not started, among the 10,000 oldest.", Labels: []string{"kind"}},
		{Name: "tenantry_job_lag_seconds", Help: "Time since the oldest job of a kind became due.", Labels: []string{"kind"}},
	}, func(ctx context.Context, put metrics.Put) error {
		stats, err := s.Jobs.Stats(ctx)
		if err != nil {
			return err
		}
		put("tenantry_jobs_waiting", float64(stats.Waiting))
		put("tenantry_jobs_running", float64(stats.Running))
		put("tenantry_jobs_dead", float64(stats.Dead))
		put("tenantry_jobs_lag_seconds", stats.Lag.Seconds())
		due, err := s.Jobs.DueByKind(ctx)
		if err != nil {
			return err
		}
		known := map[string]bool{}
		for _, d := range due {
			put("tenantry_job_due", float64(d.Count), d.Kind)
			put("tenantry_job_lag_seconds", d.Lag.Seconds(), d.Kind)
			known[d.Kind] = true
		}
		// A kind without due jobs reports 0, so its graph returns to zero.
		for _, kind := range s.Jobs.Kinds() {
			if !known[kind] {
				put("tenantry_job_due", 0, kind)
				put("tenantry_job_lag_seconds", 0, kind)
			}
		}
		return nil
	})
}

func (s metricSources) inbox(m *metrics.Metrics) {
	s.collect(m, "notifications", []metrics.Family{
		{Name: "tenantry_psp_inbox_waiting", Help: "Unprocessed payment provider notifications, up to 10,000."},
		{Name: "tenantry_psp_inbox_lag_seconds", Help: "Age of the oldest unprocessed payment provider notification."},
		{Name: "tenantry_psp_last_notification_timestamp_seconds", Help: "Unix time of the last stored payment provider event. Absent before the first."},
	}, func(ctx context.Context, put metrics.Put) error {
		waiting, lag, err := s.Inbox.Backlog(ctx)
		if err != nil {
			return err
		}
		put("tenantry_psp_inbox_waiting", float64(waiting))
		put("tenantry_psp_inbox_lag_seconds", lag.Seconds())
		last, err := inbox.LastEventAt(ctx, s.DB)
		if errors.Is(err, inbox.ErrNoEvent) {
			return nil
		}
		if err == nil {
			put("tenantry_psp_last_notification_timestamp_seconds", float64(last.Unix()))
		}
		return err
	})
}

func (s metricSources) hooks(m *metrics.Metrics) {
	s.collect(m, "webhooks", []metrics.Family{
		{Name: "tenantry_webhook_deliveries_waiting", Help: "Webhook deliveries with a pending attempt, up to 10,000."},
		{Name: "tenantry_webhook_lag_seconds", Help: "Time since the earliest webhook delivery attempt became due."},
		{Name: "tenantry_webhook_endpoints_failing", Help: "Webhook endpoints with failures since their last success."},
	}, func(ctx context.Context, put metrics.Put) error {
		b, err := s.Hooks.Backlog(ctx)
		if err != nil {
			return err
		}
		put("tenantry_webhook_deliveries_waiting", float64(b.Waiting))
		put("tenantry_webhook_lag_seconds", b.Lag.Seconds())
		put("tenantry_webhook_endpoints_failing", float64(b.Failing))
		return nil
	})
}

func (s metricSources) reports(m *metrics.Metrics) {
	s.collect(m, "usage reports", []metrics.Family{
		{Name: "tenantry_usage_report_lag_seconds", Help: "Age of the oldest billable usage that is not reported to the payment provider."},
		{Name: "tenantry_usage_reports_refused", Help: "Usage reports that the payment provider rejected."},
	}, func(ctx context.Context, put metrics.Put) error {
		lag, err := s.Reporter.Lag(ctx)
		if err != nil {
			return err
		}
		put("tenantry_usage_report_lag_seconds", lag.Seconds())
		refused, err := s.Reporter.CountRejected(ctx)
		if err != nil {
			return err
		}
		put("tenantry_usage_reports_refused", float64(refused))
		return nil
	})
}

func (s metricSources) pools(m *metrics.Metrics) {
	labels := []string{"pool"}
	m.RegisterComputed([]metrics.Family{
		{Name: "tenantry_db_connections_max", Help: "Maximum number of database connections.", Labels: labels},
		{Name: "tenantry_db_connections_open", Help: "Open database connections.", Labels: labels},
		{Name: "tenantry_db_connections_in_use", Help: "Database connections in use.", Labels: labels},
		{Name: "tenantry_db_waits_total", Help: "Queries that waited for a database connection.", Labels: labels, Total: true},
		{Name: "tenantry_db_wait_seconds_total", Help: "Time spent waiting for database connections.", Labels: labels, Total: true},
	}, func(put metrics.Put) {
		for _, p := range s.DB.Pools() {
			put("tenantry_db_connections_max", float64(p.Max), p.Name)
			put("tenantry_db_connections_open", float64(p.Open), p.Name)
			put("tenantry_db_connections_in_use", float64(p.InUse), p.Name)
			put("tenantry_db_waits_total", float64(p.Waits), p.Name)
			put("tenantry_db_wait_seconds_total", p.Waited.Seconds(), p.Name)
		}
	})
}

// file registers the metrics of SQLite's files.
func (s metricSources) file(m *metrics.Metrics, path string) {
	s.collect(m, "the database file", []metrics.Family{
		{Name: "tenantry_db_file_bytes", Help: "Size of the database file."},
		{Name: "tenantry_db_wal_bytes", Help: "Size of the write-ahead log."},
		{Name: "tenantry_db_disk_free_bytes", Help: "Free space on the disk of the database file."},
		{Name: "tenantry_backup_last_timestamp_seconds", Help: "Unix time of the last backup by tenantry backup. Absent before the first."},
	}, func(_ context.Context, put metrics.Put) error {
		file, log, err := dbfile.Sizes(path)
		if err != nil {
			return err
		}
		put("tenantry_db_file_bytes", float64(file))
		put("tenantry_db_wal_bytes", float64(log))
		free, err := dbfile.FreeSpace(filepath.Dir(path))
		if err != nil {
			return err
		}
		put("tenantry_db_disk_free_bytes", float64(free))
		at, err := dbfile.LastBackup(path)
		if errors.Is(err, dbfile.ErrNoBackup) {
			return nil
		}
		if err == nil {
			put("tenantry_backup_last_timestamp_seconds", float64(at.Unix()))
		}
		return err
	})
}

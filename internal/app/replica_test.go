package app_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Lists and reports are read from a standby, and have what their reader was answered before.
func TestReportsComeFromTheStandby(t *testing.T) {
	t.Parallel()
	primary, standby := dbtest.WithStandby(t)
	config := apptest.NewSettings(t, sqldb.Postgres)
	config.Data = dbtest.TempDir(t)
	config.DatabaseURL, config.ReplicaURL = settings.Secret(primary), settings.Secret(standby)
	s := apptest.StartWith(t, config)
	o, admin := s.Register("ada@example.com", true), s.Admin()
	s.BuyPlan(o, "starter")
	for n := range 30 {
		s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1}).Want(201)
		month := "/usage/series?meter_code=api-calls&interval=month&from=" + s.Now().Format("2006-01-02")
		s.Call("GET", o.Path(month), o.Token, nil).Want(200).WantAt("data.points.0.value", float64(n+1))
	}
	db := dbtest.Open(t, standby)
	newest := func() (at time.Time) {
		const query = `SELECT coalesce(max(query_start), 'epoch') FROM pg_stat_activity
			WHERE datname = 'tenantry' AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_last_wal_replay_lsn%'`
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), query).Scan(&at); err != nil {
			t.Error(err)
		}
		return at
	}
	for path, token := range map[string]string{
		"/api/v1/admin/impersonation/logs":                admin,
		"/api/v1/admin/audit-logs":                        admin,
		"/api/v1/admin/stats":                             admin,
		"/api/v1/admin/stats/series?figure=mrr":           admin,
		"/api/v1/admin/activity":                          admin,
		"/api/v1/admin/tenants":                           admin,
		"/api/v1/admin/tenants?search=ada":                admin,
		"/api/v1/admin/tenants/" + o.Tenant + "/timeline": admin,
		o.Path("/timeline"):                               o.Token,
		o.Path("/audit-logs"):                             o.Token,
		o.Path("/usage/export?meter_code=api-calls"):      o.Token,
		o.Path("/invoices"):                               o.Token,
		o.Path("/invoices/summary?currency=eur"):          o.Token,
	} {
		before := newest()
		s.Call("GET", path, token, nil).Want(200)
		if !newest().After(before) {
			t.Errorf("%s was not read from the standby", path)
		}
	}
}

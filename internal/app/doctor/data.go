package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/stats/rates"
)

// Less free disk space than this, in bytes, is a warning or an error.
const (
	littleRoom = 2 << 30
	noRoom     = 256 << 20
)

// A larger difference between the clocks of this machine and the database is a warning or an error.
const (
	skewWarning = 2 * time.Second
	skewError   = time.Minute
)

// folder checks the data folder and its disk.
func (d *doctor) folder() {
	path := d.Settings.Data
	if path == "" {
		return // reported as an invalid setting
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.ok("data folder", "%s does not exist yet; the first start creates it", path)
		return
	}
	if err != nil {
		d.fail("data folder", err.Error(), "Give the user that runs the service read and write access.")
		return
	}
	probe, err := os.CreateTemp(path, ".doctor-*")
	if err != nil {
		d.fail("data folder", err.Error(), "Give the user that runs the service read and write access.")
		return
	}
	_, _ = probe.Close(), os.Remove(probe.Name())
	if datadir.IsShared(info) {
		d.warn("data folder", fmt.Sprintf("%s is readable by other users of this machine (mode %v)", path, info.Mode().Perm()), "Restart the service, which fixes the mode, or run chmod 700.")
	} else {
		d.ok("data folder", "%s is writable and private", path)
	}
	d.disk(path)
}

func (d *doctor) disk(path string) {
	free, err := dbfile.FreeSpace(path)
	if err != nil {
		d.warn("disk", err.Error(), "")
		return
	}
	detail := fmt.Sprintf("%.1f GB free on the disk of the data folder", float64(free)/1e9)
	const fix = "Free space, or move the data folder to a larger disk."
	switch {
	case free < noRoom:
		d.fail("disk", detail, fix)
	case free < littleRoom:
		d.warn("disk", detail, fix)
	default:
		d.ok("disk", "%s", detail)
	}
}

// database checks the database without changing it.
func (d *doctor) database(ctx context.Context) {
	address := d.Settings.DatabaseURL.Reveal()
	if address == "" {
		return // reported as an invalid setting
	}
	file := ""
	if u, err := url.Parse(address); err == nil && u.Scheme == "sqlite" {
		file = sqldb.FilePath(u)
		if _, err := os.Stat(file); err != nil {
			d.warn("database", "database "+file+" does not exist yet", "Run tenantry migrate, or start the service.")
			return
		}
	}
	open, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	db, err := sqldb.Open(open, sqldb.Config{URL: address, Conns: d.Settings.DatabaseConns, Patience: d.Settings.DatabasePatience})
	if err != nil {
		d.fail("database", err.Error(), "Check TENANTRY_DATABASE_URL and TENANTRY_DATA, and that the database server is running and accepts connections from this machine.")
		return
	}
	defer func() { _ = db.Close() }()
	if d.schema(ctx, db) {
		d.secretsKey(ctx, db)
		d.citus(ctx, db)
		d.rates(ctx, db)
	}
	if file == "" {
		d.clock(ctx, db)
		return
	}
	if err := dbfile.Check(ctx, file); err != nil {
		d.fail("integrity", err.Error(), "Stop the service, keep a copy of the file, and restore the last backup with tenantry restore.")
	} else {
		d.ok("integrity", "SQLite's quick check passed")
	}
	d.server(ctx, file)
}

// CheckServer connects to the PostgreSQL server of the settings. SQLite does not need a server.
func CheckServer(ctx context.Context, s settings.Settings) error {
	if strings.HasPrefix(s.DatabaseURL.Reveal(), "sqlite:") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL.Reveal(), Patience: s.DatabasePatience})
	if err != nil {
		return &settings.Error{Name: "TENANTRY_DATABASE_URL", Reason: err.Error()}
	}
	return db.Close()
}

// rates checks the base currency and its exchange rates.
func (d *doctor) rates(ctx context.Context, db *sqldb.DB) {
	base := d.Settings.BaseCurrency
	if base == "" {
		return
	}
	isActive, err := rates.IsActiveCurrency(ctx, db, base)
	if err == nil && !isActive {
		d.fail("TENANTRY_BASE_CURRENCY", base+" is not an active currency", "Set an active currency, or activate it in the catalog.")
		return
	}
	var missing []string
	if err == nil {
		missing, err = rates.MissingCurrencies(ctx, db, base, clock.System().Now())
	}
	switch {
	case err != nil:
		d.fail("exchange rates", err.Error(), "")
	case len(missing) > 0:
		d.warn("exchange rates", "no rate of the last ten days: "+strings.Join(missing, ", "), "Store a rate with PUT /api/v1/admin/rates/{date}.")
	default:
		d.ok("exchange rates", "all currencies in use have a current rate in %s", base)
	}
}

// schema compares the schema version of the database with the program's. It reports whether the
// schema is up to date.
func (d *doctor) schema(ctx context.Context, db *sqldb.DB) bool {
	migrations, err := db.MigrationStatus(ctx)
	switch {
	case errors.Is(err, sqldb.ErrNewerSchema):
		d.fail("database", err.Error(), "Run the version of the service that migrated it, or a later version.")
		return false
	case errors.Is(err, sqldb.ErrOlderSchema):
		d.fail("database", err.Error(), "Start with a new database, or run the build that created this one.")
		return false
	case err != nil:
		d.fail("database", err.Error(), "")
		return false
	}
	pending := 0
	for _, m := range migrations {
		if m.AppliedAt == nil {
			pending++
		}
	}
	if pending > 0 {
		d.warn("database", fmt.Sprintf("reachable; %d of %d migrations are pending", pending, len(migrations)), "Run tenantry migrate, or restart the service.")
		return false
	}
	d.ok("database", "reachable, and the schema is up to date")
	return true
}

// citus checks a distributed database.
func (d *doctor) citus(ctx context.Context, db *sqldb.DB) {
	if !db.IsDistributed() {
		return
	}
	problems, err := distribution.Check(ctx, db)
	switch {
	case err != nil:
		d.fail("citus", err.Error(), "")
	case len(problems) > 0:
		d.fail("citus", strings.Join(problems, "; "), "Stop all instances before you change the distribution.")
	default:
		d.ok("citus", "all tables are in place")
	}
}

// secretsKey checks that the key file belongs to the secrets in the database.
func (d *doctor) secretsKey(ctx context.Context, db *sqldb.DB) {
	const name = "secrets key"
	path := d.Settings.SecretsKey()
	_, err := secrets.Read(ctx, db, path)
	if secrets.IsMissing(err) {
		inUse, checkErr := secrets.InUse(ctx, db)
		if checkErr == nil && !inUse {
			d.ok(name, "%s does not exist yet; the first start creates it", path)
			return
		}
		err = errors.Join(err, checkErr)
	}
	if err != nil {
		d.fail(name, err.Error(), "Restore the key file that belongs to this database, or set TENANTRY_SECRETS_KEY_FILE to its path.")
		return
	}
	d.ok(name, "%s belongs to this database", path)
}

func (d *doctor) clock(ctx context.Context, db *sqldb.DB) {
	before := clock.System().Now()
	there, err := db.Now(ctx)
	if err != nil {
		d.fail("clock", err.Error(), "")
		return
	}
	after := clock.System().Now()
	skew := max(before.Sub(there), there.Sub(after), 0)
	const fix = "Synchronize the clocks of both machines with NTP."
	detail := fmt.Sprintf("the clocks of this machine and the database differ by %s", skew.Round(time.Millisecond))
	switch {
	case skew > skewError:
		d.fail("clock", detail, fix)
	case skew > skewWarning:
		d.warn("clock", detail, fix)
	default:
		d.ok("clock", "%s", detail)
	}
}

// server adds a finding that says whether a server uses the data folder. Neither case is a problem.
// A sandbox server locks the sandbox.
func (d *doctor) server(ctx context.Context, file string) {
	if d.Sandbox {
		file = filepath.Join(d.Settings.Data, settings.SandboxFile)
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if release, err := datadir.TryLock(ctx, file); err == nil {
		release()
		d.ok("server", "no server is running on this database")
		return
	}
	d.ok("server", "a server is running on this database")
}

func (d *doctor) redis(ctx context.Context) {
	if d.Settings.RedisURL == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	r, err := limit.NewRedis(d.Settings.RedisURL.Reveal())
	if err == nil {
		err = errors.Join(r.Ping(ctx), r.Close())
	}
	if err != nil {
		d.fail("redis", err.Error(), "Check TENANTRY_REDIS_URL. Rate limits do not apply while Redis is unavailable.")
		return
	}
	d.ok("redis", "reachable")
}

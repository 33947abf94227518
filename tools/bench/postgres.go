//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// postgres is a PostgreSQL server for one run. Its data is in the run's folder, and it uses the
// default durability.
type postgres struct {
	bin, dir string
	attr     *syscall.SysProcAttr
}

// errNoPostgres is returned if PostgreSQL is not installed.
var errNoPostgres = errors.New("PostgreSQL is not installed")

func startPostgres(ctx context.Context, dir string) (*postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return nil, errNoPostgres
	}
	p := &postgres{bin: filepath.Dir(found[len(found)-1]), dir: dir}
	if err := p.dropPrivileges(); err != nil {
		return nil, err
	}
	if err := p.run(ctx, "initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-instructions"); err != nil {
		return nil, err
	}
	settings := "listen_addresses = ''\nunix_socket_directories = '" + dir + "'\nmax_connections = 200\nshared_buffers = 256MB\nmax_wal_size = 4GB\n"
	f, err := os.OpenFile(dir+"/data/postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(settings)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, err
	}
	err = p.run(ctx, "pg_ctl", "start", "-D", dir+"/data", "-w", "-l", dir+"/log")
	return p, err
}

// dropPrivileges makes PostgreSQL's programs run as another user if this process runs as root,
// because they refuse to run as root.
func (p *postgres) dropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := osuser.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(account.Uid)
	gid, err2 := strconv.Atoi(account.Gid)
	p.attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return errors.Join(err1, err2, os.Chown(p.dir, uid, gid))
}

func (p *postgres) run(ctx context.Context, program string, args ...string) error {
	_, err := p.output(ctx, program, args...)
	return err
}

func (p *postgres) output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir, cmd.Env = p.attr, p.dir, append(os.Environ(), "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	if program != "pg_ctl" { // the server that it starts would keep the pipes open
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, stderr.String())
	}
	return stdout.String(), nil
}

func (p *postgres) stop(ctx context.Context) error {
	return p.run(ctx, "pg_ctl", "stop", "-D", p.dir+"/data", "-m", "fast", "-w")
}

// cpu returns the CPU time of all processes of the server, or 0 without a server.
func (p *postgres) cpu() (total time.Duration, err error) {
	if p == nil {
		return 0, nil
	}
	text, err := os.ReadFile(p.dir + "/data/postmaster.pid")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	parent, err := strconv.Atoi(first)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		u, err := usageOf(process)
		switch {
		case err != nil: // the process has ended
		case process == parent:
			total += u.own + u.reaped
		case u.parent == parent:
			total += u.own
		}
	}
	return total, nil
}

// url returns the URL of a database.
func (p *postgres) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	u.RawQuery = url.Values{"host": {p.dir}, "sslmode": {"disable"}}.Encode()
	return u.String()
}

func (p *postgres) create(ctx context.Context, database string) error {
	return p.run(ctx, "createdb", "-h", p.dir, "-U", "postgres", "-T", "template0", database)
}

// bareDatabase is the database for pgbench.
const bareDatabase = "bare"

// seedBare creates a migrated database with the rows that the bare transaction changes: as many
// counters as the service has tenants.
func (p *postgres) seedBare(ctx context.Context) (err error) {
	if err := p.create(ctx, bareDatabase); err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: p.url(bareDatabase)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	for _, statement := range []string{
		`INSERT INTO meters (id, code, name, aggregation_type, reset_interval, quota_enforcement, created_at, updated_at)
		VALUES ('00000000-0000-7000-8000-000000000000', 'api-calls', 'API calls', 'sum', 'monthly', 'hard', now(), now())`,
		`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at)
		SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Bench', n::text, 'EUR', now(), now() FROM generate_series(1, ` + strconv.Itoa(users) + `) n`,
		`INSERT INTO usage_streams (tenant_id, meter_id) SELECT id, '00000000-0000-7000-8000-000000000000' FROM tenants`,
		`INSERT INTO usage_counters (tenant_id, period_end, meter_id, period_start, updated_at)
		SELECT id, '2100-01-01', '00000000-0000-7000-8000-000000000000', '2000-01-01', now() FROM tenants`,
	} {
		if _, err := db.Conn(ctx).ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// bareTransaction is the minimum work for recording an event: it stores the event and updates its
// counter, in the same tables with the same indexes.
const bareTransaction = `\set t random(1, %d)
BEGIN;
INSERT INTO usage_events (tenant_id, meter_id, recorded_at, id, quantity, idempotency_key, metadata, created_at)
VALUES (('00000000-0000-7000-8000-' || lpad(:t::text, 12, '0'))::uuid, '00000000-0000-7000-8000-000000000000', now(), gen_random_uuid(), 1000000,
    gen_random_uuid()::text, '{"source":"bench"}', now());
UPDATE usage_counters SET units = units + 1, updated_at = now()
WHERE tenant_id = ('00000000-0000-7000-8000-' || lpad(:t::text, 12, '0'))::uuid AND meter_id = '00000000-0000-7000-8000-000000000000'
    AND period_end = '2100-01-01' AND period_start = '2000-01-01';
COMMIT;
`

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// bench runs the bare transaction over the given number of counters. It returns the transactions
// per second.
func (p *postgres) bench(ctx context.Context, clients, counters int, seconds float64) (float64, error) {
	script := filepath.Join(p.dir, "script.sql")
	if err := os.WriteFile(script, fmt.Appendf(nil, bareTransaction, counters), 0o644); err != nil { //nolint:gosec // Another user reads it.
		return 0, err
	}
	output, err := p.output(ctx, "pgbench", "-h", p.dir, "-U", "postgres", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(seconds))), "-f", script, bareDatabase)
	if err != nil {
		return 0, err
	}
	match := tps.FindStringSubmatch(output)
	if match == nil {
		return 0, errors.New("pgbench: " + strings.TrimSpace(output))
	}
	return strconv.ParseFloat(match[1], 64)
}

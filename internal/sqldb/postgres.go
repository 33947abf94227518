package sqldb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// Limits of the PostgreSQL pool of one process. More connections do not make
// short transactions faster, and several instances share one server.
const (
	postgresConns    = 16
	postgresIdleTime = 5 * time.Minute
	postgresLifetime = time.Hour
)

// openPostgres opens one pool. pgx prepares each text once per connection and
// keeps it; behind a pooler that cannot do that, add
// default_query_exec_mode=exec to the URL.
func (db *DB) openPostgres(rawURL string, patience time.Duration) error {
	cfg, err := pgx.ParseConfig(rawURL)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "tenantry"
	}
	db.watch = newWatch(cfg, patience, db.log)
	pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(scanUTC))
	pool.SetMaxOpenConns(postgresConns)
	pool.SetMaxIdleConns(postgresConns)
	pool.SetConnMaxIdleTime(postgresIdleTime)
	pool.SetConnMaxLifetime(postgresLifetime)
	db.dialect, db.write, db.read = Postgres, pool, pool
	return nil
}

// scanUTC makes the driver return times in UTC instead of the machine's zone.
func scanUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name:  "timestamptz",
		OID:   pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

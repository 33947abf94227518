package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// Limits of the PostgreSQL pool of one process.
const (
	// DefaultConns is how many connections there are at most unless Config says
	// otherwise. More of them do not make short transactions faster, and several
	// instances share one server.
	DefaultConns     = 16
	postgresIdleTime = 5 * time.Minute
	postgresLifetime = time.Hour
)

// openPostgres opens one pool. pgx prepares each text once per connection and keeps it.
// A pooler such as PgBouncer may hand each transaction to another connection of the server,
// where that is unknown; behind one only the types of each text are kept.
func (db *DB) openPostgres(ctx context.Context, c Config) error {
	cfg, err := parsePostgres(c.URL)
	if err != nil {
		return err
	}
	db.watch = newWatch(cfg, c.Patience, db.log)
	db.watch.find(ctx)
	if cfg.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		pooled, err := isPooled(ctx, db.watch.at)
		if err != nil {
			return err
		}
		if pooled {
			db.log.InfoContext(ctx, "the database is reached through a pooler: statements are not prepared")
			cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		}
	}
	pool := openPool(cfg, db.watch, c.Conns)
	db.dialect, db.write, db.read = Postgres, pool, pool
	return nil
}

func parsePostgres(url string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "tenantry"
	}
	return cfg, nil
}

// openPool opens a pool of at most conns connections, 0 for DefaultConns, to the server that
// w has found.
func openPool(cfg *pgx.ConnConfig, w *watch, conns int) *sql.DB {
	pool := sql.OpenDB(pipelineConnector{stdlib.GetConnector(*cfg,
		stdlib.OptionBeforeConnect(w.configureConn), stdlib.OptionAfterConnect(registerTypes))})
	conns = cmp.Or(conns, DefaultConns)
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(postgresIdleTime)
	pool.SetConnMaxLifetime(postgresLifetime)
	return pool
}

// isPooled reports whether there is a pooler between here and the server. A server tells a
// new connection the id of its process, which a pooler makes up, as what it tells belongs to
// the pooler's connection.
func isPooled(ctx context.Context, cfg *pgx.ConnConfig) (bool, error) {
	cfg = cfg.Copy()
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return false, err
	}
	defer hangUp(conn)
	var process int32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&process); err != nil {
		return false, err
	}
	return uint32(process) != conn.PgConn().PID(), nil
}

// registerTypes makes the driver return times in UTC instead of the machine's zone, and take
// a uuid.UUID as the bytes that it is. Otherwise the driver would ask it for its text, try to
// send that, fail, and parse it.
func registerTypes(_ context.Context, conn *pgx.Conn) error {
	types := conn.TypeMap()
	types.RegisterType(&pgtype.Type{
		Name:  "timestamptz",
		OID:   pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	types.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapUUID}, types.TryWrapEncodePlanFuncs...)
	return nil
}

// binaryUUID is a uuid.UUID for the driver.
type binaryUUID uuid.UUID

// UUIDValue returns it in the driver's form.
func (u binaryUUID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: u, Valid: true}, nil
}

// uuidPlan encodes a uuid.UUID, or what a pointer has; the driver takes care of nil.
type uuidPlan struct{ next pgtype.EncodePlan }

// SetNext sets what encodes a binaryUUID.
func (p *uuidPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode appends the encoded value to buf.
func (p *uuidPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := value.(uuid.UUID)
	if !ok {
		id = *value.(*uuid.UUID) //nolint:forcetypeassert // wrapUUID takes nothing else.
	}
	return p.next.Encode(binaryUUID(id), buf)
}

func wrapUUID(value any) (plan pgtype.WrappedEncodePlanNextSetter, next any, ok bool) {
	switch value.(type) {
	case uuid.UUID, *uuid.UUID:
		return &uuidPlan{}, binaryUUID{}, true
	default:
		return nil, nil, false
	}
}

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
	// DefaultConns is the default maximum number of connections. More connections do not speed up
	// short transactions, and several instances share one server.
	DefaultConns     = 16
	postgresIdleTime = 5 * time.Minute
	postgresLifetime = time.Hour
)

// openPostgres opens the pool. pgx prepares each statement once per connection and caches it. A
// pooler such as PgBouncer can run each transaction on another server connection, where the
// prepared statement is unknown. Behind a pooler, only the parameter types of each statement are
// cached.
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
			db.log.InfoContext(ctx, "connection pooler detected: prepared statements disabled")
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

// openPool opens a pool of at most conns connections (0 means DefaultConns) to the server that w
// has found.
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

// isPooled reports whether a pooler sits between this process and the server. A server sends the ID
// of its process to a new connection. A pooler sends an invented ID instead, because its server
// connections change.
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

// registerTypes makes the driver return times in UTC instead of the local zone, and encode a
// uuid.UUID from its bytes. Otherwise the driver would convert it to text, fail to send the text,
// and parse it.
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

// binaryUUID lets the driver encode a uuid.UUID from its bytes.
type binaryUUID uuid.UUID

// UUIDValue returns the UUID in the driver's format.
func (u binaryUUID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: u, Valid: true}, nil
}

// uuidPlan encodes a uuid.UUID or a pointer to one. The driver handles nil.
type uuidPlan struct{ next pgtype.EncodePlan }

// SetNext sets the plan that encodes a binaryUUID.
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

package distribution_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// requireCitus skips the test unless the test databases are on a real cluster (make citus).
func requireCitus(t *testing.T) *sqldb.DB {
	t.Helper()
	if os.Getenv("TENANTRY_TEST_SPREAD") != "citus" {
		t.Skip("needs a Citus cluster: make citus")
	}
	return dbtest.New(t, sqldb.Postgres)
}

// samples maps each parameter type to a value.
var samples = map[string]string{
	"uuid": "01a22862-1f97-790e-ad07-5f5d757b890c", "text": "sold", "bigint": "7", "integer": "7", "smallint": "7", "boolean": "true",
	"timestamp with time zone": "2026-01-02T03:04:05Z", "jsonb": "{}", "bytea": "x", "uuid[]": "{01a22862-1f97-790e-ad07-5f5d757b890c}", "bigint[]": "{7}",
	"text[]": "{sold}", "timestamp with time zone[]": "{2026-01-02T03:04:05Z}", "integer[]": "{7}", "date": "2026-01-02", "numeric": "7", "character": "x",
}

// errDone makes a transaction roll back.
var errDone = errors.New("done")

// Citus accepts every generated statement when it is executed with sample values. The rows of the
// sample values do not exist, so an error about a violated key or reference is fine.
func TestCitusAcceptsStatements(t *testing.T) {
	t.Parallel()
	db := requireCitus(t)
	for i, q := range queries(t) {
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := execute(ctx, db, fmt.Sprintf("q%d", i), q.text); err != nil {
				return err
			}
			return errDone
		})
		var pg *pgconn.PgError
		if errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "0A") || strings.HasPrefix(pg.Code, "XX")) && !violates.MatchString(pg.Message) {
			t.Errorf("%s: %v", q.name, err)
		} else if err != nil && pg == nil && !errors.Is(err, errDone) {
			t.Errorf("%s: %v", q.name, err)
		}
	}
}

// violates matches errors about violated constraints, which Citus reports without their SQLSTATE
// code.
var violates = regexp.MustCompile(`violates`)

// execute prepares a statement and executes it with samples.
func execute(ctx context.Context, db *sqldb.DB, name, text string) error {
	conn := db.Conn(ctx)
	if _, err := conn.ExecContext(ctx, "PREPARE "+name+" AS "+text); err != nil {
		return err
	}
	var args []string
	err := db.QueryAll(ctx, sqldb.Query{
		Doing: "read parameters", Text: "SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = $1", Args: []any{name},
		Row: func(scan func(...any) error) error {
			var kind string
			if err := scan(&kind); err != nil {
				return err
			}
			if samples[kind] == "" {
				return fmt.Errorf("no sample of %s", kind)
			}
			args = append(args, "'"+samples[kind]+"'")
			return nil
		},
	})
	if err != nil {
		return err
	}
	call := "EXECUTE " + name
	if len(args) > 0 {
		call += "(" + strings.Join(args, ", ") + ")"
	}
	_, err = conn.ExecContext(ctx, call)
	return err
}

// Check reports no problems of a distributed database. It detects a table that is not distributed
// and a sequence that is behind. Apply then distributes the table and leaves the sequence alone.
func TestCitusIsChecked(t *testing.T) {
	t.Parallel()
	db := requireCitus(t)
	check := func(want ...string) {
		t.Helper()
		problems, err := distribution.Check(t.Context(), db)
		if err != nil || len(problems) != len(want) {
			t.Fatalf("got %q, %v, want %q", problems, err, want)
		}
		for i, part := range want {
			if !strings.Contains(problems[i], part) {
				t.Errorf("got %q, want %q", problems[i], part)
			}
		}
	}
	run := func(text string) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	check()
	for _, name := range []string{"operation_id", "subscription_id", "tenant_id"} {
		run("ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_" + name + "_fkey")
	}
	run("SELECT undistribute_table('waiting_items')")
	run("SELECT setval('roles_id_seq', 1)")
	check("table waiting_items is not distributed", "the sequence of roles.id is behind")

	for range 2 {
		if err := distribution.Apply(t.Context(), db, 4); err != nil {
			t.Fatal(err)
		}
	}
	check("the sequence of roles.id is behind")
}

// ByShard puts tenants of the same shard into the same group, and every tenant into a group.
func TestCitusGroupsByShard(t *testing.T) {
	t.Parallel()
	db := requireCitus(t)
	tenants := make([]uuid.UUID, 64)
	for i := range tenants {
		tenants[i] = sqldb.NewID()
	}
	groups, err := distribution.ByShard(t.Context(), db, tenants, func(id uuid.UUID) uuid.UUID { return id })
	if err != nil || len(groups) < 2 || len(groups) > 4 {
		t.Fatalf("got %v, %v, want a group for each of 4 shards", groups, err)
	}
	if all := slices.Concat(groups...); len(all) != len(tenants) {
		t.Errorf("%d of %d tenants are in a group", len(all), len(tenants))
	}
}

// An instance can start while a recording holds the shared lock of the catalog, because migrations
// use a different lock.
func TestCitusMigratesDuringRecordings(t *testing.T) {
	t.Parallel()
	db := requireCitus(t)
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		if err := db.QueryAll(ctx, distribution.ShareCatalog(db)...); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		return db.Migrate(short)
	})
	if err != nil {
		t.Error(err)
	}
}

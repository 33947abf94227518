package distribution_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// requireCitus skips the test unless the test databases are on a real cluster (make citus).
func requireCitus(t *testing.T) *sqldb.DB {
	t.Helper()
	if os.Getenv("TENANTRY_TEST_SPREAD") != "citus" {
		t.Skip("not on Citus")
	}
	return dbtest.New(t, sqldb.Postgres)
}

// samples are values of the types of parameters.
var samples = map[string]string{
	"uuid": "01a22862-1f97-790e-ad07-5f5d757b890c", "text": "sold", "bigint": "7", "integer": "7", "smallint": "7", "boolean": "true",
	"timestamp with time zone": "2026-01-02T03:04:05Z", "jsonb": "{}", "bytea": "x", "uuid[]": "{01a22862-1f97-790e-ad07-5f5d757b890c}", "bigint[]": "{7}",
	"text[]": "{sold}", "timestamp with time zone[]": "{2026-01-02T03:04:05Z}", "integer[]": "{7}", "date": "2026-01-02", "numeric": "7", "character": "x",
}

// errDone rolls a transaction back.
var errDone = errors.New("done")

// Citus accepts every generated statement, planned for its values. The values belong to no rows, so a
// violated key or reference is fine.
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

// violates matches violations that Citus reports without their code.
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

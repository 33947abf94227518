package dbtest

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// spreadSQL replaces Citus. Its functions record their calls and reject a table as Citus would.
const spreadSQL = `
CREATE TABLE goose_calls (call text NOT NULL);
CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod text, repmodel text);
CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO goose_calls (call) VALUES ('reference ' || name) $$;
CREATE FUNCTION create_distributed_table(name regclass, col text, colocate_with text, shard_count int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = name AND x.indisunique AND NOT EXISTS (
			SELECT 1 FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attname = col AND a.attnum = ANY (x.indkey::int2[]))) THEN
		RAISE EXCEPTION '% has a unique key without %', name, col;
	END IF;
	IF EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND (conrelid = name OR confrelid = name)) THEN
		RAISE EXCEPTION '% still has references', name;
	END IF;
	INSERT INTO goose_calls (call) VALUES ('distributed ' || name);
END $$;
CREATE FUNCTION citus_add_local_table_to_metadata(name regclass, cascade_via_foreign_keys boolean) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO goose_calls (call) VALUES ('local ' || name) $$;
CREATE FUNCTION truncate_local_data_after_distributing_table(name regclass) RETURNS void LANGUAGE sql AS '';`

const unspreadSQL = `
DROP TABLE goose_calls, pg_dist_partition;
DROP FUNCTION create_reference_table;
DROP FUNCTION create_distributed_table;
DROP FUNCTION citus_add_local_table_to_metadata;
DROP FUNCTION truncate_local_data_after_distributing_table;`

// Spread distributes a database as "tenantry distribute" does, with a stand-in for Citus: PostgreSQL
// with the keys and references that Citus requires. It runs the script on the database and returns the
// calls to Citus, such as "distributed invoices".
func Spread(ctx context.Context, db *sqldb.DB) (told []string, err error) {
	err = db.Tx(ctx, func(ctx context.Context) error {
		if _, err := db.Conn(ctx).ExecContext(ctx, spreadSQL+distribution.Statements(distribution.DefaultShards)); err != nil {
			return err
		}
		err := db.QueryAll(ctx, sqldb.Query{
			Doing: "read calls", Text: `SELECT call FROM goose_calls`,
			Row: func(scan func(...any) error) error {
				told = append(told, "")
				return scan(&told[len(told)-1])
			},
		})
		if err != nil {
			return err
		}
		_, err = db.Conn(ctx).ExecContext(ctx, unspreadSQL)
		return err
	})
	return told, err
}

package plans_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/usage/months"
)

// What reads the events of a stream and a time looks into the partitions of that time alone. What
// reads the first or last of all times goes through the partitions in order and sorts nothing.
func TestEventsAreReadByTheMonth(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if err := months.New(db, clock.NewFixed(now), slog.New(slog.DiscardHandler)).Since(t.Context(), now.AddDate(0, -35, 0)); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, q := range queries(t) {
		texts[q.name] = q.text
	}
	const id = `'00000000-0000-7000-8000-000000000001', `
	partition := regexp.MustCompile(`usage_records_\d{4}_\d\d `)
	prepared := 0
	sorted := regexp.MustCompile(`->\s+Sort\n\s+Sort Key: r\.`)
	for _, c := range []struct {
		name, before, after string // the parameters before and after the time
	}{
		{"usagesql.NewestEvents", id + id + "20, " + id, ""},
		{"usagesql.Totals", id + id, ""},
		{"historysql.ExportPage", id + id + "1000, " + id, ", " + strings.TrimSuffix(id, ", ")},
		{"historysql.EventsToSum", id + id + "1000, " + id, ", " + strings.TrimSuffix(id, ", ")},
		{"historysql.Tally", id + id, ""},
		{"historysql.LastEvent", id + id + id, ""},
		{"retentionsql.SumOfRecords", id + "1, ", ""},
	} {
		plan := func(period string) string {
			var lines []string
			err := db.Tx(t.Context(), func(ctx context.Context) error {
				exec := func(statement string) {
					if _, err := db.Conn(ctx).ExecContext(ctx, statement); err != nil {
						t.Fatalf("%s: %v", c.name, err)
					}
				}
				exec(`SET LOCAL plan_cache_mode = force_generic_plan`) // as after some executions
				exec(`SET LOCAL enable_seqscan = off`)                 // the tables are empty here
				exec(`SET LOCAL enable_bitmapscan = off`)
				prepared++
				exec(fmt.Sprintf(`PREPARE plan_%d AS %s`, prepared, texts[c.name]))
				rows, err := db.Conn(ctx).QueryContext(ctx, fmt.Sprintf(`EXPLAIN (COSTS OFF) EXECUTE plan_%d(`, prepared)+c.before+period+c.after+`)`)
				if err != nil {
					return err
				}
				defer func() { _ = rows.Close() }()
				for rows.Next() {
					var line string
					if err := rows.Scan(&line); err != nil {
						return err
					}
					lines = append(lines, line)
				}
				return rows.Err()
			})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return strings.Join(lines, "\n")
		}
		bounded := plan(`'2026-10-03', '2026-11-05'`)
		if found := partition.FindAllString(bounded, -1); len(found) != 2 || strings.Contains(bounded, "usage_records_other") {
			t.Errorf("%s reads %v in\n%s", c.name, found, bounded)
		}
		if strings.Contains(texts[c.name], "LIMIT") {
			ever := plan(`'0001-01-01', '9999-01-01'`)
			if !strings.Contains(ever, "Merge Append") || sorted.MatchString(ever) || len(partition.FindAllString(ever, -1)) != 36 {
				t.Errorf("%s does not go through the partitions in order in\n%s", c.name, ever)
			}
		}
	}
}

package sqldb_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// BenchmarkLimits runs a statement of many parts, each with a LIMIT parameter, like the statement
// that claims webhook deliveries per endpoint. It is planned only once.
//
//	go test ./internal/sqldb -run '^$' -bench Limits -benchtime 500x
func BenchmarkLimits(b *testing.B) {
	db := dbtest.New(b, sqldb.SQLite)
	for _, parts := range []int{8, 16, 64} {
		var selects []string
		var args []any
		for range parts {
			args = append(args, sqldb.NewID(), 5)
			selects = append(selects, fmt.Sprintf(`SELECT * FROM (
	SELECT id FROM webhook_deliveries WHERE endpoint_id = $%d ORDER BY next_attempt_at LIMIT $%d
)`, len(args)-1, len(args)))
		}
		text := strings.Join(selects, " UNION ALL ")
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			for b.Loop() {
				err := db.QueryAll(context.Background(), sqldb.Query{Doing: "claim", Text: text, Args: args, Row: func(func(...any) error) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

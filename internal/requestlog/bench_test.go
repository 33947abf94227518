package requestlog

import (
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// BenchmarkFlush stores the requests of a busy second.
func BenchmarkFlush(b *testing.B) {
	for _, dialect := range []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres} {
		b.Run(string(dialect), func(b *testing.B) {
			l, record := newLog(dbtest.New(b, dialect))
			tenants := make([]uuid.UUID, 10)
			for i := range tenants {
				tenants[i] = uuid.New()
			}
			for b.Loop() {
				for _, t := range tenants {
					record(t, 201, maxOfTenant)
				}
				l.flush(b.Context(), noon.Unix()+1)
			}
		})
	}
}

// BenchmarkRecord hands a request to the buffer.
func BenchmarkRecord(b *testing.B) {
	_, record := newLog(nil)
	tenant := uuid.New()
	for b.Loop() {
		record(tenant, 201, 1)
	}
}

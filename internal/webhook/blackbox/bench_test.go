package blackbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/webhook"
)

// BenchmarkDeliveries measures how many deliveries per second the service signs, sends and records,
// starting from a full queue. The receivers and the load run on the same machine.
//
//	go test ./internal/webhook/blackbox -run '^$' -bench Deliveries -benchtime 10000x
func BenchmarkDeliveries(b *testing.B) {
	for _, dialect := range []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres} {
		for _, endpoints := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/endpoints=%d", dialect, endpoints), func(b *testing.B) { benchDeliveries(b, dialect, endpoints) })
		}
	}
}

func benchDeliveries(b *testing.B, dialect sqldb.Dialect, endpoints int) {
	s := apptest.Start(b, dialect)
	ada := s.Register("ada@example.com", true)
	var received atomic.Int64
	done := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if received.Add(1) == int64(b.N) {
			close(done)
		}
	}))
	b.Cleanup(web.Close)
	for range endpoints {
		endpoint(s, ada, web.URL, string(hook.InvoicePaid))
	}
	// Use one transaction, so that no delivery is sent before all are stored.
	outbox := webhook.NewOutbox(s.DB(), clock.System())
	err := s.DB().Tx(b.Context(), func(ctx context.Context) error {
		for i := 0; i < b.N; i += endpoints {
			err := hook.Publish(ctx, outbox, hook.InvoicePaid, uuid.MustParse(ada.Tenant), func(context.Context) (any, error) {
				return map[string]any{"id": uuid.NewString(), "text": strings.Repeat("x", 1000)}, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}

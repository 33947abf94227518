package usage_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// BenchmarkRecord stores durable events for 64 concurrent callers, with one tenant and with many.
func BenchmarkRecord(b *testing.B) {
	for _, dialect := range dbtest.Dialects(b) {
		for _, tenants := range []int{1, 100} {
			b.Run(fmt.Sprint(dialect, "/tenants=", tenants), func(b *testing.B) {
				w := usagetest.NewIdle(dbtest.New(b, dialect), "2026-11-21 12:00")
				svc := usage.NewService(w.Deps())
				w.Apply(b, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
				ids := make([]uuid.UUID, tenants)
				for i := range ids {
					ids[i] = w.NewTenant(b)
				}
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan struct{})
				go func() { defer close(done); _ = svc.Run(ctx) }()
				defer func() { cancel(); <-done }()

				var n atomic.Int64
				b.SetParallelism(32)
				b.ResetTimer()
				before := cpuTime(b)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						i := n.Add(1)
						if _, err := svc.Record(b.Context(), ids[int(i)%tenants], usagetest.WithKey(usagetest.Recording("calls", "1"), strconv.FormatInt(i, 10))); err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/event")
			})
		}
	}
}

// BenchmarkBatch stores durable events in batches of 100 through the HTTP handlers, for 16
// concurrent callers.
func BenchmarkBatch(b *testing.B) {
	for _, dialect := range dbtest.Dialects(b) {
		b.Run(string(dialect), func(b *testing.B) {
			w := usagetest.NewIdle(dbtest.New(b, dialect), "2026-11-21 12:00")
			w.Service = usage.NewService(w.Deps())
			s := newSite(b, w)
			w.Apply(b, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
			tenantID := w.NewTenant(b)
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() { defer close(done); _ = w.Run(ctx) }()
			defer func() { cancel(); <-done }()

			const size = 100
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(8)
			b.ResetTimer()
			before := cpuTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					first := size * n.Add(1)
					var body strings.Builder
					for i := range int64(size) {
						fmt.Fprintf(&body, `,{"meter_code":"calls","quantity":1,"idempotency_key":"%d"}`, first+i)
					}
					status, answer := s.ask(b, tenantID, http.MethodPost, "/batch", `{"events":[`+body.String()[1:]+`]}`)
					if status != http.StatusOK || strings.Contains(answer, "message") {
						b.Errorf("%d %s", status, answer)
					}
				}
			})
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(size*b.N), "cpu-µs/event")
		})
	}
}

// cpuTime returns the CPU time used by this process. It is more meaningful than elapsed time on a
// shared machine.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

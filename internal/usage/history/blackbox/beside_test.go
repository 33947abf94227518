package blackbox_test

import (
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// While events are recorded for the present and the past and hours are summed, a series never shows
// less than was acknowledged before the request, or more than was sent. In the end it contains each
// event once.
func TestSeriesDuringRecording(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada := s.Register("ada@example.com", true)
		rounds := dbtest.Rounds(4, 60)
		today := s.Now().UTC().Truncate(24 * time.Hour)
		from, to := today.AddDate(0, 0, -9), today.AddDate(0, 0, 1)
		total := func() float64 {
			var sum float64
			for _, v := range values(s, ada, "api-calls", "day", from, to) {
				sum += v
			}
			return sum
		}
		record(s, ada, "api-calls", 1, from)
		k := usage.StreamKey{TenantID: uuid.MustParse(ada.Tenant)}
		err := s.DB().Conn(t.Context()).QueryRowContext(t.Context(), "SELECT id FROM meters WHERE code = 'api-calls'").Scan(&k.MeterID)
		if err != nil {
			t.Fatal(err)
		}
		sums := history.NewSums(s.DB(), clock.System())
		var recorded sync.WaitGroup
		for writer := range 3 {
			recorded.Go(func() {
				for n := range rounds {
					record(s, ada, "api-calls", 1, from.Add(time.Duration(writer*61+n*7)*time.Hour))
				}
			})
		}
		done := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() {
			for hours := 0; ; hours += 5 {
				select {
				case <-done:
					return
				default:
				}
				if err := sums.AddUntil(t.Context(), []usage.StreamKey{k}, from.Add(time.Duration(hours%200)*time.Hour+17*time.Minute)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		others.Go(func() {
			for seen := 0.0; ; {
				select {
				case <-done:
					return
				default:
				}
				now := total()
				if now < seen || now > float64(1+3*rounds) {
					t.Errorf("%v after %v", now, seen)
					return
				}
				seen = now
			}
		})
		recorded.Wait()
		close(done)
		others.Wait()
		if got := total(); got != float64(1+3*rounds) {
			t.Errorf("%v events, want %d", got, 1+3*rounds)
		}
		if err := sums.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := total(); got != float64(1+3*rounds) {
			t.Errorf("summed: %v events, want %d", got, 1+3*rounds)
		}
		found, err := retention.NewRecounter(s.DB(), clock.System()).Recount(t.Context(), retention.Recount{Wrong: func(w retention.WrongCounter) { t.Errorf("%+v", w) }})
		if err != nil || found.Wrong != 0 {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// More events than fit in one transaction are added in several, even if they all have the same
// time.
func TestManyEventsOfOneMoment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		moment := s.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2).Add(90 * time.Minute)
		send := func(n int, at time.Time) {
			t.Helper()
			for ; n > 0; n -= 1000 {
				batch := make([]apptest.Object, min(n, 1000))
				for i := range batch {
					batch[i] = apptest.Object{"meter_code": "storage-gb", "quantity": 2, "recorded_at": at.Format(time.RFC3339)}
				}
				s.Call("POST", ada.Path("/usage/batch"), ada.Token, apptest.Object{"events": batch}).Want(200)
			}
		}
		send(3, moment.Add(-time.Second))
		send(4100, moment)
		send(5, moment.Add(time.Second))
		if err := history.NewSums(s.DB(), clock.System()).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := s.CountRows("SELECT events FROM usage_hours WHERE tenant_id = $1", ada.Tenant)
		units := s.CountRows("SELECT units FROM usage_hours WHERE tenant_id = $1", ada.Tenant)
		if events != 4108 || units != 2*4108 {
			t.Errorf("%d events, %d units", events, units)
		}
		a := ask(s, ada, "series", url.Values{"meter_code": {"storage-gb"}, "interval": {"month"}}).Want(200).WantAt("data.unit_label", "GB")
		points := a.At("data.points").([]any)
		if last := points[len(points)-1].(apptest.Object); last["value"] != 2.0 {
			t.Errorf("%v", last)
		}
	})
}

package app_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Mail is still sent while all notification jobs wait for a provider that does not answer.
func TestMailsDuringProviderOutage(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var hangs atomic.Bool
			asked, answer := make(chan struct{}, 1000), make(chan struct{})
			var givenUp atomic.Int32
			s := apptest.Start(t, dialect, func(s *settings.Settings) {
				s.AroundProvider = func(provider http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if hangs.Load() && strings.HasPrefix(r.UserAgent(), "Tenantry") {
							asked <- struct{}{}
							select {
							case <-answer:
							case <-r.Context().Done():
								givenUp.Add(1)
							}
						}
						provider.ServeHTTP(w, r)
					})
				}
			})
			o := s.Register("ada@example.com", true)
			s.BuyPlan(o, "starter")
			s.AwaitNotifications()
			hangs.Store(true)
			sub := s.ProviderObjects(o, "subscription")[0]
			for range jobs.DefaultWorkers {
				s.AtProvider("POST", "/subscriptions", "customer", sub.Str("customer"), "items[0][price]", sub.Str("items.data.0.price.id"), "items[0][quantity]", "1")
			}
			for range jobs.DefaultWorkers {
				<-asked
			}
			s.Invite(o, "grace@example.com", "member") // waits for the mail
			if n := givenUp.Load(); n > 0 {
				t.Errorf("the mail waited until %d calls to the provider had timed out", n)
			}
			close(answer)
		})
	}
}

package app

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// While all that is told of waits for a provider that does not answer, mails go out.
func TestMailsWhileTheProviderHangs(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var hangs atomic.Bool
			asked, answer := make(chan struct{}, 1000), make(chan struct{})
			var givenUp atomic.Int32
			s := start(t, dialect, func(s *settings.Settings) {
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
			o := s.register("ada@example.com", true)
			s.subscribe(o, "starter")
			s.settled()
			hangs.Store(true)
			sub := s.held(o, "subscription")[0]
			for range jobs.DefaultWorkers {
				s.byHand("POST", "/subscriptions", "customer", sub.str("customer"), "items[0][price]", sub.str("items.data.0.price.id"), "items[0][quantity]", "1")
			}
			for range jobs.DefaultWorkers {
				<-asked
			}
			s.invite(o, "grace@example.com", "member") // and reads its mail
			if n := givenUp.Load(); n > 0 {
				t.Errorf("the mail waited until %d calls were given up", n)
			}
			close(answer)
		})
	}
}

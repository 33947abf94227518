package app

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/jobs"
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
			s := start(t, dialect, func(s *Settings) {
				withDashboard(s)
				s.AroundProvider = func(provider http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if hangs.Load() && strings.HasPrefix(r.UserAgent(), "Tenantry") {
							asked <- struct{}{}
							<-answer
						}
						provider.ServeHTTP(w, r)
					})
				}
			})
			o := s.register("ada@example.com", true)
			s.subscribe(o, "starter")
			s.settled()
			hangs.Store(true)
			// A call is given up after 20 seconds. Of these, and their invoices, there are
			// more than could all be given up while the mail is waited for.
			sub := s.held(o, "subscription")[0]
			for range 4 * jobs.DefaultWorkers {
				s.byHand("POST", "/subscriptions", "customer", sub.str("customer"), "items[0][price]", sub.str("items.data.0.price.id"), "items[0][quantity]", "1")
			}
			for range jobs.DefaultWorkers {
				<-asked
			}
			s.invite(o, "grace@example.com", "member") // and reads its mail
			close(answer)
		})
	}
}

package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// wire stands between the service and the sandbox's payment provider: it sees what
// is asked, and breaks when it is told to.
type wire struct {
	mu     sync.Mutex
	asked  []string // method and path of each request of the service
	tamper func(r *http.Request) verdict
}

// verdict is what a wire does to a request.
type verdict int

const (
	pass    verdict = iota
	fail            // the provider says that it is out of order
	refuse          // the provider understands it and will not do it
	swallow         // the provider does it, and the answer is lost
)

// direct marks the test's own requests, which the wire lets pass unseen.
const direct = "X-Test-Direct"

func (w *wire) around(provider http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get(direct) != "" || !strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1/") {
			provider.ServeHTTP(rw, r)
			return
		}
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/sandbox/stripe/v1"))
		tamper := w.tamper
		w.mu.Unlock()
		does := pass
		if tamper != nil {
			does = tamper(r)
		}
		switch does {
		case fail:
			http.Error(rw, `{"error": {"type": "api_error"}}`, http.StatusInternalServerError)
		case refuse:
			http.Error(rw, `{"error": {"type": "invalid_request_error"}}`, http.StatusBadRequest)
		case swallow:
			provider.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			provider.ServeHTTP(rw, r)
		}
	})
}

// set is the option of a server that asks its provider through w.
func (w *wire) set(s *settings.Settings) { s.AroundProvider = w.around }

// breaks sets what happens to the service's requests from now on; nil: nothing.
func (w *wire) breaks(tamper func(r *http.Request) verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tamper = tamper
}

// on does something to the requests for one endpoint.
func on(does verdict, method, path string) func(*http.Request) verdict {
	return func(r *http.Request) verdict {
		if r.Method == method && strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1"+path) {
			return does
		}
		return pass
	}
}

// count tells how often something was asked since the wire was last asked this.
func (w *wire) count(request string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, asked := range w.asked {
		if asked == request {
			n++
		}
	}
	w.asked = nil
	return n
}

// eachWired is each, with a wire to the payment provider.
func eachWired(t *testing.T, f func(t *testing.T, s *server, w *wire)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			f(t, start(t, dialect, w.set), w)
		})
	}
}

// priceAt makes a monthly price of 1000 EUR cents at the provider, but for the
// changes, and returns its id.
func (s *server) priceAt(changes ...string) string {
	s.t.Helper()
	form := []string{
		"currency", "eur", "unit_amount", "1000", "recurring[interval]", "month", "recurring[interval_count]", "1",
		"product_data[name]", "By hand",
	}
	return s.byHand("POST", "/prices", append(form, changes...)...).str("id")
}

package apptest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Proxy is between the service and the sandbox's payment provider. It counts the service's requests
// and can tamper with them.
type Proxy struct {
	mu     sync.Mutex
	asked  []string // method and path of each request
	tamper func(r *http.Request) Verdict
	held   chan struct{} // held responses wait until it is closed
}

// Verdict is an action of a [Proxy] on a request.
type Verdict int

// The verdicts.
const (
	Pass       Verdict = iota // forwards the request
	Fail                      // returns a provider error without forwarding the request
	FailBefore                // the provider fails before the write and repeats the failure for the same idempotency key
	FailAfter                 // the provider writes, returns a failure, and repeats the failure for the same idempotency key
	Refuse                    // returns a rejection
	Deny                      // returns an expired key error
	LoseAnswer                // forwards the request and drops the response
	HoldAnswer                // forwards the request and delays the response until [Proxy.ReleaseAnswers]
)

// direct is the header of the test's own requests, which the proxy forwards unchanged.
const direct = "X-Test-Direct"

func (p *Proxy) wrapProvider(provider http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(direct) != "" || !strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1/") {
			provider.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/sandbox/stripe/v1"))
		tamper := p.tamper
		p.mu.Unlock()
		does := Pass
		if tamper != nil {
			does = tamper(r)
		}
		switch does {
		case Fail:
			http.Error(w, `{"error": {"type": "api_error"}}`, http.StatusInternalServerError)
		case FailBefore, FailAfter:
			failure := kernel.Failure{Status: http.StatusInternalServerError, After: does == FailAfter}
			provider.ServeHTTP(w, r.WithContext(kernel.WithFailure(r.Context(), failure)))
		case Refuse:
			http.Error(w, `{"error": {"type": "invalid_request_error"}}`, http.StatusBadRequest)
		case Deny:
			http.Error(w, `{"error": {"type": "invalid_request_error", "code": "api_key_expired"}}`, http.StatusUnauthorized)
		case LoseAnswer:
			provider.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case HoldAnswer:
			answer := httptest.NewRecorder()
			provider.ServeHTTP(answer, r)
			<-p.gate()
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes()) // fails only if the caller has disconnected
		default:
			provider.ServeHTTP(w, r)
		}
	})
}

// Option is an [Option] that makes a service call its provider through the proxy.
func (p *Proxy) Option(s *settings.Settings) { s.AroundProvider = p.wrapProvider }

// Tamper sets the function that decides about the service's requests; nil forwards them all.
func (p *Proxy) Tamper(tamper func(r *http.Request) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tamper = tamper
}

// gate returns the channel that held responses wait for.
func (p *Proxy) gate() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
	return p.held
}

// ReleaseAnswers releases held responses and stops holding new ones.
func (p *Proxy) ReleaseAnswers() { close(p.gate()) }

// ForEndpoint returns a function for [Proxy.Tamper] that applies a verdict to the requests to one
// endpoint. path is a prefix of the path after /v1.
func ForEndpoint(does Verdict, method, path string) func(*http.Request) Verdict {
	return func(r *http.Request) Verdict {
		if r.Method == method && strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1"+path) {
			return does
		}
		return Pass
	}
}

// Count returns how many requests the service made to an endpoint ("POST /prices") since the last
// call of Count.
func (p *Proxy) Count(request string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, asked := range p.asked {
		if asked == request {
			n++
		}
	}
	p.asked = nil
	return n
}

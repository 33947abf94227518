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

// Proxy stands between the service and the sandbox's payment provider: it counts what
// the service asks for, and tampers with it when it is told to.
type Proxy struct {
	mu     sync.Mutex
	asked  []string // method and path of each request of the service
	tamper func(r *http.Request) Verdict
	held   chan struct{} // what a held answer waits for
}

// Verdict is what a [Proxy] does to a request.
type Verdict int

// The verdicts.
const (
	Pass       Verdict = iota // the provider is asked
	Fail                      // the provider says that it is out of order
	FailBefore                // the provider begins, fails, and repeats that to the same key
	FailAfter                 // the provider does it, says that it failed, and repeats that
	Refuse                    // the provider understands it and will not do it
	Deny                      // the provider does not accept the key any more
	LoseAnswer                // the provider does it, and the answer is lost
	HoldAnswer                // the provider does it, and the answer waits for [Proxy.LetGo]
)

// direct is the header of the test's own requests, which the proxy ignores.
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
			_, _ = w.Write(answer.Body.Bytes()) // a caller that is gone needs none
		default:
			provider.ServeHTTP(w, r)
		}
	})
}

// Option is the option of a server that asks its provider through the proxy.
func (p *Proxy) Option(s *settings.Settings) { s.AroundProvider = p.wrapProvider }

// Tamper sets what happens to the service's requests from now on; nil lets all pass.
func (p *Proxy) Tamper(tamper func(r *http.Request) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tamper = tamper
}

// gate returns what held answers wait for.
func (p *Proxy) gate() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
	return p.held
}

// ReleaseAnswers gives the answers that are held, and those that would be from now on.
func (p *Proxy) ReleaseAnswers() { close(p.gate()) }

// ForEndpoint does something to the requests for one endpoint, for [Proxy.Tamper]. path is
// the start of what follows /v1.
func ForEndpoint(does Verdict, method, path string) func(*http.Request) Verdict {
	return func(r *http.Request) Verdict {
		if r.Method == method && strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1"+path) {
			return does
		}
		return Pass
	}
}

// Count returns how often the service has asked for something ("POST /prices") since
// the last call of Count.
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

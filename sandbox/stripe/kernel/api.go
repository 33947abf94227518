package kernel

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// APIVersion is the Stripe API version that the sandbox implements. stripe-go v85 pins the same
// version.
const APIVersion = "2026-05-27.dahlia"

// Call is a request to an endpoint: a step with the request's parameters.
type Call struct {
	*Step
	Params *form.Params
	ID     string // the id in the path, or ""
	Child  string // the id of a nested object in the path, or ""
}

// Endpoint handles one route and returns the response, which is rendered as JSON. To refuse a
// request, it returns a *form.Error as its error. If the request changed the state although it
// failed, as with a declined payment, it returns the *form.Error as its result.
type Endpoint func(ctx context.Context, c *Call) (any, error)

// answer is a rendered response. It can be sent or stored under an idempotency key.
type answer struct {
	status   int
	body     []byte
	replayed bool
	chaos    string // the name of the setting that made the request fail
}

// Serve returns the handler of an endpoint. It checks the key, reads the parameters, fires due
// timers, runs the endpoint and renders its response. All requests except GET run in a transaction.
// If run is nil, the handler responds with 404.
func (e *Engine) Serve(method string, run Endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		requestID := form.NewID("req")
		a, err := e.answer(r, method, run, requestID)
		if err != nil {
			var refused *form.Error
			if !errors.As(err, &refused) {
				e.cfg.Log.ErrorContext(r.Context(), "stripe sandbox: API request failed", slog.String("path", r.URL.Path), slog.Any("error", err))
				refused = form.InternalError()
			}
			a = answer{status: refused.Status, body: refused.Body()}
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-cache, no-store")
		h.Set("Request-Id", requestID)
		h.Set("Stripe-Version", APIVersion)
		if v := r.Header.Get("Stripe-Version"); v != "" && v != APIVersion {
			h.Set("Sandbox-Warning", "This sandbox answers in version "+APIVersion+" of the API, whatever version is asked for.")
		}
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			h.Set("Idempotency-Key", key)
		}
		if a.replayed {
			h.Set("Idempotent-Replayed", "true")
		}
		if a.chaos != "" {
			h.Set(HeaderChaos, a.chaos)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // an error means that the client has disconnected
	}
}

// answer handles a request. Errors other than *form.Error are failures of the sandbox.
func (e *Engine) answer(r *http.Request, method string, run Endpoint, requestID string) (answer, error) {
	ctx := r.Context()
	if err := e.admit(r); err != nil {
		return answer{}, err
	}
	if run == nil || r.PathValue("id") == "search" { // the id "search" is Stripe's search, which the sandbox lacks
		e.cfg.Log.ErrorContext(ctx, "stripe sandbox: unknown route", slog.String("method", r.Method), slog.String("path", e.apiPath(r)))
		return answer{}, e.unknownURL(r)
	}
	values, err := form.Read(r)
	if err != nil {
		return answer{}, err
	}
	p, err := form.Parse(values)
	if err != nil {
		return answer{}, err
	}
	if err := e.Settle(ctx); err != nil {
		return answer{}, err
	}
	follow := append([]string{r.PathValue("id")}, clockParams(p)...)
	if method == http.MethodGet {
		st := e.Read()
		if err := st.UseTestClock(ctx, follow...); err != nil {
			return answer{}, err
		}
		return e.performOrFail(ctx, run, newCall(st, p, r))
	}
	key := r.Header.Get("Idempotency-Key")
	if method != http.MethodPost {
		key = "" // Stripe supports idempotency keys only for POST
	}
	once, err := newIdempotent(key, method+" "+e.apiPath(r), values)
	if err != nil {
		return answer{}, err
	}
	return e.change(ctx, once, requestID, func(ctx context.Context, st *Step) (answer, error) {
		if err := st.UseTestClock(ctx, follow...); err != nil {
			return answer{}, err
		}
		return e.performOrFail(ctx, run, newCall(st, p, r))
	})
}

func newCall(st *Step, p *form.Params, r *http.Request) *Call {
	return &Call{Step: st, Params: p, ID: r.PathValue("id"), Child: r.PathValue("child")}
}

// change handles a request that can change the state. If the request has an idempotency key, change
// stores the response and replays it for later requests with the same key.
func (e *Engine) change(ctx context.Context, once idempotent, requestID string, perform func(ctx context.Context, st *Step) (answer, error)) (a answer, err error) {
	err = e.Write(ctx, func(ctx context.Context, st *Step) error {
		st.cause.ID = &requestID
		if once.key != "" {
			st.cause.IdempotencyKey = &once.key
			var err error
			if a, err = once.loadAnswer(ctx, st); !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		failed := st.attempt(ctx, func() (err error) {
			a, err = perform(ctx, st)
			return err
		})
		if failed != nil {
			var refused *form.Error
			if !errors.As(failed, &refused) || refused.Unstarted {
				return failed
			}
			a = answer{status: refused.Status, body: refused.Body()}
		}
		if once.key == "" {
			return nil
		}
		return once.storeAnswer(ctx, st, a)
	})
	return a, err
}

// perform runs an endpoint and renders its result.
func (e *Engine) perform(ctx context.Context, run Endpoint, c *Call) (answer, error) {
	expand := c.Params.Texts("expand")
	result, err := run(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if refused, ok := result.(*form.Error); ok { // the request failed but changed the state
		return answer{status: refused.Status, body: refused.Body()}, nil
	}
	body, err := e.render(ctx, c.Q, result, expand)
	return answer{status: http.StatusOK, body: body}, err
}

// Failure makes a call fail after its endpoint has started its work. As with Stripe, the response
// is stored under the call's idempotency key like any other response.
type Failure struct {
	Status int
	After  bool   // whether the call changes the state before it fails
	Chaos  string // the name of the setting that causes the failure
}

// HeaderChaos is the response header with the name of the setting that made a call fail.
const HeaderChaos = "Sandbox-Chaos"

type failureKey struct{}

// WithFailure returns a context that makes a call fail.
func WithFailure(ctx context.Context, f Failure) context.Context {
	return context.WithValue(ctx, failureKey{}, f)
}

// performOrFail calls perform, unless the context makes the call fail.
func (e *Engine) performOrFail(ctx context.Context, run Endpoint, c *Call) (answer, error) {
	f, ok := ctx.Value(failureKey{}).(Failure)
	if !ok {
		return e.perform(ctx, run, c)
	}
	if f.After {
		if _, err := e.perform(ctx, run, c); err != nil {
			return answer{}, err
		}
	}
	return answer{status: f.Status, body: form.InternalError().Body(), chaos: f.Chaos}, nil
}

// admit checks the request's secret key and its headers for the API version and connected accounts.
func (e *Engine) admit(r *http.Request) error {
	key, _, basic := r.BasicAuth()
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		key = bearer
	} else if !basic {
		return form.Unauthenticated("You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').")
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(e.cfg.SecretKey)) != 1 {
		return form.Unauthenticated("Invalid API Key provided: " + redact(key))
	}
	_, release, _ := strings.Cut(APIVersion, ".")
	if v := r.Header.Get("Stripe-Version"); v != "" && !strings.HasSuffix(v, "."+release) && !e.cfg.AnyVersion {
		return form.MarkUnstarted(form.Refuse("", "", "Invalid Stripe API version: %s. The sandbox speaks %s only.", v, APIVersion))
	}
	if r.Header.Get("Stripe-Account") != "" || r.Header.Get("Stripe-Context") != "" {
		return form.MarkUnstarted(form.Refuse("", "", "The sandbox has no connected accounts."))
	}
	return nil
}

// redact hides most of a wrong key but leaves enough to recognise it.
func redact(key string) string {
	if len(key) <= 12 {
		return strings.Repeat("*", len(key))
	}
	return key[:8] + strings.Repeat("*", len(key)-12) + key[len(key)-4:]
}

// Retrieve is an endpoint that returns the object in the path.
func Retrieve[T Object](ctx context.Context, c *Call, k Kind[T]) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return k.Get(ctx, c.Q, c.ID, "id")
}

// OwnRoot is the path prefix of endpoints that Stripe does not have, such as the sandbox's
// controls.
const OwnRoot = "/sandbox/stripe"

// apiPath returns the request's path without the sandbox's root, as in Stripe's API.
func (e *Engine) apiPath(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, e.cfg.Root) }

// unknownURL returns the error for a URL that the sandbox does not serve.
func (e *Engine) unknownURL(r *http.Request) *form.Error {
	refused := form.Refuse("", "", "Unrecognized request URL (%s: %s). The sandbox stands in for a part of Stripe only.", r.Method, e.apiPath(r))
	refused.Status, refused.Unstarted = http.StatusNotFound, true
	return refused
}

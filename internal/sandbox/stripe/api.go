package stripe

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// APIVersion is the version of Stripe's API that the sandbox speaks: the one
// that stripe-go v85 pins.
const APIVersion = "2026-03-25.dahlia"

// call is a request to one endpoint: a step with the request's parameters.
type call struct {
	*step
	params *params
	id     string // the object that the path names
}

// endpoint does the work of one route and returns what is to be answered.
type endpoint func(ctx context.Context, c *call) (any, error)

// answer is a response that is ready to be sent, or kept for a replay.
type answer struct {
	status   int
	body     []byte
	replayed bool
}

// serve is the way that every request takes to its endpoint.
func (s *Server) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		requestID := newID("req")
		a, err := s.answer(r, rt, requestID)
		if err != nil {
			var refused *apiError
			if !errors.As(err, &refused) {
				s.cfg.Log.ErrorContext(r.Context(), "stripe sandbox", slog.String("path", r.URL.Path), slog.Any("error", err))
				refused = internalError()
			}
			a = answer{status: refused.status, body: refused.body()}
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-cache, no-store")
		h.Set("Request-Id", requestID)
		h.Set("Stripe-Version", APIVersion)
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			h.Set("Idempotency-Key", key)
		}
		if a.replayed {
			h.Set("Idempotent-Replayed", "true")
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // the client is gone, or has it
	}
}

func (s *Server) answer(r *http.Request, rt route, requestID string) (answer, error) {
	ctx := r.Context()
	if err := s.admit(r); err != nil {
		return answer{}, err
	}
	if rt.run == nil {
		return answer{}, unknownURL(r)
	}
	form, err := readForm(r)
	if err != nil {
		return answer{}, err
	}
	p, err := parseForm(form)
	if err != nil {
		return answer{}, err
	}
	if err := s.settle(ctx); err != nil {
		return answer{}, err
	}
	if rt.method == http.MethodGet {
		return perform(ctx, rt.run, &call{step: s.read(), params: p, id: r.PathValue("id")})
	}
	key := r.Header.Get("Idempotency-Key")
	if rt.method != http.MethodPost {
		key = "" // the other methods are idempotent by themselves
	}
	once, err := newIdempotent(key, rt.method+" "+apiPath(r), form)
	if err != nil {
		return answer{}, err
	}
	var a answer
	err = s.write(ctx, func(ctx context.Context, st *step) error {
		st.cause.ID = &requestID
		if key != "" {
			st.cause.IdempotencyKey = &key
			if known, err := once.recall(ctx, st.q); err != nil || known != nil {
				if known != nil {
					a = *known
				}
				return err
			}
		}
		failed := st.attempt(ctx, func() (err error) {
			a, err = perform(ctx, rt.run, &call{step: st, params: p, id: r.PathValue("id")})
			return err
		})
		if failed != nil {
			var refused *apiError
			if !errors.As(failed, &refused) || refused.unstarted {
				return failed
			}
			a = answer{status: refused.status, body: refused.body()}
		}
		if key == "" {
			return nil
		}
		return once.remember(ctx, st, a)
	})
	return a, err
}

// perform runs an endpoint and renders what it returns.
func perform(ctx context.Context, run endpoint, c *call) (answer, error) {
	expand := c.params.texts("expand")
	result, err := run(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if refused, ok := result.(*apiError); ok { // the request took effect and was refused, as a declined payment is
		return answer{status: refused.status, body: refused.body()}, nil
	}
	body, err := render(ctx, c.q, result, expand)
	return answer{status: http.StatusOK, body: body}, err
}

// admit checks the secret key and what the client expects of the API.
func (s *Server) admit(r *http.Request) error {
	key, _, basic := r.BasicAuth()
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		key = bearer
	} else if !basic {
		return unauthenticated("You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').")
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(s.cfg.SecretKey)) != 1 {
		return unauthenticated("Invalid API Key provided: " + redact(key))
	}
	_, release, _ := strings.Cut(APIVersion, ".")
	if v := r.Header.Get("Stripe-Version"); v != "" && !strings.HasSuffix(v, "."+release) {
		return unstarted(refuse("", "", "Invalid Stripe API version: %s. The sandbox speaks %s only.", v, APIVersion))
	}
	if r.Header.Get("Stripe-Account") != "" || r.Header.Get("Stripe-Context") != "" {
		return unstarted(refuse("", "", "The sandbox has no connected accounts."))
	}
	return nil
}

// redact shows enough of a wrong key to recognise it.
func redact(key string) string {
	if len(key) <= 12 {
		return strings.Repeat("*", len(key))
	}
	return key[:8] + strings.Repeat("*", len(key)-12) + key[len(key)-4:]
}

// retrieve is the endpoint that reads one object.
func retrieve[T object](ctx context.Context, c *call, k kind[T]) (any, error) {
	if err := c.params.done(); err != nil {
		return nil, err
	}
	return k.get(ctx, c.q, c.id, "id")
}

package rest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// maxIdempotencyKey is the maximum length of a key, in characters.
const maxIdempotencyKey = 255

// idempotencyField is the field of validation errors about the key.
const idempotencyField = "idempotency_key"

// describeIdempotency adds the header to the reference.
func (op *operation) describeIdempotency() {
	op.doc.IsIdempotent = true
	op.doc.Parameters = append(op.doc.Parameters, &reference.Parameter{
		Name: reference.IdempotencyKey, In: "header",
		Description: "A text that you choose for the request. A retry with the same key within 24 hours returns the response of the first request that succeeded.",
		Schema:      &shape.Schema{Type: shape.TypeString, MaxLength: maxIdempotencyKey},
	})
}

// runOnce returns next for requests without an idempotency key. Requests with the same key, of the
// same caller and on the same path, run next only until it succeeds, and return its response. The
// guards of the route run before, and its validation afterwards.
func (a *API) runOnce(op *operation, next serve) serve {
	if !op.route.Idempotent || a.cfg.Idempotency == nil {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := idempotencyKey(r)
		if err != nil {
			return err
		}
		if key == "" {
			return next(w, r)
		}
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		caller := authz.FromContext(r.Context())
		who := callerKey(caller)
		if caller.Impersonator != nil { // another caller than the user
			who += " by:" + strconv.FormatInt(caller.Impersonator.UserID, 10)
		}
		once := idempotency.Request{
			Caller: who, Path: r.Method + " " + r.URL.Path, Key: key, Body: comparableBody(body),
		}
		response, err := a.cfg.Idempotency.Run(r.Context(), once, func(ctx context.Context) (idempotency.Response, error) {
			return a.record(ctx, next, w, r, body)
		})
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(response.Status)
		_, _ = w.Write(response.Body) // an error means that the client disconnected
		return nil
	}
}

// record runs a request and returns its response. A client that disconnects does not end the
// request, because a retry must find the outcome.
func (a *API) record(ctx context.Context, next serve, w http.ResponseWriter, r *http.Request, body []byte) (idempotency.Response, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Timeout)
	defer cancel()
	again := r.WithContext(ctx)
	again.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 {
		again.Body = http.NoBody
	}
	recorded := &recorder{header: w.Header(), status: http.StatusOK} // headers go to the client's response
	err := next(recorded, again)
	return idempotency.Response{Status: recorded.status, Body: recorded.body.Bytes()}, err
}

// idempotencyKey returns the key of a request, or "".
func idempotencyKey(r *http.Request) (string, error) {
	key := strings.TrimSpace(r.Header.Get(reference.IdempotencyKey))
	switch {
	case !utf8.ValidString(key):
		return "", fault.OnField(idempotencyField, "validation.characters")
	case utf8.RuneCountInString(key) > maxIdempotencyKey:
		return "", &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
			Path: idempotencyField, Message: "validation.max_length", Args: map[string]any{"max": maxIdempotencyKey},
		}}}
	}
	return key, nil
}

// comparableBody returns a form of a body that does not depend on whitespace and the order of keys. A
// missing body equals {}, as in bind.
func comparableBody(body []byte) []byte {
	value := jsontext.Value(bytes.Clone(bytes.TrimSpace(body)))
	if len(value) == 0 {
		return []byte("{}")
	}
	err := value.Format(jsontext.Multiline(false), jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return body // bind rejects it
	}
	return value
}

// recorder records a response.
type recorder struct {
	header    http.Header
	status    int
	body      bytes.Buffer
	limit     int // maximum size of the body in bytes, or 0
	isTooLong bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(data []byte) (int, error) {
	if r.limit > 0 && r.body.Len()+len(data) > r.limit {
		r.isTooLong = true
		return 0, bytes.ErrTooLarge
	}
	return r.body.Write(data)
}

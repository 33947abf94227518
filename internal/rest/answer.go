package rest

import (
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

const jsonType = "application/json"

// answer is the result of a handler.
type answer interface {
	// describe adds the response to the reference and sets the default of its status.
	describe(registry *shape.Registry, op *operation)
	write(w http.ResponseWriter, r *http.Request, status int) error
}

// Data is the response {data: …} with an optional message, which is a translation key such as
// team.role_changed (rules: http#answers).
type Data[T any] struct {
	Body struct {
		Data    T      `json:"data"`
		Message string `json:"message,omitempty"`
	}
}

// OK returns the response {data: v}. A nil slice becomes an empty list.
func OK[T any](v T) *Data[T] { return OKMessage(v, "") }

// OKMessage returns the response {data: v, message: key}.
func OKMessage[T any](v T, key string) *Data[T] {
	out := new(Data[T])
	out.Body.Data, out.Body.Message = v, key
	return out
}

func (*Data[T]) describe(registry *shape.Registry, op *operation) {
	op.describeJSON(bodySchema(registry, reflect.TypeFor[Data[T]]()))
}

func (d *Data[T]) write(w http.ResponseWriter, _ *http.Request, status int) error {
	return writeJSON(w, status, &d.Body)
}

// Body is a response without the data key (rules: http#answers).
type Body[T any] struct {
	Body T

	file *Blob // see ReplaceWith
}

// NewBody returns a response with v as the whole body.
func NewBody[T any](v T) *Body[T] { return &Body[T]{Body: v} }

// Note is a response that only contains a translation key, which names the change.
type Note struct {
	Message string `json:"message"`
}

// Message returns the response {message: key}.
func Message(key string) *Body[Note] { return NewBody(Note{Message: key}) }

func (*Body[T]) describe(registry *shape.Registry, op *operation) {
	op.describeJSON(bodySchema(registry, reflect.TypeFor[Body[T]]()))
}

// ReplaceWith makes a file the response, in place of the body.
func (p *Body[T]) ReplaceWith(file *Blob) *Body[T] {
	p.file = file
	return p
}

func (p *Body[T]) write(w http.ResponseWriter, r *http.Request, status int) error {
	if p.file != nil {
		return p.file.write(w, r, status)
	}
	return writeJSON(w, status, &p.Body)
}

// NoBody is a response without a body.
type NoBody struct{}

func (*NoBody) describe(_ *shape.Registry, op *operation) {
	if op.status == 0 {
		op.status = http.StatusNoContent
	}
	op.describe(op.status, nil)
}

func (*NoBody) write(w http.ResponseWriter, _ *http.Request, status int) error { //nolint:unparam // it is an answer
	w.WriteHeader(status)
	return nil
}

// AcceptedNote is the response to a request that starts an operation: 202 with Message, a
// translation key, or 204 without it if there was nothing to do.
type AcceptedNote struct{ Message string }

func (*AcceptedNote) describe(registry *shape.Registry, op *operation) {
	op.describe(http.StatusAccepted, reference.JSONContent(registry.Schema(reflect.TypeFor[Note](), "")))
	op.describe(http.StatusNoContent, nil)
}

func (b *AcceptedNote) write(w http.ResponseWriter, _ *http.Request, _ int) error {
	if b.Message == "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return writeJSON(w, http.StatusAccepted, Note(*b))
}

// bodySchema returns the schema of the body of a response.
func bodySchema(registry *shape.Registry, answer reflect.Type) *shape.Schema {
	body, _ := answer.FieldByName("Body")
	return registry.Schema(body.Type, answer.Name()+"Body")
}

func (op *operation) describeJSON(s *shape.Schema, headers ...string) {
	if op.status == 0 {
		op.status = http.StatusOK
	}
	op.describe(op.status, reference.JSONContent(s), headers...)
}

// encode returns v as JSON with a trailing newline. A nil slice becomes [].
func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return append(text, '\n'), err
}

// writeJSON writes v as the response. If it returns an error, nothing has been written.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client disconnected
	return nil
}

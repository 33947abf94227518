package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Handler handles the requests of a route. Handle, File, Upload and HandleRaw create handlers.
type Handler interface {
	// compile describes the route and returns the function to run after its guards.
	compile(a *API, op *operation) serve
}

// serve handles a request, or returns the error to respond with.
type serve func(w http.ResponseWriter, r *http.Request) error

// Option configures a handler.
type Option func(*operation)

// operation is a compiled route.
type operation struct {
	route  Route
	guards []Guard // guards of the route
	doc    *reference.Operation
	status int // status of a success
	exists func(ctx context.Context, param func(string) string) error
	params []param
	body   *shape.Schema
	// bodyIndex is the field index of the body in the input.
	bodyIndex []int
	// limitText returns the text of the body to count requests by, after they are counted in
	// addressGroup. It is nil for other routes.
	limitText    func(body jsontext.Value) string
	addressGroup string
	// checks validates the fields of an input, which is a pointer to a struct of type checked. It
	// can be nil.
	checks  func(ctx context.Context, in any) error
	checked reflect.Type
}

func newOperation(r Route) *operation {
	op := &operation{route: r, guards: r.Guards(), doc: &reference.Operation{
		ID: r.ID(), Summary: r.Summary, Tags: []string{r.Entry.Tag}, Responses: map[string]*reference.Response{},
		Scope: string(r.Scope), Permission: r.Permission, Rate: r.Rate, KeyScope: r.KeyScope,
		Method: r.Method, Path: r.Path, Entry: r.Entry, AfterExpiry: r.worksAfterExpiry(),
	}}
	for _, guard := range op.guards {
		op.doc.Guards = append(op.doc.Guards, string(guard))
	}
	if r.Idempotent {
		op.describeIdempotency()
	}
	return op
}

// Status sets the status of a success. The default is 200, or 204 for NoBody.
func Status(code int) Option { return func(o *operation) { o.status = code } }

// Exists adds a check that runs after the guards and before validation, so that a path to a missing
// record is a 404 before an invalid body is a 422. The check reads path parameters by name.
func Exists(check func(ctx context.Context, param func(string) string) error) Option {
	return func(o *operation) { o.exists = check }
}

// Checks adds validation of fields that needs more than the schema of the body, such as whether a
// slug is taken. It only runs if a field is invalid, according to the schema or the handler, so
// that the response reports all invalid fields at once. The handler must perform the same checks
// itself.
//
// Invalid fields and the fields below them have their zero value in the input of check. Errors that
// check returns for them are ignored, as are errors that are not about fields.
func Checks[I any](check func(ctx context.Context, in *I) error) Option {
	return func(o *operation) {
		o.checked = reflect.TypeFor[I]()
		o.checks = func(ctx context.Context, in any) error { return check(ctx, in.(*I)) }
	}
}

// Lists describes a list in the reference: pages, and the filters, sorts and includes of its spec.
// It enforces nothing; the handler parses the query with the same spec.
func Lists(spec page.Spec) Option { return func(o *operation) { o.doc.List = &spec } }

// File returns a handler for a function that returns a file of one of the content types.
func File[I any](fn func(context.Context, *I) (*Blob, error), contentTypes ...string) Handler {
	return Handle(fn, func(o *operation) {
		content := reference.Content{}
		for _, contentType := range contentTypes {
			s := &shape.Schema{Type: shape.TypeString, Format: "binary"}
			if contentType == jsonType {
				s = &shape.Schema{Type: shape.TypeObject, IsFreeForm: true}
			}
			content[contentType] = &reference.Media{Schema: s}
		}
		o.describe(http.StatusOK, content, "Content-Disposition")
	})
}

// describe adds a success response to the reference.
func (op *operation) describe(status int, content reference.Content, headers ...string) {
	response := &reference.Response{Description: http.StatusText(status), Content: content}
	response.AddHeaders(headers...)
	op.doc.Responses[statusText(status)] = response
}

// Handle returns a handler for a function. I is a struct with `path`, `query` and `cookie` fields
// and a Body. O is one of the response types of this package.
func Handle[I, O any](fn func(context.Context, *I) (*O, error), options ...Option) Handler {
	result, ok := any(new(O)).(answer)
	if !ok {
		panic(reflect.TypeFor[O]().String() + " is not an answer")
	}
	call := func(ctx context.Context, in any) (answer, error) {
		out, err := fn(ctx, in.(*I))
		return any(out).(answer), err
	}
	return handler{input: reflect.TypeFor[I](), result: result, call: call, options: options}
}

// handler is not generic, because the compiler would repeat its methods for each route.
type handler struct {
	input   reflect.Type
	result  answer // describes the response
	call    func(ctx context.Context, in any) (answer, error)
	options []Option
}

func (h handler) compile(a *API, op *operation) serve {
	for _, option := range h.options {
		option(op)
	}
	op.readInput(a.registry, h.input)
	h.result.describe(a.registry, op)
	op.describeCSV()
	return func(w http.ResponseWriter, r *http.Request) error {
		in := reflect.New(h.input).Interface()
		if err := a.bind(op, w, r, in); err != nil {
			return err
		}
		out, err := h.call(r.Context(), in)
		if err != nil {
			return op.completeFields(r.Context(), in, err)
		}
		return out.write(w, r, op.status)
	}
}

// describeCSV adds the file to the reference of a JSON response that the parameter format replaces with
// a CSV file.
func (op *operation) describeCSV() {
	isFile := slices.ContainsFunc(op.params, func(p param) bool {
		return p.in == "query" && p.Name == "format" && slices.Contains(p.Enum, "csv")
	})
	response := op.doc.Responses["200"]
	if isFile && response != nil && response.Content[jsonType] != nil {
		response.Content["text/csv"] = &reference.Media{Schema: &shape.Schema{Type: shape.TypeString}}
	}
}

// HandleRaw returns a handler that calls a plain HTTP handler, such as the receiver of signed
// notifications. Guards and limits run before it. It must limit the size of the body itself. For
// the reference, contentType is the content type of the body, and A is the type of the JSON
// response. struct{} means that the response is empty or not JSON.
func HandleRaw[A any](h http.Handler, contentType string) Handler {
	return raw{handler: h, contentType: contentType, answer: reflect.TypeFor[A]()}
}

type raw struct {
	handler     http.Handler
	contentType string
	answer      reflect.Type
}

func (h raw) compile(a *API, op *operation) serve {
	if op.route.Method != http.MethodGet {
		s := &shape.Schema{Type: shape.TypeString}
		if h.contentType == jsonType {
			s = &shape.Schema{Type: shape.TypeObject, IsFreeForm: true}
		}
		op.doc.RequestBody = &reference.Body{Required: true, Content: reference.Content{h.contentType: {Schema: s}}}
	}
	var content reference.Content
	if h.answer.NumField() > 0 {
		content = reference.JSONContent(a.registry.Schema(h.answer, ""))
	}
	op.describe(http.StatusOK, content)
	return func(w http.ResponseWriter, r *http.Request) error {
		h.handler.ServeHTTP(w, r)
		return nil
	}
}

package rest

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Handler describes a route and returns the function to run after its guards. Handle, File, Upload,
// Batch and HandleRaw create handlers.
type Handler func(a *API, op *operation) serve

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
				s = shape.Object{}.Schema(nil)
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
	op.doc.Responses[strconv.Itoa(status)] = response
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
	return newHandler(reflect.TypeFor[I](), result, call, options)
}

// newHandler is not generic, because the compiler would repeat it for each route. result describes
// the response.
func newHandler(input reflect.Type, result answer, call func(ctx context.Context, in any) (answer, error), options []Option) Handler {
	return func(a *API, op *operation) serve {
		for _, option := range options {
			option(op)
		}
		op.readInput(a.registry, input)
		result.describe(a.registry, op)
		return func(w http.ResponseWriter, r *http.Request) error {
			in := reflect.New(input).Interface()
			if err := a.bind(op, w, r, in); err != nil {
				return err
			}
			out, err := call(r.Context(), in)
			if err != nil {
				return op.completeFields(r.Context(), in, err)
			}
			return out.write(w, r, op.status)
		}
	}
}

// HandleRaw returns a handler that calls a plain HTTP handler, such as the receiver of signed
// notifications. Guards and limits run before it. It must limit the size of the body itself. A is
// the type of the JSON response in the reference.
func HandleRaw[A any](h http.Handler) Handler {
	return func(a *API, op *operation) serve {
		op.doc.RequestBody = &reference.Body{Required: true, Content: reference.JSONContent(shape.Object{}.Schema(nil))}
		op.describe(http.StatusOK, reference.JSONContent(a.registry.Schema(reflect.TypeFor[A](), "")))
		return func(w http.ResponseWriter, r *http.Request) error {
			h.ServeHTTP(w, r)
			return nil
		}
	}
}

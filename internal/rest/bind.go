package rest

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// maxBody is the largest JSON body, in bytes (rules: http#requests).
const maxBody = 1 << 20

type queryKey struct{}

// input is a request in normal form, which huma reads instead of the original.
type input struct {
	query url.Values
	body  []byte
}

// bind reads, normalizes and validates the query and the body of a request. All
// broken fields are reported at once, those of the query first.
func (a *API) bind(op *operation, w http.ResponseWriter, r *http.Request) (*http.Request, input, error) {
	var broken fault.Fields
	var in input
	var query url.Values
	if r.URL.RawQuery != "" {
		var err error
		if query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return r, in, errMalformedQuery
		}
		for _, values := range query {
			for i, text := range values {
				values[i] = norm.NFC.String(text) // as stored text is (shape.NormalText)
			}
		}
		r = r.WithContext(context.WithValue(r.Context(), queryKey{}, query))
	}
	in.query = shape.NormalizeQuery(op.query, query, &broken)
	if err := checkQueryText(op.query, query, &broken); err != nil {
		return r, in, err
	}
	if op.body != nil {
		var err error
		if in.body, err = a.bindBody(op, w, r, &broken); err != nil {
			return r, in, err
		}
	}
	return r, in, broken.Err()
}

// Query returns the request's query as the caller wrote it, in NFC, for lists that
// whitelist their own filters. It holds no control characters.
func Query(ctx context.Context) url.Values {
	query, _ := ctx.Value(queryKey{}).(url.Values)
	return query
}

// checkQueryText refuses text that databases cannot store in parameters that the
// route does not declare, because a list may filter by them.
func checkQueryText(declared []shape.Property, query url.Values, broken *fault.Fields) error {
	var bad []string
	for name, values := range query {
		if !shape.CleanText(name) {
			return errMalformedQuery
		}
		isDeclared := slices.ContainsFunc(declared, func(p shape.Property) bool { return p.Name == name })
		if !isDeclared && !shape.CleanText(values...) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	for _, name := range bad {
		broken.Add(name, "validation.characters")
	}
	return nil
}

// checkPath refuses a path with a part that does not have the form of what it
// names, as not found.
func (op *operation) checkPath(r *http.Request) error {
	for _, name := range chi.RouteContext(r.Context()).URLParams.Keys {
		text := pathParam(r, name)
		if name != "*" && text == "" || !shape.CleanText(text) {
			return errNotFound
		}
		for _, p := range op.path {
			if p.Name != name {
				continue
			}
			if normal, ok := p.Rules.CheckText(text, name, new(fault.Fields)); !ok || normal != text {
				return errNotFound
			}
		}
	}
	return nil
}

// pathParam decodes a part of the path as huma does.
func pathParam(r *http.Request, name string) string {
	text := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return text
	}
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	return decoded
}

// bindBody returns the body in normal form. A body that is not JSON is 400, one
// that is no object 422. No body counts as {}.
func (a *API) bindBody(op *operation, w http.ResponseWriter, r *http.Request, broken *fault.Fields) ([]byte, error) {
	data, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if contentType := r.Header.Get("Content-Type"); len(data) > 0 && contentType != "" && !isJSON(contentType) {
		return nil, errUnsupported
	}
	raw := jsontext.Value(bytes.TrimSpace(data))
	if len(raw) == 0 {
		raw = jsontext.Value("{}")
	}
	if !shape.Readable(raw) {
		return nil, errMalformedJSON
	}
	if raw.Kind() != '{' {
		return nil, shape.ErrNotObject
	}
	if err := a.limitByField(w, r, op, raw); err != nil {
		return nil, err
	}
	normal := op.body.Normalize(raw, broken)
	if op.checks == nil || len(*broken) == 0 {
		return normal, nil
	}
	in, err := op.partial(r, normal)
	if err != nil {
		return nil, err
	}
	return normal, op.check(r.Context(), in, broken)
}

// partial returns the input of a route from the path and a body in normal form, which lacks
// fields that are broken. It has no parameters of the query.
func (op *operation) partial(r *http.Request, normal []byte) (any, error) {
	in := reflect.New(op.checked)
	for _, field := range reflect.VisibleFields(op.checked) {
		if name := field.Tag.Get("path"); name != "" {
			in.Elem().FieldByIndex(field.Index).SetString(pathParam(r, name))
		}
	}
	err := shape.Unmarshal(normal, in.Elem().FieldByName("Body").Addr().Interface())
	return in.Interface(), err
}

// completed returns the refusal of a handler with every field that the checks of the route
// refuse too. An error that is not about fields stays as it is.
func (op *operation) completed(ctx context.Context, in any, err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || op.checks == nil || len(refused.Fields) == 0 {
		return err
	}
	broken := fault.Fields(slices.Clone(refused.Fields))
	if err := op.check(ctx, in, &broken); err != nil {
		return err
	}
	all := *refused
	all.Fields = broken
	return &all
}

// check adds the fields of an input that the checks of the route refuse to broken, except those
// that are broken already, those below them and those above them. Other refusals do not count,
// because those of fields come first (rules: http#order-of-refusals).
func (op *operation) check(ctx context.Context, in any, broken *fault.Fields) error {
	before := *broken
	err := op.checks(context.WithValue(ctx, brokenKey{}, before), in)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	for _, f := range refused.Fields {
		if !slices.ContainsFunc(before, func(b fault.Field) bool { return areNested(b.Path, f.Path) }) {
			*broken = append(*broken, f)
		}
	}
	return nil
}

type brokenKey struct{}

// IsBroken reports whether a field is absent from the input of a check because it is broken (see
// Checks). Checks that compare fields need to know.
func IsBroken(ctx context.Context, path string) bool {
	broken, _ := ctx.Value(brokenKey{}).(fault.Fields)
	return slices.ContainsFunc(broken, func(f fault.Field) bool { return areNested(f.Path, path) })
}

// areNested reports whether two paths of fields are equal, or one is below the other.
func areNested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == "application/json" || strings.HasSuffix(mediaType, "+json"))
}

// compileInput prepares the parameters and the body of a route for bind.
func compileInput[I any](a *API, op *operation) {
	t := reflect.TypeFor[I]()
	registry := a.huma.OpenAPI().Components.Schemas
	for _, field := range reflect.VisibleFields(t) {
		if name := field.Tag.Get("path"); name != "" {
			op.path = append(op.path, shape.Parameter(registry, field, name, true))
		}
		if name, _, _ := strings.Cut(field.Tag.Get("query"), ","); name != "" {
			op.query = append(op.query, shape.Parameter(registry, field, name, field.Tag.Get("required") == "true"))
		}
	}
	if _, raw := t.FieldByName("RawBody"); raw {
		panic("a RawBody is neither bounded nor checked: make it a Raw route")
	}
	op.input = reference.QueryOnly
	if body, ok := t.FieldByName("Body"); ok {
		op.input = reference.JSON
		op.body = shape.Compile(registry, bodySchema(registry, body, op.route.ID()), body.Type)
	}
	if op.checks != nil && (op.checked != t || op.body == nil) {
		panic("the checks are of another input: " + op.checked.String())
	}
}

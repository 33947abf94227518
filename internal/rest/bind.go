package rest

import (
	"bytes"
	"cmp"
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

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// param is an input field that is read from the path, the query or a cookie.
type param struct {
	shape.Property

	in    string
	index []int
}

// readInput describes the parameters and the body of an input, for bind and for the reference.
func (op *operation) readInput(registry *shape.Registry, t reflect.Type) {
	op.doc.Input = reference.QueryOnly
	for _, field := range reflect.VisibleFields(t) {
		for _, in := range []string{"path", "query", "cookie"} {
			name := field.Tag.Get(in)
			if name == "" {
				continue
			}
			s, isRequired := registry.Input(field, ""), in == "path" || field.Tag.Get("required") == "true"
			op.params = append(op.params, param{shape.Property{Name: name, Required: isRequired, Schema: s}, in, field.Index})
			if in == "path" && len(field.Index) > 1 {
				continue // for compatibility, path fields of embedded structs are plain text
			}
			doc := &reference.Parameter{Name: name, In: in, Required: isRequired, Description: s.Description, Schema: s}
			if s.Items != nil {
				doc.Explode = new(bool)
			}
			op.doc.Parameters = append(op.doc.Parameters, doc)
		}
	}
	if body, ok := t.FieldByName("Body"); ok {
		var name strings.Builder
		for word := range strings.SplitSeq(op.route.ID(), "-") {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		op.bodyIndex = body.Index
		op.body = registry.Input(body, name.String()+"Request") // an anonymous body is named after its route
		op.doc.Input = reference.JSON
		op.doc.RequestBody = &reference.Body{Required: true, Content: reference.JSONContent(op.body)}
	}
	if op.checks != nil && (op.checked != t || op.body == nil) {
		panic("the checks are of another input: " + op.checked.String())
	}
}

// bind reads, normalizes and validates the parameters and the body of a request. It reports all
// invalid fields at once, query fields first. in points to the input of the route.
func (a *API) bind(op *operation, w http.ResponseWriter, r *http.Request, in any) error {
	query, err := readQuery(r)
	if err != nil {
		return err
	}
	RequestOf(r.Context()).query = query
	var broken fault.Fields
	fields := reflect.ValueOf(in).Elem()
	for _, p := range op.params {
		field := fields.FieldByIndex(p.index)
		if p.in == "path" && field.Kind() == reflect.String {
			field.SetString(pathParam(r, p.Name)) // already validated by checkPath
		} else if value := p.read(r, query, &broken); value != nil {
			if err := shape.Unmarshal(value, field.Addr().Interface()); err != nil {
				return err
			}
		}
	}
	if err := op.checkOtherQuery(query, &broken); err != nil {
		return err
	}
	if op.body != nil {
		if err := a.bindBody(op, w, r, in, fields.FieldByIndex(op.bodyIndex), &broken); err != nil {
			return err
		}
	}
	return broken.Err()
}

// read returns the JSON value of a parameter, or nil.
func (p param) read(r *http.Request, query url.Values, broken *fault.Fields) jsontext.Value {
	switch p.in {
	case "path":
		return p.ParseText(pathParam(r, p.Name), p.Name, broken)
	case "query":
		return p.ParseTexts(query[p.Name], broken)
	}
	cookie, err := r.Cookie(p.Name)
	if err != nil {
		return nil
	}
	return p.ParseText(cookie.Value, p.Name, broken)
}

// readQuery returns the query of a request in NFC, like stored text (shape.NormalText).
func readQuery(r *http.Request) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil //nolint:nilnil // an empty query
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errMalformedQuery
	}
	for _, values := range query {
		for i, text := range values {
			values[i] = norm.NFC.String(text)
		}
	}
	return query, nil
}

// checkOtherQuery rejects text that databases cannot store in undeclared parameters, because a list
// can filter by them.
func (op *operation) checkOtherQuery(query url.Values, broken *fault.Fields) error {
	var bad []string
	for name, values := range query {
		if !shape.CleanText(name) {
			return errMalformedQuery
		}
		isDeclared := slices.ContainsFunc(op.params, func(p param) bool { return p.in == "query" && p.Name == name })
		if !isDeclared && !shape.CleanText(values...) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	dotted := strings.NewReplacer("[", ".", "]", "") // filter[name] is filter.name, as in page.Parse
	for _, name := range bad {
		broken.Add(dotted.Replace(name), "validation.characters")
	}
	return nil
}

// checkPath returns a not-found error if a path parameter does not have the right format.
func (op *operation) checkPath(r *http.Request) error {
	for _, name := range chi.RouteContext(r.Context()).URLParams.Keys {
		text := pathParam(r, name)
		if name != "*" && text == "" || !shape.CleanText(text) {
			return shape.ErrNotFound
		}
		for _, p := range op.params {
			if p.in == "path" && p.Name == name && !p.IsNormalText(text) {
				return shape.ErrNotFound
			}
		}
	}
	return nil
}

// pathParam returns a decoded path parameter, or "" if it cannot be decoded.
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

// bindBody decodes and validates the body. Invalid JSON is 400, JSON that is not an object 422. A
// missing body counts as {}. If fields are invalid, the checks of the route run too.
func (a *API) bindBody(op *operation, w http.ResponseWriter, r *http.Request, in any, field reflect.Value, broken *fault.Fields) error {
	data, err := readBody(w, r)
	if err != nil {
		return err
	}
	if len(data) > 0 && !isJSON(cmp.Or(r.Header.Get("Content-Type"), jsonType)) {
		return errUnsupported
	}
	raw := jsontext.Value(bytes.TrimSpace(data))
	if len(raw) == 0 {
		raw = jsontext.Value("{}")
	}
	if !shape.IsReadable(raw) {
		return errMalformedJSON
	}
	if check := op.route.Precheck; check != nil {
		field := func(name string) string {
			text, _ := shape.Peek(raw, name)
			return text
		}
		if err := check(r.Context(), field); err != nil {
			return err
		}
	}
	if raw.Kind() != '{' {
		return shape.ErrNotObject
	}
	caller := authz.FromContext(r.Context())
	for _, name := range op.route.InPersonFields {
		if _, found := shape.Peek(raw, name); found && caller != nil && caller.Impersonator != nil {
			return errNotInPerson
		}
	}
	if op.limitText != nil {
		key := a.cfg.ClientIP(r) + " " + op.limitText(raw)
		if err := applyDecision(w.Header(), a.cfg.Limiter.Allow(r.Context(), op.route.Rate, key)); err != nil {
			return err
		}
	}
	normal := op.body.Normalize(raw, broken)
	if len(*broken) > 0 && op.checks == nil {
		return nil
	}
	if err := shape.Unmarshal(normal, field.Addr().Interface()); err != nil {
		return err
	}
	if len(*broken) > 0 {
		return op.addChecks(r.Context(), in, broken)
	}
	return nil
}

// completeFields adds the fields that the checks of the route reject to a validation error of the
// handler. Other errors are returned unchanged.
func (op *operation) completeFields(ctx context.Context, in any, err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || op.checks == nil || len(refused.Fields) == 0 {
		return err
	}
	all := *refused
	all.Fields = slices.Clone(refused.Fields)
	if err := op.addChecks(ctx, in, (*fault.Fields)(&all.Fields)); err != nil {
		return err
	}
	return &all
}

// addChecks adds to broken the fields that the checks of the route reject. It skips fields that are
// already broken, and fields that contain a broken field or belong to one. Other errors of the
// checks are ignored, because field errors come first (rules: http#order-of-refusals).
func (op *operation) addChecks(ctx context.Context, in any, broken *fault.Fields) error {
	before := *broken
	err := op.checks(context.WithValue(ctx, brokenKey{}, before), in)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	for _, f := range refused.Fields {
		if !containsPath(before, f.Path) {
			*broken = append(*broken, f)
		}
	}
	return nil
}

type brokenKey struct{}

// IsBroken reports whether a field is absent from the input of a check because it is invalid (see
// Checks). Checks that compare fields need this.
func IsBroken(ctx context.Context, path string) bool {
	broken, _ := ctx.Value(brokenKey{}).(fault.Fields)
	return containsPath(broken, path)
}

// containsPath reports whether fields contains the path, or a path above or below it.
func containsPath(fields fault.Fields, path string) bool {
	return slices.ContainsFunc(fields, func(f fault.Field) bool {
		return f.Path == path || strings.HasPrefix(f.Path, path+".") || strings.HasPrefix(path, f.Path+".")
	})
}

func isJSON(contentType string) bool {
	if contentType == jsonType {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == jsonType || strings.HasSuffix(mediaType, "+json"))
}

package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/mail"
)

// maxBody is the largest JSON body, in bytes (spec: Requests and responses).
const maxBody = 1 << 20

type queryKey struct{}

// input is a request in normal form: what huma reads instead of the original.
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
		r = r.WithContext(context.WithValue(r.Context(), queryKey{}, query))
	}
	in.query = normalizeQuery(op.query, query, &broken)
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

// Query returns the request's query as the caller wrote it, for lists that
// whitelist their own filters. It holds no control characters.
func Query(ctx context.Context) url.Values {
	query, _ := ctx.Value(queryKey{}).(url.Values)
	return query
}

// checkQueryText refuses text that no database stores, in parameters that the
// route does not declare: a list may filter by them.
func checkQueryText(declared []property, query url.Values, broken *fault.Fields) error {
	var bad []string
	for name, values := range query {
		if !cleanText(name) {
			return errMalformedQuery
		}
		isDeclared := slices.ContainsFunc(declared, func(p property) bool { return p.name == name })
		if !isDeclared && !cleanText(values...) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	for _, name := range bad {
		broken.Add(name, "validation.characters")
	}
	return nil
}

func cleanText(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || new(validator).badCharacters(text, false) {
			return false
		}
	}
	return true
}

// normalizeQuery checks the declared parameters. Of one that is repeated the
// last counts, unless it is a list: then all do.
func normalizeQuery(params []property, query url.Values, broken *fault.Fields) url.Values {
	if len(params) == 0 {
		return nil
	}
	out := url.Values{}
	for _, p := range params {
		var texts []string
		if given := query[p.name]; p.node.kind == "array" {
			texts = strings.Split(strings.Join(given, ","), ",")
		} else if len(given) > 0 {
			texts = given[len(given)-1:]
		}
		for _, text := range texts {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			n := p.node
			if n.kind == "array" {
				n = n.items
			}
			if checked, ok := n.checkText(text, p.name, broken); ok {
				out.Add(p.name, checked)
			}
		}
		if p.required && len(strings.Join(texts, "")) == 0 {
			broken.Add(p.name, "validation.required")
		}
	}
	return out
}

// checkText validates a parameter: JSON has types, a URL has only text.
func (n *node) checkText(text, name string, broken *fault.Fields) (normal string, ok bool) {
	v := validator{broken: broken}
	var raw jsontext.Value
	switch n.kind {
	case "boolean":
		switch text {
		case "true", "1":
			return "true", true
		case "false", "0":
			return "false", true
		}
		v.fail(name, "validation.boolean")
		return "", false
	case "integer", "number":
		raw = jsontext.Value(text)
		if !raw.IsValid() || raw.Kind() != '0' {
			v.fail(name, "validation."+n.kind)
			return "", false
		}
		checked := v.check(n, raw, name)
		return string(checked), checked != nil
	}
	if !utf8.ValidString(text) {
		v.fail(name, "validation.characters")
		return "", false
	}
	raw, _ = jsontext.AppendQuote(nil, text)
	checked := v.checkString(n, raw, name)
	if checked == nil {
		return "", false
	}
	unquoted, _ := jsontext.AppendUnquote(nil, checked)
	return string(unquoted), true
}

// checkPath holds that every part of the path has the form of what it names.
// Anything else is not found.
func (op *operation) checkPath(r *http.Request) error {
	for _, name := range chi.RouteContext(r.Context()).URLParams.Keys {
		text := pathParam(r, name)
		if name != "*" && text == "" || !cleanText(text) {
			return errNotFound
		}
		for _, p := range op.path {
			if p.name != name {
				continue
			}
			if normal, ok := p.node.checkText(text, name, new(fault.Fields)); !ok || normal != text {
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

// bindBody returns the body in normal form. A body that is no JSON is 400, one
// that is no object 422, an absent one stands for {}.
func (a *API) bindBody(op *operation, w http.ResponseWriter, r *http.Request, broken *fault.Fields) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, errTooLarge
		}
		return nil, errUnreadable.Wrap(err)
	}
	if contentType := r.Header.Get("Content-Type"); len(data) > 0 && contentType != "" && !isJSON(contentType) {
		return nil, errUnsupported
	}
	raw := jsontext.Value(bytes.TrimSpace(data))
	if len(raw) == 0 {
		raw = jsontext.Value("{}")
	}
	if !raw.IsValid(lenient) {
		return nil, errMalformedJSON
	}
	if raw.Kind() != '{' {
		return nil, errNotObject
	}
	if op.route.Rate == loginGroup {
		if err := a.limitLogin(w, r, peek(raw, "email")); err != nil {
			return nil, err
		}
	}
	v := validator{broken: broken, suspect: isSuspect(raw)}
	return v.check(op.body, raw, ""), nil
}

// limitLogin counts by address and email. An email that is none will be refused
// anyway; all such share a place, so that no text of the caller's becomes a key.
func (a *API) limitLogin(w http.ResponseWriter, r *http.Request, email string) error {
	email, err := mail.NormalizeAddress(email)
	if err != nil {
		email = ""
	}
	return a.count(r.Context(), w.Header(), loginGroup, a.cfg.ClientIP(r)+" "+email)
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == "application/json" || strings.HasSuffix(mediaType, "+json"))
}

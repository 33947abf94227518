package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
)

// multipartOverhead is how much larger than its file a multipart body may be, in
// bytes: boundaries, headers and other fields.
const multipartOverhead = 64 << 10

var errNotMultipart = fault.New(fault.Unsupported, "error.multipart_expected")

// Upload makes a function that takes one file the handler of a route. The file is a
// field of a multipart/form-data body and has at most maxBytes. A larger one is 413,
// another kind of body 415, and a missing or empty file 422 on the field. Of a field
// that is given twice the last one counts. Other fields, the file's name and its
// declared type are ignored.
func Upload[T any](field string, maxBytes int64, fn func(ctx context.Context, file []byte) (*Data[T], error)) Handler {
	return upload[T]{field: field, maxBytes: maxBytes, fn: fn}
}

type upload[T any] struct {
	field    string
	maxBytes int64
	fn       func(context.Context, []byte) (*Data[T], error)
}

func (u upload[T]) register(a *API, r Route) {
	op := &operation{route: r, input: reference.Upload}
	doc := a.describe(op)
	u.document(a, &doc)
	a.huma.OpenAPI().AddOperation(&doc)
	a.handle(op, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := u.answer(w, r)
		if err != nil {
			a.WriteError(w, r, err)
			return
		}
		var body bytes.Buffer
		_ = encode(&body, out.Body) // a buffer accepts every write
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body.Bytes()) // an error means that the client is gone
	}))
}

func (u upload[T]) answer(w http.ResponseWriter, r *http.Request) (*Data[T], error) {
	began := clock.System().Now()
	file, err := u.read(w, r)
	if err == nil {
		err = recheckAfter(r.Context(), began)
	}
	if err != nil {
		return nil, err
	}
	if len(file) == 0 {
		return nil, fault.OnField(u.field, "validation.required")
	}
	return u.fn(r.Context(), file)
}

// read returns the file, nil where the body has none.
func (u upload[T]) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	contentType := r.Header.Get("Content-Type")
	if contentType == "" && r.ContentLength == 0 {
		return nil, nil
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "multipart/form-data" {
		return nil, errNotMultipart
	}
	if params["boundary"] == "" {
		return nil, errUnreadable
	}
	var file []byte
	parts := multipart.NewReader(http.MaxBytesReader(w, r.Body, u.maxBytes+multipartOverhead), params["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it bare at the end, and wrapped when the body is cut off
			return file, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if part.FormName() != u.field {
			continue
		}
		if file, err = io.ReadAll(io.LimitReader(part, u.maxBytes+1)); err != nil {
			return nil, unreadable(err)
		}
		if int64(len(file)) > u.maxBytes {
			return nil, errTooLarge
		}
	}
}

func unreadable(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge
	}
	return errUnreadable.Wrap(err)
}

func (u upload[T]) document(a *API, doc *huma.Operation) {
	doc.RequestBody = &huma.RequestBody{
		Required: true,
		Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type:       huma.TypeObject,
			Properties: map[string]*huma.Schema{u.field: {Type: huma.TypeString, Format: "binary"}},
			Required:   []string{u.field},
		}}},
	}
	answer := reflect.TypeFor[Data[T]]()
	body, _ := answer.FieldByName("Body")
	doc.Responses["200"] = &huma.Response{
		Description: http.StatusText(http.StatusOK),
		Content: map[string]*huma.MediaType{"application/json": {
			Schema: huma.SchemaFromField(a.huma.OpenAPI().Components.Schemas, body, answer.Name()+"Body"),
		}},
	}
}

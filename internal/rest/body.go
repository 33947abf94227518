package rest

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// maxBody is the maximum size of a JSON body, in bytes (rules: http#requests).
const maxBody = 1 << 20

// Time limits for receiving a JSON body (rules: http#requests), and the duration after which a body
// counts as slow.
const (
	bodyPause = 5 * time.Second // between two parts
	bodyTime  = 10 * time.Second
	slowBody  = 50 * time.Millisecond
)

// readBody returns the JSON body of a request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	began := clock.System().Now()
	control := http.NewResponseController(w)
	data, err := io.ReadAll(http.MaxBytesReader(w, &pacedBody{r.Body, control, began.Add(bodyTime)}, maxBody))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close") // The rest of the body must not be parsed as a request.
		return nil, errSlowBody.Wrap(err)
	case err != nil:
		return nil, bodyError(err)
	}
	_ = control.SetReadDeadline(time.Time{}) // Otherwise the deadline would cancel the handler's context.
	return data, recheckAfter(r.Context(), began)
}

// bodyError returns the response error for a body that cannot be read.
func bodyError(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge
	}
	return errUnreadable.Wrap(err)
}

// recheckAfter checks the caller's permissions again if receiving the body took long, because the
// guards ran before and a client can delay the body. A fast body costs no extra query.
func recheckAfter(ctx context.Context, began time.Time) error {
	if clock.System().Now().Sub(began) < slowBody {
		return nil
	}
	return authz.Recheck(ctx)
}

// pacedBody is a body with deadlines for its parts.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	end     time.Time
}

// Read reads the next part. If the connection does not support deadlines, the limits of the server
// apply.
func (b *pacedBody) Read(into []byte) (int, error) {
	deadline := clock.System().Now().Add(bodyPause)
	if deadline.After(b.end) {
		deadline = b.end
	}
	_ = b.control.SetReadDeadline(deadline)
	return b.ReadCloser.Read(into)
}

// multipartOverhead is how much larger than its file a multipart body can be, in bytes, to allow
// for boundaries, headers and other fields.
const multipartOverhead = 64 << 10

var errNotMultipart = fault.New(fault.Unsupported, "error.multipart_expected")

// Upload returns a handler for a function that takes one file. The file is a field of a
// multipart/form-data body and has at most maxBytes. A larger file is 413, another content type
// 415, and a missing or empty file 422 on the field. If a field is repeated, the last one counts.
// Other fields, the file name and its declared type are ignored.
func Upload[T any](field string, maxBytes int64, fn func(ctx context.Context, file []byte) (*Data[T], error)) Handler {
	return func(a *API, op *operation) serve {
		op.doc.Input = reference.Upload
		form := &shape.Schema{Type: shape.TypeObject}
		form.Add(field, true, &shape.Schema{Type: shape.TypeString, Format: "binary"})
		op.doc.RequestBody = &reference.Body{Required: true, Content: reference.Content{"multipart/form-data": {Schema: form}}}
		new(Data[T]).describe(a.registry, op)
		return func(w http.ResponseWriter, r *http.Request) error {
			began := clock.System().Now()
			file, err := readFile(w, r, field, maxBytes)
			if err == nil {
				err = recheckAfter(r.Context(), began)
			}
			if err != nil {
				return err
			}
			if len(file) == 0 {
				return fault.OnField(field, "validation.required")
			}
			out, err := fn(r.Context(), file)
			if err != nil {
				return err
			}
			return out.write(w, r, op.status)
		}
	}
}

// readFile returns the file in a field of a form, or nil if the body has none.
func readFile(w http.ResponseWriter, r *http.Request, field string, maxBytes int64) ([]byte, error) {
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
	parts := multipart.NewReader(http.MaxBytesReader(w, r.Body, maxBytes+multipartOverhead), params["boundary"])
	var file []byte
	for {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it bare at the end, and wrapped when the body is cut off
			return file, nil
		}
		if err != nil {
			return nil, bodyError(err)
		}
		if part.FormName() != field {
			continue
		}
		if file, err = io.ReadAll(io.LimitReader(part, maxBytes+1)); err != nil {
			return nil, bodyError(err)
		}
		if int64(len(file)) > maxBytes {
			return nil, errTooLarge
		}
	}
}

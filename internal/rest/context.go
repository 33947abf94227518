package rest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

// exchange is one request and its answer as huma sees them. The input is the normal
// form that bind made. The status is sent with the first byte of the body, so that an
// answer that cannot be encoded becomes a clean 500.
type exchange struct {
	humaContext
	in     input
	w      http.ResponseWriter
	status int
	sent   bool
}

// humaContext is an alias because the interface has a method with its own name.
type humaContext = huma.Context

func newExchange(op *huma.Operation, in input, w http.ResponseWriter, r *http.Request) *exchange {
	return &exchange{humaContext: humachi.NewContext(op, r, w), in: in, w: w}
}

// Query returns a parameter in normal form: its last value, or all values of a list.
func (e *exchange) Query(name string) string { return strings.Join(e.in.query[name], ",") }

// URL returns the URL with the query in normal form.
func (e *exchange) URL() url.URL {
	u := e.humaContext.URL()
	u.RawQuery = e.in.query.Encode()
	return u
}

// Header returns a header, for the Content-Type JSON: that is the normal form,
// whatever the caller declared.
func (e *exchange) Header(name string) string {
	if name == "Content-Type" {
		return "application/json"
	}
	return e.humaContext.Header(name)
}

func (e *exchange) BodyReader() io.Reader { return bytes.NewReader(e.in.body) }
func (e *exchange) SetStatus(code int)    { e.status = code }
func (e *exchange) Status() int           { return e.status }
func (e *exchange) BodyWriter() io.Writer { return e }

// SetReadDeadline does nothing: bind has read the body, and a deadline would end the
// handler's context.
func (e *exchange) SetReadDeadline(time.Time) error { return nil }

// Write sends a part of the body, and the status before the first.
func (e *exchange) Write(body []byte) (int, error) {
	e.finish()
	return e.w.Write(body)
}

// finish sends the status unless it was.
func (e *exchange) finish() {
	if !e.sent && e.status != 0 {
		e.sent = true
		e.w.WriteHeader(e.status)
	}
}

package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/clock"
)

// Blob is an answer that is a file instead of JSON.
type Blob struct {
	ContentType string
	Data        []byte
	// Stream, if given, is sent instead of Data and closed. Length is its length in
	// bytes, -1 when that is not known. If it fails halfway the connection is cut, so
	// that nobody takes half a file for a whole one.
	Stream io.ReadCloser
	Length int64
	// ETag is a strong tag without its quotes; "" is none.
	ETag string
	// CacheControl replaces no-store; "" leaves it.
	CacheControl string
	// Disposition is the Content-Disposition; "" is none.
	Disposition string
}

// File makes a function that returns a file the handler of a route. The file has one
// of the content types. With an ETag the answer is 304 to a client that has the file.
func File[I any](fn func(context.Context, *I) (*Blob, error), contentTypes ...string) Handler {
	return file[I]{fn: fn, contentTypes: contentTypes}
}

type file[I any] struct {
	fn           func(context.Context, *I) (*Blob, error)
	contentTypes []string
}

func (f file[I]) register(a *API, r Route) {
	op := &operation{route: r}
	doc := a.describe(op)
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	content := map[string]*huma.MediaType{}
	for _, contentType := range f.contentTypes {
		content[contentType] = &huma.MediaType{Schema: binary}
		if contentType == "application/json" {
			content[contentType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
		}
	}
	doc.Responses["200"] = success(http.StatusOK, content, "Content-Disposition")
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*written, error) {
		blob, err := f.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return a.send(ctx, blob)
	})
	compileInput[I](a, op)
}

func (b *Blob) write(ctx huma.Context) {
	for name, value := range map[string]string{"Cache-Control": b.CacheControl, "Content-Disposition": b.Disposition} {
		if value != "" {
			ctx.SetHeader(name, value)
		}
	}
	if b.ETag != "" {
		etag := `"` + b.ETag + `"`
		ctx.SetHeader("ETag", etag)
		if matches(ctx.Header("If-None-Match"), etag) {
			ctx.SetStatus(http.StatusNotModified)
			return
		}
	}
	ctx.SetHeader("Content-Type", b.ContentType)
	if b.Stream != nil {
		b.copy(ctx)
		return
	}
	ctx.SetHeader("Content-Length", strconv.Itoa(len(b.Data)))
	ctx.SetStatus(http.StatusOK)
	_, _ = ctx.BodyWriter().Write(b.Data) // an error means that the client is gone
}

func (b *Blob) copy(ctx huma.Context) {
	defer func() { _ = b.Stream.Close() }() // it was only read
	if b.Length < 0 {
		b.flow(ctx)
		return
	}
	ctx.SetHeader("Content-Length", strconv.FormatInt(b.Length, 10))
	ctx.SetStatus(http.StatusOK)
	if _, err := io.Copy(ctx.BodyWriter(), b.Stream); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// stalled is how long a client may take for one part of a long file.
const stalled = time.Minute

// flow sends a file of unknown length part by part. It may take longer than an answer otherwise
// may, as long as the client goes on reading.
func (b *Blob) flow(ctx huma.Context) {
	ctx.SetStatus(http.StatusOK)
	w := ctx.BodyWriter()
	var control *http.ResponseController
	if e, ok := w.(*exchange); ok {
		control = http.NewResponseController(e.w)
	}
	for part := make([]byte, 32<<10); ; {
		n, err := b.Stream.Read(part)
		if n > 0 {
			if control != nil { // an error means that the connection cannot do it, which is no harm
				_ = control.SetWriteDeadline(clock.System().Now().Add(stalled))
			}
			if _, err := w.Write(part[:n]); err != nil {
				panic(http.ErrAbortHandler)
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			_ = infoOf(ctx.Context()).api.problem(ctx.Context(), err) // which logs it: the caller only sees a cut
			panic(http.ErrAbortHandler)
		}
	}
}

// Attachment returns the Content-Disposition of a file that is saved under a name (RFC
// 6266). A name that is not plain ASCII stands in it in UTF-8, beside an
// approximation in ASCII. No name can break out of the header.
func Attachment(name string) string {
	var plain strings.Builder
	exact := true
	for _, c := range name {
		switch {
		case c < ' ' || c == 0x7f || c == '/' || c == '\\' || c == '"':
			plain.WriteByte('_')
			exact = false
		case c > 0x7e:
			plain.WriteByte('_')
			exact = false
		default:
			plain.WriteRune(c)
		}
	}
	header := `attachment; filename="` + plain.String() + `"`
	if !exact {
		header += "; filename*=UTF-8''" + percentEncoded(name)
	}
	return header
}

// percentEncoded returns the ext-value of a name (RFC 8187), with _ for characters
// that no file name may have.
func percentEncoded(name string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~"
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(name, "_") {
		if c < ' ' || c == 0x7f || c == '/' || c == '\\' {
			c = '_'
		}
		if c < 0x80 && strings.ContainsRune(plain, c) {
			b.WriteRune(c)
			continue
		}
		for _, octet := range []byte(string(c)) {
			fmt.Fprintf(&b, "%%%02X", octet)
		}
	}
	return b.String()
}

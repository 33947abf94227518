package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Blob is an answer that is a file and no JSON.
type Blob struct {
	ContentType string
	Data        []byte
	// ETag is a strong tag without its quotes; "" is none.
	ETag string
	// CacheControl replaces no-store; "" leaves it.
	CacheControl string
	// Disposition is the Content-Disposition; "" is none.
	Disposition string
}

// File makes a route's handler of a function that returns a file of one of the
// content types. With an ETag it answers 304 to whoever has the file already.
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
	}
	doc.Responses["200"] = &huma.Response{Description: http.StatusText(http.StatusOK), Content: content}
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*written, error) {
		blob, err := f.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return &written{Body: blob.write}, nil
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
	ctx.SetHeader("Content-Length", strconv.Itoa(len(b.Data)))
	ctx.SetStatus(http.StatusOK)
	_, _ = ctx.BodyWriter().Write(b.Data) // an error means that the client is gone
}

package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Stored is the answer {data: T}, encoded once and served many times. It is
// immutable.
type Stored[T any] struct {
	body    []byte
	length  string
	etag    string
	control string
}

// Store encodes {data: v} like any other answer. Clients and caches in between may
// keep it for maxAge, so it must not depend on the caller, except on the locale.
func Store[T any](v T, maxAge time.Duration) (*Stored[T], error) {
	var body bytes.Buffer
	if err := encode(&body, OK(v).Body); err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	sum := sha256.Sum256(body.Bytes())
	return &Stored[T]{
		body:    body.Bytes(),
		length:  strconv.Itoa(body.Len()),
		etag:    `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`,
		control: "public, max-age=" + strconv.Itoa(int(maxAge.Seconds())),
	}, nil
}

// Cached makes a function that returns stored answers the handler of a public route.
// It serves them with Cache-Control, a strong ETag and Vary: Accept-Language, and
// answers 304 to a client that has the answer.
func Cached[I, T any](fn func(context.Context, *I) (*Stored[T], error), options ...Option) Handler {
	return cached[I, T]{fn: fn, options: options}
}

type cached[I, T any] struct {
	fn      func(context.Context, *I) (*Stored[T], error)
	options []Option
}

// written is the form in which huma accepts an answer that writes itself.
type written struct {
	Body func(huma.Context)
}

func (c cached[I, T]) register(a *API, r Route) {
	op := &operation{route: r}
	for _, option := range c.options {
		option(op)
	}
	doc := a.describe(op)
	c.document(a, &doc)
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*written, error) {
		stored, err := c.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return &written{Body: stored.write}, nil
	})
	compileInput[I](a, op)
}

// document describes the body that huma cannot see.
func (c cached[I, T]) document(a *API, doc *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	headers := []string{"Cache-Control", "ETag", "Vary"}
	doc.Responses["200"] = success(http.StatusOK, map[string]*huma.MediaType{"application/json": {Schema: bodyOf[Data[T]](a)}}, headers...)
	doc.Responses["304"] = success(http.StatusNotModified, nil, headers...)
	doc.Parameters = append(doc.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Schema: text, Description: "The ETag of the answer that the caller has.",
	})
}

// bodyOf returns the schema of an answer's body.
func bodyOf[O any](a *API) *huma.Schema {
	answer := reflect.TypeFor[O]()
	body, _ := answer.FieldByName("Body")
	return huma.SchemaFromField(a.huma.OpenAPI().Components.Schemas, body, answer.Name()+"Body")
}

func (s *Stored[T]) write(ctx huma.Context) {
	// A public answer is public for callers who send credentials too: this replaces
	// no-store, which the middleware has set.
	ctx.SetHeader("Cache-Control", s.control)
	ctx.SetHeader("ETag", s.etag)
	ctx.AppendHeader("Vary", "Accept-Language")
	if matches(ctx.Header("If-None-Match"), s.etag) {
		ctx.SetStatus(http.StatusNotModified)
		return
	}
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetHeader("Content-Length", s.length)
	ctx.SetStatus(http.StatusOK)
	_, _ = ctx.BodyWriter().Write(s.body) // an error means that the client is gone
}

// matches reports whether an If-None-Match names etag. The comparison is weak, as RFC
// 9110 requires for this header: a cache that encoded the answer anew marks its tag
// with W/.
func matches(header, etag string) bool {
	if header == "" {
		return false
	}
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

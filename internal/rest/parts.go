package rest

import (
	"bytes"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/page"
)

// Listed is the answer of a list of T that is whole unless a page of it is asked for
// (rules: http#lists). Its body is that of page.Part[T].
type Listed[T any] struct{ blob Blob }

// Parts makes a function that returns a list, the whole or a page, the handler of a route.
func Parts[I, T any](fn func(context.Context, *I) (*Listed[T], error), options ...Option) Handler {
	return parts[I, T]{fn: fn, options: append(options, Lists(page.Spec{}))}
}

type parts[I, T any] struct {
	fn      func(context.Context, *I) (*Listed[T], error)
	options []Option
}

func (p parts[I, T]) register(a *API, r Route) {
	op := &operation{route: r}
	for _, option := range p.options {
		option(op)
	}
	doc := a.describe(op)
	doc.Responses["200"] = success(http.StatusOK, map[string]*huma.MediaType{"application/json": {
		Schema: bodyOf[Plain[page.Part[T]]](a),
	}})
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*written, error) {
		list, err := p.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return a.send(ctx, &list.blob)
	})
	compileInput[I](a, op)
}

// OnPage answers with a page of a list.
func OnPage[T any](p page.Page[T]) (*Listed[T], error) {
	var body bytes.Buffer
	if err := encode(&body, p); err != nil {
		return nil, err
	}
	return &Listed[T]{Blob{ContentType: "application/json", Data: body.Bytes()}}, nil
}

// Whole answers with a whole list, in the memory of one part of it however long it is. The
// first part is read at once, so
// that a list that cannot be read is an error like any other, and one that is no longer than
// that is sent as other answers are. Further parts are read when the client has taken those
// before, as Pages says: between two of them nothing of the database is held, however slow the
// client is. If one cannot be read the connection is cut, so that nobody takes what was sent
// for the whole.
func Whole[T any](ctx context.Context, next page.Next[T]) (*Listed[T], error) {
	separator := `{"data":[`
	list := &pages{ctx: context.WithoutCancel(ctx), more: true}
	list.next = func(ctx context.Context, b *bytes.Buffer) (bool, error) {
		part, more, err := next(ctx)
		if err != nil {
			return false, err
		}
		if len(part) > 0 {
			text, err := json.Marshal(part, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
			if err != nil {
				return false, err
			}
			b.WriteString(separator)
			b.Write(text[1 : len(text)-1]) // without its brackets
			separator = ","
		}
		if !more {
			if separator != "," {
				b.WriteString(separator)
			}
			b.WriteString("]}\n")
		}
		return more, nil
	}
	var err error
	if list.more, err = list.next(ctx, &list.page); err != nil {
		return nil, err
	}
	blob := Blob{ContentType: "application/json", Stream: list, Length: -1}
	if !list.more {
		blob.Stream, blob.Data = nil, list.page.Bytes()
	}
	return &Listed[T]{blob}, nil
}

package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Accepted makes a function the handler of a route that begins something: it is answered
// 202 with a message (a translation key), or 204 where the function reports that there was
// nothing to do.
func Accepted[I any](fn func(context.Context, *I) (begun bool, err error), message string) Handler {
	return accepted[I]{fn: fn, message: message}
}

type accepted[I any] struct {
	fn      func(context.Context, *I) (bool, error)
	message string
}

func (h accepted[I]) register(a *API, r Route) {
	op := &operation{route: r, status: http.StatusAccepted}
	doc := a.describe(op)
	doc.Responses["202"] = &huma.Response{
		Description: http.StatusText(http.StatusAccepted),
		Content: map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(
			reflect.TypeFor[Note](), true, "Note")}},
	}
	doc.Responses["204"] = &huma.Response{Description: http.StatusText(http.StatusNoContent)}
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*written, error) {
		begun, err := h.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return &written{Body: func(out huma.Context) {
			if !begun {
				out.SetStatus(http.StatusNoContent)
				return
			}
			out.SetHeader("Content-Type", "application/json")
			out.SetStatus(http.StatusAccepted)
			_ = encode(out.BodyWriter(), Note{Message: h.message})
		}}, nil
	})
	compileInput[I](a, op)
}

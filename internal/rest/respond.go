package rest

import "context"

// Data is the answer {data: …} with an optional message, which holds a
// translation key such as team.role_changed (rules: http#answers).
type Data[T any] struct {
	Body struct {
		Data    T      `json:"data"`
		Message string `json:"message,omitempty"`
	}
}

// OK answers {data: v}.
func OK[T any](v T) *Data[T] {
	out := new(Data[T])
	out.Body.Data = v
	return out
}

// OKMessage answers {data: v, message: key}.
func OKMessage[T any](v T, key string) *Data[T] {
	out := OK(v)
	out.Body.Message = key
	return out
}

// List answers {data: […]}; a nil slice is an empty list.
func List[T any](items []T) *Data[[]T] { return OK(items) }

// Plain is an answer without the data key (rules: http#answers).
type Plain[T any] struct {
	Body T
}

// Bare answers v as the whole body.
func Bare[T any](v T) *Plain[T] { return &Plain[T]{Body: v} }

// Empty is an answer without a body.
type Empty struct{}

// Note is an answer that only has a translation key, which says what was done.
type Note struct {
	Message string `json:"message"`
}

// Message answers {message: key}.
func Message(key string) *Plain[Note] { return Bare(Note{Message: key}) }

// Refusal is how one item of a request would have been answered by itself.
type Refusal struct {
	Status  int
	Code    string              // "" for none
	Message string              // in the locale of the request
	Errors  map[string][]string // of a validation; nil for none
}

// Explain returns the answer to a request that fails with err, and logs what would be
// logged for it. ctx is a handler's.
func Explain(ctx context.Context, err error) Refusal {
	p := infoOf(ctx).api.problem(ctx, err)
	r := Refusal{Status: p.status}
	r.Code, _ = p.body["code"].(string)
	r.Message, _ = p.body["message"].(string)
	r.Errors, _ = p.body["errors"].(map[string][]string)
	return r
}

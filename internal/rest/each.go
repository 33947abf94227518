package rest

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
)

// Each is an item of a list in a body whose items are judged one by one: what is
// wrong with one does not refuse the request, the handler says so beside what
// became of the others (see Explain). T is a struct.
type Each[T any] struct {
	Value T
	// Err is the refusal that the item would have had as a body of its own; then
	// Value is empty.
	Err error
}

// Schema describes the type to OpenAPI: an item is a T.
func (Each[T]) Schema(r huma.Registry) *huma.Schema { return valueSchema[T](r) }

func (Each[T]) item() reflect.Type { return reflect.TypeFor[T]() }

// eachValue tells the type inside an Each.
func eachValue(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Struct {
		if each, ok := reflect.Zero(t).Interface().(interface{ item() reflect.Type }); ok {
			return each.item(), true
		}
	}
	return nil, false
}

// checkAlone gives the normal form of an Each: that of its value, or the list of
// its broken fields, by their paths within the item.
func (v *validator) checkAlone(n *node, raw jsontext.Value) jsontext.Value {
	broken := fault.Fields{}
	alone := validator{broken: &broken, suspect: v.suspect}
	if raw.Kind() != '{' {
		return jsontext.Value("[]")
	}
	checked := alone.checkObject(n, raw, "")
	if len(broken) == 0 {
		return checked
	}
	text, _ := json.Marshal(broken) // texts and numbers
	return text
}

// UnmarshalJSON reads the normal form.
func (e *Each[T]) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		return jsonFormat().Unmarshal(data, &e.Value)
	}
	var broken fault.Fields
	if err := json.Unmarshal(data, &broken); err != nil {
		return err
	}
	if e.Err = broken.Err(); e.Err == nil {
		e.Err = errNotObject
	}
	return nil
}

// Refusal is the answer that a part of a request would have had alone.
type Refusal struct {
	Status  int
	Code    string              // "" for none
	Message string              // in the locale of the request
	Errors  map[string][]string // of a validation; nil for none
}

// Explain tells how err would be answered as the failure of a whole request. It
// also logs what would be logged then. ctx is a handler's.
func Explain(ctx context.Context, err error) Refusal {
	p := infoOf(ctx).api.problem(ctx, err)
	r := Refusal{Status: p.status}
	r.Code, _ = p.body["code"].(string)
	r.Message, _ = p.body["message"].(string)
	r.Errors, _ = p.body["errors"].(map[string][]string)
	return r
}

package shape

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// OneOf is one of several objects of an answer: the field of T that is not nil. T is a struct
// of pointers to structs.
type OneOf[T any] struct{ Is T }

// Schema describes the type to OpenAPI.
func (OneOf[T]) Schema(r huma.Registry) *huma.Schema {
	s := &huma.Schema{}
	for i, of := 0, reflect.TypeFor[T](); i < of.NumField(); i++ {
		s.OneOf = append(s.OneOf, r.Schema(of.Field(i).Type.Elem(), true, ""))
	}
	return s
}

// MarshalJSON writes the object.
func (o OneOf[T]) MarshalJSON() ([]byte, error) {
	v := reflect.ValueOf(o.Is)
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsNil() {
			return json.Marshal(field.Interface())
		}
	}
	return []byte("null"), nil
}

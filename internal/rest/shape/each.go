package shape

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
)

// ErrNotObject is the refusal of a body that is JSON, but no object.
var ErrNotObject = fault.New(fault.Invalid, "error.not_object")

// Each is an item of a list in a body whose items are judged one by one. An item
// with broken fields does not refuse the request: the handler gets its refusal
// and answers it beside the results of the other items. T is a struct.
type Each[T any] struct {
	Value T
	// Err is the refusal that the item would have had as a body of its own; then
	// Value is empty.
	Err error
}

// Schema describes the type to OpenAPI: an item is a T.
func (Each[T]) Schema(r huma.Registry) *huma.Schema { return valueSchema[T](r) }

func (Each[T]) item() reflect.Type { return reflect.TypeFor[T]() }

// eachValue returns the type inside an Each.
func eachValue(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Struct {
		if each, ok := reflect.Zero(t).Interface().(interface{ item() reflect.Type }); ok {
			return each.item(), true
		}
	}
	return nil, false
}

// checkIndependent returns the normal form of an Each: that of its value, or the
// list of its broken fields, with paths that begin at the item.
func (v *validator) checkIndependent(n *Rules, raw jsontext.Value) jsontext.Value {
	broken := fault.Fields{}
	own := validator{broken: &broken, suspect: v.suspect}
	if raw.Kind() != '{' {
		return jsontext.Value("[]")
	}
	checked := own.checkObject(n, raw, "")
	if len(broken) == 0 {
		return checked
	}
	text, _ := json.Marshal(broken) // texts and numbers
	return text
}

// UnmarshalJSON reads the normal form.
func (e *Each[T]) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		return Unmarshal(data, &e.Value)
	}
	broken, err := readBroken(data)
	if err != nil {
		return err
	}
	if e.Err = broken.Err(); e.Err == nil {
		e.Err = ErrNotObject
	}
	return nil
}

// readBroken reads the list of broken fields, with its numbers as messages take them.
func readBroken(data []byte) (fault.Fields, error) {
	var broken fault.Fields
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&broken); err != nil {
		return nil, err
	}
	for _, field := range broken {
		for name, value := range field.Args {
			number, ok := value.(json.Number)
			if !ok {
				continue
			}
			field.Args[name] = i18n.Digits(number)
			if n, err := number.Int64(); err == nil {
				field.Args[name] = n
			}
		}
	}
	return broken, nil
}

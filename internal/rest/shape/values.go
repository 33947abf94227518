package shape

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

// TimeLayout is how the API writes every datetime: UTC with exactly six
// fraction digits (rules: http#values).
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// Time is a datetime in requests and responses.
type Time time.Time

// T returns a time as the API writes it.
func T(t time.Time) Time { return Time(t) }

// TP returns a time that may be absent as the API writes it: null for nil.
func TP(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := Time(*t)
	return &at
}

// Std returns the time, in UTC and truncated to microseconds.
func (t Time) Std() time.Time { return time.Time(t).UTC().Truncate(time.Microsecond) }

// MarshalText writes six fraction digits.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, TimeLayout), nil
}

// UnmarshalText reads RFC 3339 with any fraction and zone.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := parseTime(string(text))
	*t = Time(parsed)
	return err
}

// Schema describes the type.
func (Time) Schema(*Registry) *Schema { return &Schema{Type: TypeString, Format: "date-time"} }

// parseTime reads RFC 3339, years 1 to 9999: what both databases can hold.
func parseTime(text string) (time.Time, error) {
	t, err := clock.ParseRFC3339(text)
	if err != nil {
		return time.Time{}, err
	}
	t = t.UTC().Truncate(time.Microsecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, fault.New(fault.Invalid, "validation.datetime")
	}
	return t, nil
}

// Opt is a field of a PATCH body: absent, null, or a value. It needs the tag
// option omitzero.
type Opt[T any] struct {
	Set   bool // the key was there
	Null  bool // with null
	Value T
}

// UnmarshalJSON records that the key was there, and its value.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	o.Set, o.Null = true, string(data) == "null"
	return json.Unmarshal(data, &o.Value)
}

// Schema describes the type: it is described like its value.
func (Opt[T]) Schema(r *Registry) *Schema { return r.Schema(reflect.TypeFor[T](), "") }

// Or returns the new value of a nullable field: the old one when the key was
// absent, nil when it was null.
func (o Opt[T]) Or(old *T) *T {
	switch {
	case !o.Set:
		return old
	case o.Null:
		return nil
	default:
		return &o.Value
	}
}

// OrValue returns the new value of a field that cannot be null.
func (o Opt[T]) OrValue(old T) T {
	if o.Set {
		return o.Value
	}
	return old
}

// Unmarshal decodes a value in normal form. Keys are case-sensitive.
func Unmarshal(data []byte, value any) error { return json.Unmarshal(data, value, lenient) }

// Object is a free-form JSON object, kept as the caller wrote it: metadata and
// settings.
type Object []byte

// MarshalJSON writes the object as it is; an empty one is null.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps a compact copy.
func (o *Object) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*o = nil
		return nil
	}
	value := jsontext.Value(bytes.Clone(data))
	if err := value.Compact(); err != nil {
		return err
	}
	*o = Object(value)
	return nil
}

// Schema describes the type.
func (Object) Schema(*Registry) *Schema { return &Schema{Type: TypeObject, IsFreeForm: true} }

// Quantity is an exact number of a request or response body: up to six
// decimals, at most 1e12 (rules: http#values).
type Quantity struct{ money.Quantity }

// Schema describes the type.
func (Quantity) Schema(*Registry) *Schema { return &Schema{Type: TypeNumber, Format: "quantity"} }

// Total is an exact sum of quantities of a response body: up to six decimals, at most
// 1e18 (rules: http#values).
type Total struct{ money.Total }

// Schema describes the type.
func (Total) Schema(*Registry) *Schema { return &Schema{Type: TypeNumber, Format: "quantity"} }

// UnitPrice is an exact price of a unit of usage in a request or response body,
// in minor units of a currency: up to twelve decimals, from 0 to 1e12.
type UnitPrice struct{ money.UnitPrice }

// Schema describes the type.
func (UnitPrice) Schema(*Registry) *Schema {
	least, most := 0.0, float64(money.MaxUnitPrice)
	return &Schema{Type: TypeNumber, Format: "unit-price", Minimum: &least, Maximum: &most}
}

// Texts is a translatable field of a new record: a text per supported locale,
// of which English is required (rules: http#translatable-fields). A locale that is
// null or empty is left out; one that is not supported is refused. Tags of the
// field, such as maxLength, are rules of each text.
type Texts map[string]*string

// TextsChange is a translatable field of a PATCH: it changes the locales that it
// names. Null or empty removes a locale, but English can only be replaced.
type TextsChange map[string]*string

// Schema describes the type.
func (Texts) Schema(*Registry) *Schema { return textsSchema(true) }

// Schema describes the type.
func (TextsChange) Schema(*Registry) *Schema { return textsSchema(false) }

// textsSchema describes a text per locale, English first.
func textsSchema(isNew bool) *Schema {
	s := &Schema{Type: TypeObject, IsClosed: true}
	for _, locale := range slices.Sorted(slices.Values(i18n.Locales())) {
		text := &Schema{Type: TypeString, Nullable: true, Description: "The text in this language."}
		if locale == i18n.Default {
			text.Nullable, text.MinLength = false, 1
		}
		s.Add(locale, isNew && locale == i18n.Default, text)
	}
	return s
}

// ErrNotFound is the refusal for what does not exist or belongs to another tenant.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// ParseID reads a UUID of a path in its one canonical form, in either case. The
// error for any other text is ErrNotFound (rules: http#errors).
func ParseID(text string) (uuid.UUID, error) {
	if len(text) != 36 {
		return uuid.Nil, ErrNotFound
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, ErrNotFound
	}
	return id, nil
}

// IntID reads an integer id of a path. The error for any other text is
// ErrNotFound.
func IntID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, ErrNotFound
	}
	return id, nil
}

// ErrNotObject is the refusal of a body that is JSON, but not an object.
var ErrNotObject = fault.New(fault.Invalid, "error.not_object")

// Item is an item of a list in a body whose items are validated one by one. An invalid item
// does not refuse the request: the handler gets its refusal and answers it next to the
// results of the other items. T is a struct.
type Item[T any] struct {
	Value T
	// Err is the refusal of the item as a body of its own; then Value is empty.
	Err error
}

// itemSchemas has the schemas of the types in an Item.
var itemSchemas sync.Map

// Schema describes the type: an item is a T.
func (Item[T]) Schema(r *Registry) *Schema {
	s := r.Schema(reflect.TypeFor[T](), "")
	if s.Type != TypeObject {
		panic("the values of an Item must be structs")
	}
	s.isItem = true
	itemSchemas.Store(reflect.TypeFor[T](), r.Components[s.Ref])
	return s
}

// UnmarshalJSON validates the item.
func (e *Item[T]) UnmarshalJSON(data []byte) error {
	raw := jsontext.Value(data)
	if raw.Kind() != '{' {
		e.Err = ErrNotObject
		return nil
	}
	schema, _ := itemSchemas.Load(reflect.TypeFor[T]())
	var broken fault.Fields
	normal := schema.(*Schema).Normalize(raw, &broken)
	if len(broken) > 0 {
		e.Err = broken.Err()
		return nil
	}
	return Unmarshal(normal, &e.Value)
}

// Union is one of several objects of an answer: the field of T that is not nil. T is a struct
// of pointers to structs.
type Union[T any] struct{ Is T }

// Schema describes the type.
func (Union[T]) Schema(r *Registry) *Schema {
	s := &Schema{}
	for field := range reflect.TypeFor[T]().Fields() {
		s.OneOf = append(s.OneOf, r.Schema(field.Type, ""))
	}
	return s
}

// MarshalJSON writes the object.
func (o Union[T]) MarshalJSON() ([]byte, error) {
	for _, field := range reflect.ValueOf(o.Is).Fields() {
		if !field.IsNil() {
			return json.Marshal(field.Interface())
		}
	}
	return []byte("null"), nil
}

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

// TimeLayout is the format of all datetimes in the API: UTC with exactly six fraction digits
// (rules: http#values).
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// Time is a datetime in requests and responses.
type Time time.Time

// T converts a time for the API.
func T(t time.Time) Time { return Time(t) }

// TP converts an optional time for the API. It returns nil for nil.
func TP(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := Time(*t)
	return &at
}

// Std returns the time in UTC, truncated to microseconds.
func (t Time) Std() time.Time { return time.Time(t).UTC().Truncate(time.Microsecond) }

// MarshalText writes the time with six fraction digits.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, TimeLayout), nil
}

// UnmarshalText parses RFC 3339 with any fraction and zone.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := parseTime(string(text))
	*t = Time(parsed)
	return err
}

// Schema returns the schema of the type.
func (Time) Schema(*Registry) *Schema { return &Schema{Type: TypeString, Format: "date-time"} }

// parseTime parses RFC 3339 with a year from 1 to 9999, which both databases support.
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
	Set   bool // the key was present
	Null  bool // the value was null
	Value T
}

// UnmarshalJSON records that the key was present, and its value.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	o.Set, o.Null = true, string(data) == "null"
	return json.Unmarshal(data, &o.Value)
}

// Schema returns the schema of the value.
func (Opt[T]) Schema(r *Registry) *Schema { return r.Schema(reflect.TypeFor[T](), "") }

// Or returns the new value of a nullable field: the old value if the key was absent, nil if it was
// null.
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

// Object is a free-form JSON object, kept as the caller wrote it, for metadata and settings.
type Object []byte

// MarshalJSON returns the object unchanged, or null if it is empty.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return o, nil
}

// UnmarshalJSON stores a compact copy.
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

// Schema returns the schema of the type.
func (Object) Schema(*Registry) *Schema { return &Schema{Type: TypeObject, IsFreeForm: true} }

// Quantity is an exact number in a request or response body: up to six decimals, at most 1e12
// (rules: http#values).
type Quantity struct{ money.Quantity }

// Schema returns the schema of the type.
func (Quantity) Schema(*Registry) *Schema { return &Schema{Type: TypeNumber, Format: "quantity"} }

// Total is an exact sum of quantities in a response body: up to six decimals, at most 1e18
// (rules: http#values).
type Total struct{ money.Total }

// Schema returns the schema of the type.
func (Total) Schema(*Registry) *Schema { return &Schema{Type: TypeNumber, Format: "quantity"} }

// UnitPrice is an exact price of a unit of usage in a request or response body, in minor units of a
// currency: up to twelve decimals, from 0 to 1e12.
type UnitPrice struct{ money.UnitPrice }

// Schema returns the schema of the type.
func (UnitPrice) Schema(*Registry) *Schema {
	least, most := 0.0, float64(money.MaxUnitPrice)
	return &Schema{Type: TypeNumber, Format: "unit-price", Minimum: &least, Maximum: &most}
}

// Texts is a translatable field of a new record: a text per supported locale. English is required
// (rules: http#translatable-fields). A null or empty locale is omitted; an unsupported locale is
// rejected. Tags of the field, such as maxLength, apply to each text.
type Texts map[string]*string

// TextsChange is a translatable field of a PATCH. It changes the locales that it contains. Null or
// empty removes a locale, but English can only be replaced.
type TextsChange map[string]*string

// Schema returns the schema of the type.
func (Texts) Schema(*Registry) *Schema { return textsSchema(true) }

// Schema returns the schema of the type.
func (TextsChange) Schema(*Registry) *Schema { return textsSchema(false) }

// textsSchema returns a schema with a text per locale.
func textsSchema(isNew bool) *Schema {
	s := &Schema{Type: TypeObject, IsClosed: true}
	for _, locale := range slices.Sorted(slices.Values(i18n.Locales())) {
		text := &Schema{Type: TypeString, Nullable: true, Description: "Text in this language. Null without a translation."}
		if locale == i18n.Default {
			text.Nullable, text.MinLength, text.Description = false, 1, "Text in English."
		}
		s.Add(locale, isNew && locale == i18n.Default, text)
	}
	return s
}

// ErrNotFound is the error for a record that does not exist or belongs to another tenant.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// ParseID parses a UUID in a path, in canonical form and either case. It returns ErrNotFound for
// any other text (rules: http#errors).
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

// IntID parses an integer ID in a path. It returns ErrNotFound for any other text.
func IntID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, ErrNotFound
	}
	return id, nil
}

// ErrNotObject is the error for a body that is JSON but not an object.
var ErrNotObject = fault.New(fault.Invalid, "error.not_object")

// Item is an item of a list whose items are validated individually. An invalid item does not reject
// the request. The handler gets the error of the item and returns it along with the results of the
// other items. T is a struct.
type Item[T any] struct {
	Value T
	// Err is the error of the item, validated as a separate body; Value is then empty.
	Err error
}

// itemSchemas holds the schemas of the types in Items.
var itemSchemas sync.Map

// Schema returns the schema of T.
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

// Union is one of several objects in a response: the field of T that is not nil. T is a struct of
// pointers to structs.
type Union[T any] struct{ Is T }

// Schema returns the schema of the type.
func (Union[T]) Schema(r *Registry) *Schema {
	s := &Schema{}
	for field := range reflect.TypeFor[T]().Fields() {
		s.OneOf = append(s.OneOf, r.Schema(field.Type, ""))
	}
	return s
}

// MarshalJSON encodes the object.
func (o Union[T]) MarshalJSON() ([]byte, error) {
	for _, field := range reflect.ValueOf(o.Is).Fields() {
		if !field.IsNil() {
			return json.Marshal(field.Interface())
		}
	}
	return []byte("null"), nil
}

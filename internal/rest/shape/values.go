package shape

import (
	"bytes"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
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

// Schema describes the type to OpenAPI.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

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

// UnmarshalJSON notes that the key was there, and its value.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// Schema describes the type to OpenAPI: it is that of its value.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema { return valueSchema[T](r) }

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
func Unmarshal(data []byte, value any) error { return json.Unmarshal(data, value) }

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

// Schema describes the type to OpenAPI.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// valueSchema describes T, a type argument, which huma cannot see by itself.
func valueSchema[T any](r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// Quantity is an exact number of a request or response body: up to six
// decimals, at most 1e12 (rules: http#values).
type Quantity struct{ money.Quantity }

// Schema describes the type to OpenAPI.
func (Quantity) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "quantity"}
}

// Total is an exact sum of quantities of a response body: up to six decimals, at most
// 1e18 (rules: http#values).
type Total struct{ money.Total }

// Schema describes the type to OpenAPI.
func (Total) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "quantity"}
}

// UnitPrice is an exact price of a unit of usage in a request or response body,
// in minor units of a currency: up to twelve decimals, from 0 to 1e12.
type UnitPrice struct{ money.UnitPrice }

// Schema describes the type to OpenAPI.
func (UnitPrice) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(money.MaxUnitPrice)
	return &huma.Schema{Type: huma.TypeNumber, Format: "unit-price", Minimum: &least, Maximum: &most}
}

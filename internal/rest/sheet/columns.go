package sheet

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/tenantry/tenantry/internal/money"
)

// column is a column of a list.
type column struct {
	path []string // keys from the entry to the value
	kind kind
}

func (c column) name() string { return strings.Join(c.path, ".") }

// kind is the kind of a column.
type kind uint8

const (
	plain       kind = iota
	amount           // an amount of money, without its currency
	amountList       // amounts of money, each with its currency
	currency         // the currency of the amounts
	ownCurrency      // the currency of the amount in the column before
)

// currencySuffix follows the name of an amount in the name of the column with its own currency.
const currencySuffix = "_currency"

// columnsOf returns the columns of an entry: its fields in the order of the API description. Objects
// are flattened; lists and free objects are left out, except lists of amounts. If an entry has
// amounts and no field with their currency, the currency precedes the first amount. An amount that can
// be in another currency has the tag sheet:"own_currency", which adds a column after it.
func columnsOf(entry reflect.Type) []column {
	columns := flatten(entry, nil)
	first := slices.IndexFunc(columns, func(c column) bool { return c.kind == amount })
	hasCurrency := slices.ContainsFunc(columns, func(c column) bool { return len(c.path) == 1 && c.path[0] == "currency" })
	if first >= 0 && !hasCurrency {
		columns = slices.Insert(columns, first, column{[]string{"currency"}, currency})
	}
	return columns
}

func flatten(t reflect.Type, path []string) []column {
	var columns []column
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if f.Anonymous && tag == "" {
			columns = append(columns, flatten(of, path)...)
			continue
		}
		at := append(slices.Clone(path), tag)
		switch {
		case of == reflect.TypeFor[money.Money]():
			columns = append(columns, column{at, amount})
			if f.Tag.Get("sheet") == "own_currency" {
				columns = append(columns, column{append(slices.Clone(path), tag+currencySuffix), ownCurrency})
			}
		case of == reflect.TypeFor[[]money.Money]():
			columns = append(columns, column{at, amountList})
		case of.Kind() == reflect.Slice, of.Kind() == reflect.Map:
		case of.Kind() == reflect.Struct && !isValue(of):
			columns = append(columns, flatten(of, at)...)
		default:
			columns = append(columns, column{at, plain})
		}
	}
	return columns
}

// isValue reports whether a type has its own representation in JSON.
func isValue(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.MarshalerTo]()) || p.Implements(reflect.TypeFor[stdjson.Marshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

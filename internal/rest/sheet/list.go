package sheet

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// Decimals returns the number of decimals of a currency, and whether it is known.
type Decimals func(ctx context.Context, code string) (decimals int, known bool, err error)

// List answers requests for a list with a page or with a CSV file of the whole list.
type List[V any] struct {
	Name     string // of the file, without extension
	Decimals Decimals
	// Read returns the entries of a query and the total number of entries. For an export, it returns
	// the next part (see page.Query.Export).
	Read func(ctx context.Context, q page.Query) ([]V, int64, error)
}

// Answer returns the response for a query. build makes the body of a page.
func Answer[V, B any](ctx context.Context, l List[V], q page.Query, build func(entries []V, total int64) (B, error)) (*rest.Body[B], error) {
	if asked, bom := q.CSV(); asked {
		part := q.Export()
		file := entryFile(ctx, l.Name, l.Decimals, bom, func(ctx context.Context) ([]V, bool, error) {
			entries, _, err := l.Read(ctx, part)
			return entries, part.More(), err
		})
		return new(rest.Body[B]).ReplaceWith(file), nil
	}
	entries, total, err := l.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	body, err := build(entries, total)
	return rest.NewBody(body), err
}

// Page returns the response for a query of a list whose body is a plain page. address is the absolute
// URL of the list.
func Page[V any](ctx context.Context, l List[V], q page.Query, address string) (*rest.Body[page.Page[V]], error) {
	return Answer(ctx, l, q, func(entries []V, total int64) (page.Page[V], error) {
		return page.New(q, address, entries, total), nil
	})
}

// amounts formats amounts of money.
type amounts struct {
	decimals Decimals
	known    map[string]int
}

// row returns the fields of an entry.
func (a amounts) row(ctx context.Context, columns []column, entry any) ([]string, error) {
	text, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	dec := stdjson.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return nil, err
	}
	fields := make([]string, len(columns))
	for i, c := range columns {
		if fields[i], err = a.field(ctx, c, columns, values); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func (a amounts) field(ctx context.Context, c column, all []column, values map[string]any) (string, error) {
	value := lookUp(values, c.path)
	switch c.kind {
	case amount:
		return a.format(ctx, value)
	case amountList:
		list, _ := value.([]any)
		texts := make([]string, len(list))
		for i, one := range list {
			text, err := a.format(ctx, one)
			if err != nil {
				return "", err
			}
			texts[i] = text + " " + currencyOf(one)
		}
		return strings.Join(texts, " "), nil
	case ownCurrency:
		path := slices.Clone(c.path)
		path[len(path)-1] = strings.TrimSuffix(path[len(path)-1], currencySuffix)
		return currencyOf(lookUp(values, path)), nil
	case currency:
		for _, other := range all {
			if other.kind == amount {
				if code := currencyOf(lookUp(values, other.path)); code != "" {
					return code, nil
				}
			}
		}
		return "", nil
	}
	switch v := value.(type) {
	case string:
		return Text(v), nil
	case stdjson.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", nil
}

// lookUp returns the value at a path of an object, or nil.
func lookUp(values map[string]any, path []string) any {
	for _, name := range path[:len(path)-1] {
		values, _ = values[name].(map[string]any)
	}
	return values[path[len(path)-1]]
}

func currencyOf(value any) string {
	object, _ := value.(map[string]any)
	code, _ := object["currency"].(string)
	return code
}

// format returns an amount of money as a decimal, or "" for null.
func (a amounts) format(ctx context.Context, value any) (string, error) {
	object, _ := value.(map[string]any)
	number, ok := object["amount_cents"].(stdjson.Number)
	if !ok {
		return "", nil
	}
	cents, err := number.Int64()
	if err != nil {
		return "", err
	}
	code := currencyOf(value)
	decimals, known := a.known[code]
	if !known {
		if decimals, known, err = a.decimals(ctx, code); err != nil {
			return "", err
		}
		if !known {
			decimals = 2
		}
		a.known[code] = decimals
	}
	return decimal(cents, decimals), nil
}

// decimal returns an amount in minor units as a decimal number.
func decimal(cents int64, decimals int) string {
	if decimals == 0 {
		return strconv.FormatInt(cents, 10)
	}
	digits, sign := strconv.FormatInt(cents, 10), ""
	if cents < 0 {
		digits, sign = digits[1:], "-"
	}
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - decimals
	return sign + digits[:at] + "." + digits[at:]
}

package sheet

import (
	"bytes"
	"context"
	"reflect"

	"github.com/tenantry/tenantry/internal/rest"
)

// wholePart is the number of entries that Whole formats at a time.
const wholePart = 500

// FromSlice returns a CSV file of entries that are in memory, with the columns of a List. name is the name
// of the file without extension.
func FromSlice[V any](ctx context.Context, name string, decimals Decimals, entries []V, bom bool) *rest.Blob {
	columns := columnsOf(reflect.TypeFor[V]())
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name()
	}
	a := amounts{decimals: decimals, known: map[string]int{}}
	return Rows(ctx, name, names, entries, bom, func(ctx context.Context, e V) ([]string, error) { return a.row(ctx, columns, e) })
}

// Rows returns a CSV file with a header and a row for each entry. row returns fields that are escaped
// already.
func Rows[V any](ctx context.Context, name string, header []string, entries []V, bom bool, row func(context.Context, V) ([]string, error)) *rest.Blob {
	var start bytes.Buffer
	if bom {
		start.WriteString(ByteOrderMark)
	}
	AppendRow(&start, header...)
	return &rest.Blob{
		ContentType: "text/csv; charset=utf-8", Length: -1, Disposition: rest.Attachment(name + ".csv"),
		Stream: rest.Pages(ctx, func(ctx context.Context, b *bytes.Buffer) (bool, error) {
			_, _ = start.WriteTo(b) // writing to a buffer never fails; later parts have no header
			part := entries[:min(wholePart, len(entries))]
			entries = entries[len(part):]
			for _, e := range part {
				fields, err := row(ctx, e)
				if err != nil {
					return false, err
				}
				AppendRow(b, fields...)
			}
			return len(entries) > 0, nil
		}),
	}
}

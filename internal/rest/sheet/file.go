package sheet

import (
	"bytes"
	"context"
	"reflect"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// FromSlice returns a CSV file of entries that are in memory, with the columns of a List. name is the name
// of the file without extension.
func FromSlice[V any](ctx context.Context, name string, decimals Decimals, entries []V, bom bool) *rest.Blob {
	return entryFile(ctx, name, decimals, bom, inParts(entries))
}

// Rows returns a CSV file with a header and a row for each entry. row returns fields that are escaped
// already.
func Rows[V any](ctx context.Context, name string, header []string, entries []V, bom bool, row func(context.Context, V) ([]string, error)) *rest.Blob {
	return file(ctx, name, header, bom, inParts(entries), row)
}

// inParts reads entries that are in memory.
func inParts[V any](entries []V) page.NextPart[V] {
	return func(context.Context) ([]V, bool, error) {
		part := entries[:min(page.PartSize, len(entries))]
		entries = entries[len(part):]
		return part, len(entries) > 0, nil
	}
}

// entryFile returns a CSV file with the columns of its entries (columnsOf).
func entryFile[V any](ctx context.Context, name string, decimals Decimals, bom bool, next page.NextPart[V]) *rest.Blob {
	columns := columnsOf(reflect.TypeFor[V]())
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name()
	}
	a := amounts{decimals: decimals, known: map[string]int{}}
	return file(ctx, name, names, bom, next, func(ctx context.Context, e V) ([]string, error) { return a.row(ctx, columns, e) })
}

func file[V any](ctx context.Context, name string, header []string, bom bool, next page.NextPart[V], row func(context.Context, V) ([]string, error)) *rest.Blob {
	var start bytes.Buffer
	if bom {
		start.WriteString(ByteOrderMark)
	}
	AppendRow(&start, header...)
	return &rest.Blob{
		ContentType: "text/csv; charset=utf-8", Length: -1, Disposition: rest.Attachment(name + ".csv"),
		Stream: rest.Pages(ctx, func(ctx context.Context, b *bytes.Buffer) (bool, error) {
			_, _ = start.WriteTo(b) // writing to a buffer never fails; later parts have no header
			entries, more, err := next(ctx)
			if err != nil {
				return false, err
			}
			for _, e := range entries {
				fields, err := row(ctx, e)
				if err != nil {
					return false, err
				}
				AppendRow(b, fields...)
			}
			return more, nil
		}),
	}
}

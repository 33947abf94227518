package page

import (
	"context"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MaxBytes is the maximum total size of the texts of a page in bytes. Encoding a page takes about
// five times as much memory.
const MaxBytes = 8 << 20

// Budget counts the bytes of a page's entries, so that a list of large entries is rejected during
// the read, before it fills the memory. The zero value is ready to use.
type Budget struct{ entries, bytes int64 }

// Add counts an entry. If the entry exceeds MaxBytes, Add returns a 422 error on per_page with the
// number of entries that fit. The first entry always fits, so that every stored entry can be read
// on its own.
func (b *Budget) Add(bytes int64) error {
	b.bytes += bytes
	if b.bytes > MaxBytes && b.entries > 0 {
		return tooLargeError(b.entries)
	}
	b.entries++
	return nil
}

type byteLimitKey struct{}

// byteLimit limits the size of the related records of a page, across all queries for them.
type byteLimit struct{ entries, bytes int64 }

// WithByteLimit returns a context in which FetchByIDs reads at most MaxBytes of texts in total, for
// the related records of a page with the given number of entries. It returns the same error as
// Budget. A page with a single entry is not limited.
func WithByteLimit(ctx context.Context, entries int) context.Context {
	return context.WithValue(ctx, byteLimitKey{}, &byteLimit{entries: int64(entries)})
}

func (b *byteLimit) add(bytes int64) error {
	if b == nil || b.entries <= 1 {
		return nil
	}
	if b.bytes += bytes; b.bytes > MaxBytes {
		return tooLargeError(b.entries / 2) // the exact number is unknown before everything is read
	}
	return nil
}

func tooLargeError(fitting int64) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "per_page", Message: "validation.page_bytes", Args: map[string]any{"max": fitting},
	}}}
}

// weigher is a row that counts the bytes of the texts scanned from it.
type weigher struct {
	row   Scanner
	bytes int64
}

// Scan implements Scanner.
func (w *weigher) Scan(dest ...any) error {
	if err := w.row.Scan(dest...); err != nil {
		return err
	}
	for _, d := range dest {
		w.bytes += size(d)
	}
	return nil
}

// size returns the size in bytes of the text that a column was scanned into.
func size(dest any) int64 {
	switch text := dest.(type) {
	case *string:
		return int64(len(*text))
	case **string:
		if *text != nil {
			return int64(len(**text))
		}
	case *sqldb.JSON:
		return int64(len(*text))
	case *[]byte:
		return int64(len(*text))
	}
	return 0
}

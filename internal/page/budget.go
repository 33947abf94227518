package page

import (
	"context"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MaxBytes is how large the texts of one page may be together, in bytes. Encoding a page
// takes some five times of that in memory.
const MaxBytes = 8 << 20

// Budget counts the bytes of a page's entries, so that a list of large entries is refused
// while it is read and not once it fills the memory. Its zero value is ready.
type Budget struct{ entries, bytes int64 }

// Add counts one more entry. Its error, a 422 on per_page that says how many entries fit,
// comes with the entry that is too much. The first entry always fits: what was stored can
// be read one by one.
func (b *Budget) Add(bytes int64) error {
	b.bytes += bytes
	if b.bytes > MaxBytes && b.entries > 0 {
		return tooLargeError(b.entries)
	}
	b.entries++
	return nil
}

type byteLimitKey struct{}

// byteLimit is what a page's related records may take, in all queries for them.
type byteLimit struct{ entries, bytes int64 }

// WithByteLimit returns a context in which Among reads at most MaxBytes of texts in all, for
// the records that come along with a page of some entries. More is refused as Budget says,
// but for a single entry.
func WithByteLimit(ctx context.Context, entries int) context.Context {
	return context.WithValue(ctx, byteLimitKey{}, &byteLimit{entries: int64(entries)})
}

func (b *byteLimit) add(bytes int64) error {
	if b == nil || b.entries <= 1 {
		return nil
	}
	if b.bytes += bytes; b.bytes > MaxBytes {
		return tooLargeError(b.entries / 2) // how many fit is not known before all is read
	}
	return nil
}

func tooLargeError(fitting int64) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "per_page", Message: "validation.page_bytes", Args: map[string]any{"max": fitting},
	}}}
}

// weigher is a row that counts the bytes of the texts that are read from it.
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

// size returns the bytes of the text that a column was read into.
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

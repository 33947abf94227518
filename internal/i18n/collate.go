package i18n

import "golang.org/x/text/collate"

// Collator puts names in the order of a locale: by letters, then by accents, without regard
// to case. It computes keys instead of leaving the order to the database, so that lists are
// the same on every database. It is not safe for concurrent use.
type Collator struct {
	order *collate.Collator
	keys  collate.Buffer
}

// NewCollator returns the order of a locale, or of the default for one that is not supported.
func NewCollator(locale string) *Collator {
	return &Collator{order: collate.New(NewFormatter(locale).tag, collate.IgnoreCase)}
}

// Key returns a key for a text. Keys compare byte by byte as the texts do in the locale; the
// keys of texts that differ only in case are equal.
func (c *Collator) Key(text string) []byte {
	defer c.keys.Reset()
	return append([]byte{}, c.order.KeyFromString(&c.keys, text)...)
}

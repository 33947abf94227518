package i18n

import "golang.org/x/text/collate"

// Collator sorts names by the rules of a locale: by letters, then by accents, ignoring case. It
// computes keys, so that the order does not depend on the database. It is not safe for concurrent
// use.
type Collator struct {
	order *collate.Collator
	keys  collate.Buffer
}

// NewCollator returns the Collator of a locale. An unsupported locale means the default.
func NewCollator(locale string) *Collator {
	return &Collator{order: collate.New(NewFormatter(locale).tag, collate.IgnoreCase)}
}

// Key returns a sort key for a text. Comparing keys byte by byte is equivalent to comparing the
// texts in the locale. Texts that differ only in case have equal keys.
func (c *Collator) Key(text string) []byte {
	defer c.keys.Reset()
	return append([]byte{}, c.order.KeyFromString(&c.keys, text)...)
}

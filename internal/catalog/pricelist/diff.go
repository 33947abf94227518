package pricelist

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Changes lists the changes that Apply made, one line each, for display: "+ plan team", "~ plan
// starter: prices.EUR 900 → 1200", "- feature sso".
type Changes []string

// Add records a new record.
func (c *Changes) Add(kind, key string) { *c = append(*c, "+ "+kind+" "+key) }

// Remove records a deleted record.
func (c *Changes) Remove(kind, key string) { *c = append(*c, "- "+kind+" "+key) }

// Differences lists the fields of a record that differ from the wanted values.
type Differences struct{ fields []string }

// IsEmpty reports whether all fields have the wanted values.
func (d *Differences) IsEmpty() bool { return len(d.fields) == 0 }

// Field compares two values of a field. "" means absent.
func (d *Differences) Field(name, old, wanted string) {
	if old != wanted {
		d.add(name, shortenText(old), shortenText(wanted))
	}
}

// add records a differing field with the displayed values.
func (d *Differences) add(name, old, wanted string) {
	d.fields = append(d.fields, name+" "+cmp.Or(old, "none")+" → "+cmp.Or(wanted, "none"))
}

// Text compares two human-readable texts, which are displayed in quotes.
func (d *Differences) Text(name, old, wanted string) {
	if old != wanted {
		d.add(name, quoteText(old), quoteText(wanted))
	}
}

// Bool compares two booleans.
func (d *Differences) Bool(name string, old, wanted bool) {
	d.Field(name, strconv.FormatBool(old), strconv.FormatBool(wanted))
}

// Link compares two IDs of the payment provider.
func (d *Differences) Link(name string, old, wanted *string) {
	d.Field(name+".psp_price_id", deref(old), deref(wanted))
}

func (d *Differences) locales(name string, old, wanted Text) {
	all := maps.Clone(old)
	if all == nil {
		all = Text{}
	}
	maps.Copy(all, wanted)
	for _, locale := range slices.Sorted(maps.Keys(all)) {
		d.Text(name+"."+locale, old[locale], wanted[locale])
	}
}

func (d *Differences) number(name string, old, wanted int32) {
	d.Field(name, strconv.Itoa(int(old)), strconv.Itoa(int(wanted)))
}

// Change records the differences and reports whether there are any.
func (c *Changes) Change(kind, key string, d Differences) bool {
	for _, field := range d.fields {
		*c = append(*c, "~ "+kind+" "+key+": "+field)
	}
	return !d.IsEmpty()
}

// maxShown is the maximum number of characters of a displayed text.
const maxShown = 60

func shortenText(text string) string {
	if utf8.RuneCountInString(text) > maxShown {
		return string([]rune(text)[:maxShown-1]) + "…"
	}
	return text
}

func quoteText(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(shortenText(text))
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

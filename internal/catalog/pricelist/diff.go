package pricelist

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Changes lists what Apply changed, one line each, for people: "+ plan team",
// "~ plan starter: prices.EUR 900 → 1200", "- feature sso".
type Changes []string

// Add notes a new record.
func (c *Changes) Add(kind, key string) { *c = append(*c, "+ "+kind+" "+key) }

// Remove notes a deleted record.
func (c *Changes) Remove(kind, key string) { *c = append(*c, "- "+kind+" "+key) }

// Differences lists the fields of a record that are not as they are wanted.
type Differences struct{ fields []string }

// IsEmpty reports whether the record is as it is wanted.
func (d *Differences) IsEmpty() bool { return len(d.fields) == 0 }

// Field compares two values of a field; "" stands for none.
func (d *Differences) Field(name, old, wanted string) {
	if old != wanted {
		d.add(name, shortenText(old), shortenText(wanted))
	}
}

// add notes a field with the two values as they are shown.
func (d *Differences) add(name, old, wanted string) {
	d.fields = append(d.fields, name+" "+cmp.Or(old, "none")+" → "+cmp.Or(wanted, "none"))
}

// Text compares two texts for people, which are shown in quotes.
func (d *Differences) Text(name, old, wanted string) {
	if old != wanted {
		d.add(name, quoteText(old), quoteText(wanted))
	}
}

// Bool compares two switches.
func (d *Differences) Bool(name string, old, wanted bool) {
	d.Field(name, strconv.FormatBool(old), strconv.FormatBool(wanted))
}

// Link compares two ids of the payment provider.
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

// Change notes what differs and reports whether anything does.
func (c *Changes) Change(kind, key string, d Differences) bool {
	for _, field := range d.fields {
		*c = append(*c, "~ "+kind+" "+key+": "+field)
	}
	return !d.IsEmpty()
}

// maxShown is how many characters of a text a line shows.
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

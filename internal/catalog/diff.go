package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Changes are what Apply has done, one line each, for people: "+ plan team",
// "~ plan starter: prices.EUR 900 → 1200", "- feature sso".
type Changes []string

// Add notes a record that is new.
func (c *Changes) Add(kind, key string) { *c = append(*c, "+ "+kind+" "+key) }

// Remove notes a record that is gone.
func (c *Changes) Remove(kind, key string) { *c = append(*c, "- "+kind+" "+key) }

// Differences are what differs between a record and what it is to be.
type Differences struct{ fields []string }

// None tells whether the record is what it is to be.
func (d *Differences) None() bool { return len(d.fields) == 0 }

// Field compares two forms of a field; "" is none.
func (d *Differences) Field(name, old, wanted string) {
	if old != wanted {
		d.add(name, short(old), short(wanted))
	}
}

// add notes a field with what is shown of it.
func (d *Differences) add(name, old, wanted string) {
	d.fields = append(d.fields, name+" "+cmp.Or(old, "none")+" → "+cmp.Or(wanted, "none"))
}

// Text compares two texts that people read, which are shown in quotes.
func (d *Differences) Text(name, old, wanted string) {
	if old != wanted {
		d.add(name, quoted(old), quoted(wanted))
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

// Change notes what differs, and tells whether anything does.
func (c *Changes) Change(kind, key string, d Differences) bool {
	for _, field := range d.fields {
		*c = append(*c, "~ "+kind+" "+key+": "+field)
	}
	return !d.None()
}

// maxShown is how much of a text a line shows, in characters.
const maxShown = 60

func short(text string) string {
	if utf8.RuneCountInString(text) > maxShown {
		return string([]rune(text)[:maxShown-1]) + "…"
	}
	return text
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(short(text))
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

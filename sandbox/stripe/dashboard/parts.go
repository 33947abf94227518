package dashboard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// listPart is a table with filters and pagination.
type listPart struct {
	Intro   string
	Chips   []chip
	Table   table
	Older   string // the URL of the next page, or ""
	Empty   string // the message for an empty table
	Example string // a command that creates an object
}

type chip struct {
	Text, Href string
	On         bool
}

// table is a table with linked rows.
type table struct {
	Columns []string
	Rows    []row
}

type row struct {
	Href  string
	Cells []cell
}

// cell is a value with an optional second line, status mark or initials.
type cell struct {
	Label, Text, Second string
	Mark                string // good, warn, bad, half or off
	Person, Hue         string
	Mono, Right, Strong bool
	When                *theme.Moment
}

// detailPart is the page of one object. Facts are on the left, related objects and events on the
// right.
type detailPart struct {
	ID, Note string
	Status   cell
	Actions  []action
	Facts    []fact
	Sections []section
	Happened []eventView
	Body     string // the object as JSON
	Open     bool   // whether the JSON is shown by default
}

// action is a link, or a form if Post is set.
type action struct {
	Text, Href string
	Post       bool
}

type fact struct {
	Label, Text, Href string
	Mono              bool
	When              *theme.Moment
}

type section struct {
	Title, Empty string
	Table        table
}

// eventView is an event in a timeline.
type eventView struct {
	Type, Href    string
	ObjectID      string // shortened
	About         string // the customer, or else the object
	AboutHref     string // the page of the object
	CustomerHref  string
	When          theme.Moment
	Mark, MarkSay string
}

// statusOf describes the status of a subscription.
func statusOf(sub *subscriptions.Subscription) cell {
	c := cell{Label: "Status", Mark: "good", Text: toWords(sub.Status)}
	switch sub.Status {
	case subscriptions.StatusPastDue, subscriptions.StatusUnpaid:
		c.Mark = "bad"
	case subscriptions.StatusIncomplete, subscriptions.StatusPaused:
		c.Mark = "warn"
	case subscriptions.StatusCanceled, subscriptions.StatusIncompleteExpired:
		c.Mark = "off"
	case subscriptions.StatusTrialing:
		c.Mark = "half"
	}
	switch {
	case sub.PendingUpdate != nil:
		c.Second = "change pending"
	case sub.CancelAt != nil && !sub.IsEnded():
		c.Mark, c.Second = "half", "ends "+form.Day(*sub.CancelAt)
	}
	return c
}

// invoiceStatus describes the status of an invoice.
func invoiceStatus(in *invoices.Invoice) cell {
	mark := map[string]string{
		invoices.StatusPaid: "good", invoices.StatusOpen: "warn", invoices.StatusDraft: "half", invoices.StatusVoid: "off", invoices.StatusUncollectible: "bad",
	}[in.Status]
	c := cell{Label: "Status", Text: toWords(in.Status), Mark: mark}
	if in.Status == invoices.StatusOpen && in.AttemptCount > 0 {
		c.Mark, c.Text = "bad", "Payment failed"
	}
	return c
}

// toWords turns a name such as past_due into words.
func toWords(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// money formats an amount in minor units.
func money(amount int64, code string) string {
	text, shown, _ := strings.Cut(form.FormatAmount(amount, code), " ")
	symbol, known := map[string]string{"EUR": "€", "USD": "$", "GBP": "£"}[shown]
	if !known {
		return text + " " + shown
	}
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return "−" + symbol + rest
	}
	return symbol + text
}

// initials returns one or two letters of a name and the class of their colour.
func initials(name, id string) (letters, hue string) {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(letters) < 2 {
			first, _ := utf8.DecodeRuneInString(word)
			letters += string(unicode.ToUpper(first))
		}
	}
	if letters == "" {
		letters = "?"
	}
	sum := 0
	for _, r := range id {
		sum += int(r)
	}
	return letters, "hue" + string(rune('0'+sum%6))
}

// hrefOf returns the URL of an object's page, or "" if the page does not exist.
func hrefOf(id string) string {
	for prefix, list := range map[string]string{"cus_": "/customers/", "sub_": "/subscriptions/", "in_": "/invoices/", "evt_": "/events/"} {
		if strings.HasPrefix(id, prefix) {
			return Path + list + id
		}
	}
	return ""
}

// shortID shortens an id.
func shortID(id string) string {
	if len(id) <= 18 {
		return id
	}
	return id[:10] + "…" + id[len(id)-4:]
}

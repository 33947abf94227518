// Package theme contains the shared parts of the sandbox's pages: a layout with navigation for
// developers, a layout without navigation for the provider's customers, a stylesheet and a content
// security policy (rules: sandbox#pages).
package theme

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
)

//go:embed layout.html
var layoutHTML string

//go:embed style.css
var styleCSS string

//go:embed script.js
var scriptJS string

// Shell returns a page with navigation. Its view embeds a Frame.
func Shell(html string, funcs template.FuncMap) *template.Template {
	return parse("shell", html, funcs)
}

// Card returns a page without navigation, for the provider's customers. Its view has a Title and
// embeds a Reader.
func Card(html string, funcs template.FuncMap) *template.Template { return parse("card", html, funcs) }

func parse(layout, html string, funcs template.FuncMap) *template.Template {
	t := template.Must(template.New("layouts").Funcs(funcs).Parse(layoutHTML))
	template.Must(t.New("page").Parse(html))
	return t.Lookup(layout)
}

// Policy returns a content security policy that allows only the stylesheet and script of this
// package and images from the origins of logos. Forms, including their redirects, can be sent only
// to formAction; if formAction is empty, they are not restricted.
func Policy(formAction string, logos ...string) string {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; img-src " + strings.Join(append([]string{"'self'", "data:"}, logos...), " ") +
		"; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
	if formAction != "" {
		policy += "; form-action " + formAction
	}
	return policy
}

// WriteWithAPI renders a page whose script calls the service.
func WriteWithAPI(w http.ResponseWriter, page *template.Template, view any) error {
	return write(w, http.StatusOK, page, Policy("'self'")+"; connect-src 'self'", view)
}

// Write renders a page, or returns the error. If the view embeds a Reader, images of its brand are
// allowed.
func Write(w http.ResponseWriter, status int, page *template.Template, formAction string, view any) error {
	var logos []string
	if of, ok := view.(interface{ Look() Brand }); ok {
		logos = of.Look().origins()
	}
	return write(w, status, page, Policy(formAction, logos...), view)
}

func write(w http.ResponseWriter, status int, page *template.Template, policy string, view any) error {
	var html bytes.Buffer
	if err := page.Execute(&html, view); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", policy)
	w.WriteHeader(status)
	_, _ = html.WriteTo(w) // an error means that the client has disconnected
	return nil
}

// Register serves the stylesheet and the script.
func Register(mux *http.ServeMux) {
	for path, file := range map[string]struct{ kind, text string }{
		"/sandbox/style.css": {"text/css; charset=utf-8", styleCSS},
		"/sandbox/script.js": {"text/javascript; charset=utf-8", scriptJS},
	} {
		mux.HandleFunc("GET "+path, asset(file.kind, file.text))
	}
}

// RegisterScript serves the script of a page.
func RegisterScript(mux *http.ServeMux, path, text string) {
	mux.HandleFunc("GET "+path, asset("text/javascript; charset=utf-8", text))
}

func asset(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write([]byte(text))
	}
}

// Frame is the data of the layout around a page.
type Frame struct {
	Title string
	Here  string // the current entry of the navigation
	Up    *Link  // the parent list; nil if the page itself is in the navigation
	Now   Moment
	Alone bool // whether the provider runs without the service
}

// Link is a hyperlink.
type Link struct{ Text, Href string }

// Group is a section of the navigation.
type Group struct {
	Name    string
	Entries []Entry
}

// Entry is a page in the navigation. If Bar is set, it is also in the navigation bar for phones,
// where its name is Word.
type Entry struct {
	Name, Href, Icon, Word string
	Bar                    bool
}

// Lang returns the language of the pages with navigation.
func (f Frame) Lang() string { return "en" }

// Nav returns the navigation.
func (f Frame) Nav() []Group {
	payments := Group{"Payments", []Entry{
		{"Overview", "/sandbox/dashboard", "card", "Payments", true},
		{"Customers", "/sandbox/dashboard/customers", "people", "Customers", false},
		{"Subscriptions", "/sandbox/dashboard/subscriptions", "cycle", "Subscriptions", false},
		{"Invoices", "/sandbox/dashboard/invoices", "bill", "Invoices", false},
		{"Events", "/sandbox/dashboard/events", "pulse", "Events", false},
		{"Coverage", "/sandbox/dashboard/coverage", "list", "Coverage", false},
	}}
	clock, chaos := Entry{"Clock", "/sandbox/clock", "clock", "Clock", true}, Entry{"Chaos", "/sandbox/chaos", "chaos", "Chaos", f.Alone}
	if f.Alone {
		return []Group{payments, {"Sandbox", []Entry{clock, chaos}}}
	}
	return []Group{{"Sandbox", []Entry{
		{"Start", "/sandbox", "home", "Start", true},
		{"Mail", "/sandbox/mail", "mail", "Mail", true},
		clock,
		{"Webhooks", "/sandbox/hooks", "hook", "Webhooks", true},
		{"Sign-in", "/sandbox/idp", "key", "Sign-in", false},
		{"Authenticator", "/sandbox/authenticator", "lock", "Authenticator", false},
		chaos,
	}}, payments}
}

// PaymentPages returns the entries of the group Payments if the current page belongs to it, or nil.
// The navigation bar for phones has only one of these entries.
func (f Frame) PaymentPages() []Entry {
	for _, g := range f.Nav() {
		for _, e := range g.Entries {
			if e.Name == f.Here && g.Name == "Payments" {
				return g.Entries
			}
		}
	}
	return nil
}

// Moment is a time for display: relative within a week, otherwise a date.
type Moment struct{ Text, Exact, ISO string }

// DescribeTime describes a time relative to now.
func DescribeTime(t, now time.Time) Moment {
	t = t.UTC()
	m := Moment{Exact: t.Format("2 January 2006, 15:04:05") + " UTC", ISO: t.Format(time.RFC3339)}
	distance, suffix, prefix := int64(now.Sub(t)/time.Second), " ago", ""
	if distance < 0 {
		distance, suffix, prefix = -distance, "", "in "
	}
	switch {
	case distance < 5:
		m.Text = "now"
	case distance < 60:
		m.Text = fmt.Sprintf("%s%d s%s", prefix, distance, suffix)
	case distance < 60*60:
		m.Text = fmt.Sprintf("%s%d min%s", prefix, distance/60, suffix)
	case distance < 24*60*60:
		m.Text = fmt.Sprintf("%s%d h%s", prefix, distance/60/60, suffix)
	case distance < 2*24*60*60:
		m.Text = prefix + "1 day" + suffix
	case distance < 7*24*60*60:
		m.Text = fmt.Sprintf("%s%d days%s", prefix, distance/24/60/60, suffix)
	default:
		m.Text = t.Format("2 Jan 2006")
	}
	return m
}

// ScheduledAction is a scheduled action.
type ScheduledAction struct {
	Kind              string // machine-readable, such as subscription.period_ends
	What, About, Href string // Href is the page of the object, or ""
	At                time.Time
	Renews            bool // whether a period ends
}

// Event is an event of the payment provider.
type Event struct {
	ID, Type string
	At       time.Time
	Waiting  int // the number of receivers that have not accepted it
}

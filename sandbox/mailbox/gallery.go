package mailbox

import (
	"context"
	_ "embed"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed gallery.html
var galleryPage string

// Kind is a kind of mail that the service sends.
type Kind struct{ Name, About string }

// Gallery shows every kind of mail with sample data.
type Gallery struct {
	Kinds   []Kind
	Locales []string
	// Render builds a mail. values is typical, sparse (without optional values) or long (long names).
	Render func(ctx context.Context, name, locale, values string) (Message, error)
	Clock  clock.Clock
}

// The choices of the page. The first of each list is the default.
var (
	galleryValues  = []string{"typical", "sparse", "long"}
	galleryFormats = []string{"html", "text"}
	galleryThemes  = []string{"light", "dark"}
	galleryWidths  = []string{"600", "320"}
)

// Register serves the page /sandbox/mails and the mails below it.
func (g Gallery) Register(mux *http.ServeMux) {
	tmpl := theme.Shell(galleryPage, template.FuncMap{"links": links})
	mux.HandleFunc("GET /sandbox/mails", func(w http.ResponseWriter, r *http.Request) { g.show(w, r, tmpl) })
	mux.HandleFunc("GET /sandbox/mails/html", g.showHTML)
}

// sample is a selected mail and its presentation.
type sample struct{ Mail, Locale, Values, Format, Theme, Width string }

// read returns the selection of a request. Unknown choices count as the defaults.
func (g Gallery) read(r *http.Request) sample {
	var names []string
	for _, k := range g.Kinds {
		names = append(names, k.Name)
	}
	choose := func(field string, from []string) string {
		if v := r.FormValue(field); slices.Contains(from, v) {
			return v
		}
		return from[0]
	}
	return sample{
		choose("mail", names), choose("locale", g.Locales), choose("values", galleryValues),
		choose("format", galleryFormats), choose("theme", galleryThemes), choose("width", galleryWidths),
	}
}

// query returns the selection as a query.
func (s sample) query() string {
	return url.Values{
		"mail": {s.Mail}, "locale": {s.Locale}, "values": {s.Values}, "format": {s.Format}, "theme": {s.Theme}, "width": {s.Width},
	}.Encode()
}

// choice is a link that changes one part of the selection.
type choice struct {
	Text, Href string
	Chosen     bool
}

func (s sample) choices(from []string, field func(*sample) *string) []choice {
	var all []choice
	for _, v := range from {
		next := s
		*field(&next) = v
		all = append(all, choice{v, "/sandbox/mails?" + next.query(), *field(&s) == v})
	}
	return all
}

// galleryView is the data of the page's template.
type galleryView struct {
	theme.Frame

	Kinds                                    []galleryKind
	Locales, Values, Formats, Themes, Widths []choice
	Shown                                    Message
	Selected                                 sample
	Frameable                                string // path of the mail's HTML
}

type galleryKind struct {
	Kind
	choice
}

func (g Gallery) show(w http.ResponseWriter, r *http.Request, tmpl *template.Template) {
	s, now := g.read(r), g.Clock.Now()
	m, err := g.Render(r.Context(), s.Mail, s.Locale, s.Values)
	if err != nil {
		fail(w, err)
		return
	}
	v := galleryView{
		Frame: theme.Frame{Title: "Templates", Here: "Mail", Up: &theme.Link{Text: "Mail", Href: "/sandbox/mail"}, Now: theme.DescribeTime(now, now)},
		Shown: m, Selected: s, Frameable: "/sandbox/mails/html?" + s.query(),
		Locales: s.choices(g.Locales, func(s *sample) *string { return &s.Locale }),
		Values:  s.choices(galleryValues, func(s *sample) *string { return &s.Values }),
		Formats: s.choices(galleryFormats, func(s *sample) *string { return &s.Format }),
		Themes:  s.choices(galleryThemes, func(s *sample) *string { return &s.Theme }),
		Widths:  s.choices(galleryWidths, func(s *sample) *string { return &s.Width }),
	}
	for _, k := range g.Kinds {
		v.Kinds = append(v.Kinds, galleryKind{k, s.choices([]string{k.Name}, func(s *sample) *string { return &s.Mail })[0]})
	}
	if err := theme.Write(w, http.StatusOK, tmpl, "'none'", v); err != nil {
		fail(w, err)
	}
}

// showHTML responds with the HTML of a mail in the selected theme, regardless of the browser's
// theme.
func (g Gallery) showHTML(w http.ResponseWriter, r *http.Request) {
	s := g.read(r)
	m, err := g.Render(r.Context(), s.Mail, s.Locale, s.Values)
	if err != nil {
		fail(w, err)
		return
	}
	media := "not all"
	if s.Theme == "dark" {
		media = "all"
	}
	html := strings.NewReplacer(
		"(prefers-color-scheme: dark)", media, "color-scheme: light dark", "color-scheme: "+s.Theme, "<head>", `<head><base target="_blank">`,
	).Replace(m.HTML)
	writeFramed(w)
	_, _ = io.WriteString(w, html)
}

package letters

import (
	"embed"
	htmltemplate "html/template"
	"maps"
	"strings"
	texttemplate "text/template"

	"github.com/tenantry/tenantry/internal/i18n"
)

//go:embed layout.html layout.txt
var layoutFiles embed.FS

// layout is the form that all letters share.
type layout struct {
	html *htmltemplate.Template
	text *texttemplate.Template
}

func loadLayout() (layout, error) {
	html, err := htmltemplate.New("layout.html").Funcs(htmltemplate.FuncMap{"whole": whole}).ParseFS(layoutFiles, "layout.html")
	if err != nil {
		return layout{}, err
	}
	text, err := texttemplate.ParseFS(layoutFiles, "layout.txt")
	return layout{html: html, text: text}, err
}

// whole keeps a line from ending inside "e-mail".
func whole(text string) string { return strings.ReplaceAll(text, "e-mail", "e\u2011mail") }

// page is what the layout shows: plain texts, which the HTML template escapes.
type page struct {
	Lang     string
	Subject  string
	Heading  string // the subject, fit for the body
	Body     []string
	Facts    []fact
	Action   string
	Link     string
	After    []string
	Fallback string
	Footer   string
}

func (l layout) render(in *locale, app string, m letter) (text, html string, err error) {
	values := m.values(app, func(typed string) string { return unlinked(clean(typed, maxInBody)) })
	t := in.Letters[m.key]
	p := page{
		Lang: in.name, Subject: subject(in, app, m), Heading: i18n.Fill(t.Subject, values), Body: fillAll(t.Body, values),
		Action: i18n.Fill(t.Action, values), Link: m.link, After: fillAll(t.After, values), Fallback: in.Fallback, Footer: i18n.Fill(in.Footer, values),
	}
	for _, f := range t.Facts {
		if value := strings.TrimSpace(i18n.Fill(f.Value, values)); value != "" {
			p.Facts = append(p.Facts, fact{Label: f.Label, Value: value})
		}
	}
	var textOut, htmlOut strings.Builder
	if err := l.text.Execute(&textOut, p); err != nil {
		return "", "", err
	}
	if err := l.html.Execute(&htmlOut, p); err != nil {
		return "", "", err
	}
	return textOut.String(), htmlOut.String(), nil
}

// subject returns the subject of a letter, in which typed texts have no line breaks, and
// only administrators have typed them (rules: mail#letters).
func subject(in *locale, app string, m letter) string {
	m.theirs = nil
	return i18n.Fill(in.Letters[m.key].Subject, m.values(app, func(typed string) string { return clean(typed, maxInSubject) }))
}

// values returns all variables of a letter; tame is applied to those that somebody has
// typed.
func (m letter) values(app string, tame func(string) string) map[string]string {
	values := map[string]string{"app": clean(app, maxInBody)}
	maps.Copy(values, m.ours)
	for _, typed := range []map[string]string{m.admins, m.theirs} {
		for name, text := range typed {
			values[name] = tame(text)
		}
	}
	return values
}

func fillAll(paragraphs []string, values map[string]string) []string {
	filled := make([]string, len(paragraphs))
	for i, paragraph := range paragraphs {
		filled[i] = i18n.Fill(paragraph, values)
	}
	return filled
}

package letters

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"maps"
	"slices"
	"strings"
	texttemplate "text/template"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
)

//go:embed layout.html layout.txt
var layoutFiles embed.FS

// forms are the templates of a mail. A nil template stands for the built-in one.
type forms struct{ html, text, subject *template }

// template is a text/template or an html/template.
type template struct {
	path string // of the file
	exec interface {
		Execute(w io.Writer, data any) error
	}
}

// loadLayout returns the templates that all letters share. Built-in subjects are texts, not
// templates.
func loadLayout() (forms, error) {
	var f forms
	for name, form := range map[string]**template{"layout.html": &f.html, "layout.txt": &f.text} {
		content, err := layoutFiles.ReadFile(name)
		if err != nil {
			return f, err
		}
		if *form, err = parse(name, name, string(content)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// parse parses a template, whose name suffix selects the kind. A reference to an undefined variable
// is an execution error.
func parse(path, name, content string) (*template, error) {
	funcs := map[string]any{"whole": keepUnbroken}
	if strings.HasSuffix(name, ".html") {
		t, err := htmltemplate.New(name).Funcs(funcs).Option("missingkey=error").Parse(content)
		return &template{path, t}, err
	}
	t, err := texttemplate.New(name).Funcs(funcs).Option("missingkey=error").Parse(content)
	return &template{path, t}, err
}

// keepUnbroken prevents a line break inside "e-mail".
func keepUnbroken(text string) string { return strings.ReplaceAll(text, "e-mail", "e\u2011mail") }

// maxForm is the maximum output of a template in bytes. Mail programs truncate much shorter mails.
const maxForm = 512 << 10

var (
	errTooLong = fmt.Errorf("is larger than %d KiB when rendered", maxForm>>10)
	errBlank   = errors.New("is empty when rendered")
)

// boundedText is a text builder that fails if the text becomes too long.
type boundedText struct{ strings.Builder }

func (b *boundedText) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxForm {
		return 0, errTooLong
	}
	return b.Builder.Write(p)
}

func (t *template) write(data map[string]any) (string, error) {
	var out boundedText
	err := t.exec.Execute(&out, data)
	if err == nil && strings.TrimSpace(out.String()) == "" {
		err = errBlank
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", t.path, err)
	}
	return out.String(), nil
}

// compose builds a mail with the templates in own. It uses the built-in templates for missing ones.
func (l *Letters) compose(in *locale, m letter, own forms) (mail.Message, error) {
	data, err := l.page(in, m, own.subject)
	if err != nil {
		return mail.Message{}, err
	}
	if own.text == nil {
		own.text = l.layout.text
	}
	if own.html == nil {
		own.html = l.layout.html
	}
	out := mail.Message{To: m.to, Subject: data["subject"].(string)}
	if l.config.Practice {
		out.Subject = "[" + in.Practice + "] " + out.Subject
	}
	if out.Text, err = own.text.write(data); err != nil {
		return out, err
	}
	out.HTML, err = own.html.write(data)
	out.Attachments = m.files
	return out, err
}

// escapeBody prepares user input for the body of a mail, escapeSubject for its subject.
func escapeBody(typed string) string    { return breakLinks(sanitizeLine(typed, maxInBody)) }
func escapeSubject(typed string) string { return sanitizeLine(typed, maxInSubject) }

// page returns the variables of the body templates. They are plain texts, which HTML templates
// escape (see Variables).
func (l *Letters) page(in *locale, m letter, ownSubject *template) (map[string]any, error) {
	values, t := m.values(l.config.Brand.App(), escapeBody), in.Letters[m.key]
	subject, heading, err := l.subject(in, m, ownSubject)
	if err != nil {
		return nil, err
	}
	facts := []map[string]string{}
	for _, f := range t.Facts {
		if value := strings.TrimSpace(i18n.Fill(f.Value, values)); value != "" {
			facts = append(facts, map[string]string{"label": f.Label, "value": value})
		}
	}
	body, action := slices.Concat(t.Body, t.Password), t.Action
	switch {
	case m.paying:
		action = t.Pay
	case l.config.Passwordless && t.Passwordless != nil:
		body, action = slices.Concat(t.Body, t.Passwordless), in.SignIn
	}
	if t.Heading != "" && ownSubject == nil {
		heading = i18n.Fill(t.Heading, values)
	}
	light, dark := l.config.Brand.Colors()
	data := map[string]any{
		"lang": in.name, "subject": subject, "heading": heading, "body": fillAll(body, values), "facts": facts,
		"action": i18n.Fill(action, values), "link": m.link, "after": fillAll(t.After, values), "fallback": in.Fallback,
		"footer": i18n.Fill(in.Footer, values),
		"logo":   l.config.Brand.Logo.Address(l.config.PublicURL), "accent": light, "accent_dark": dark,
		"support_email": l.config.Brand.SupportEmail, "support_label": in.Support,
		"terms_url": l.config.Brand.TermsURL, "terms_label": in.Terms,
		"privacy_url": l.config.Brand.PrivacyURL, "privacy_label": in.Privacy,
	}
	for name, value := range values {
		data[name] = value
	}
	return data, nil
}

// maxSubject is the maximum length of a custom subject in characters.
const maxSubject = 200

// subject returns the subject of a letter, and the heading, which is the same text prepared for the
// body. The subject contains no line breaks and no text from users other than platform admins
// (rules: mail#letters).
func (l *Letters) subject(in *locale, m letter, own *template) (subject, heading string, err error) {
	body := m.values(l.config.Brand.App(), escapeBody)
	m.theirs, m.addresses = nil, nil
	line := m.values(l.config.Brand.App(), escapeSubject)
	if own == nil {
		text := in.Letters[m.key].Subject
		return i18n.Fill(text, line), i18n.Fill(text, body), nil
	}
	if subject, err = own.subject(in.name, line); err == nil {
		heading, err = own.subject(in.name, m.values(l.config.Brand.App(), escapeBody))
	}
	return subject, heading, err
}

// subject executes a subject template.
func (t *template) subject(lang string, values map[string]string) (string, error) {
	data := map[string]any{"lang": lang}
	for name, value := range values {
		data[name] = value
	}
	text, err := t.write(data)
	if text = strings.TrimSpace(text); err != nil {
		return "", err
	}
	if sanitizeLine(text, maxSubject) != strings.Join(strings.Fields(text), " ") || strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s: must be one line of at most %d characters when rendered", t.path, maxSubject)
	}
	return text, nil
}

// values returns all variables of a letter, with tame applied to user input.
func (m letter) values(app string, tame func(string) string) map[string]string {
	values := map[string]string{"app": app}
	maps.Copy(values, m.ours)
	maps.Copy(values, m.addresses)
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

package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
)

// ListMails writes the mails that the service sends, one per line or as JSON.
func ListMails(out io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"mails": letters.Mails(), "common": letters.CommonVariables()})
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range letters.Mails() {
		var names []string
		for _, v := range m.Variables {
			names = append(names, v.Name)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.About, strings.Join(names, ", "))
	}
	return w.Flush()
}

// MailPreview selects a mail and its format.
type MailPreview struct {
	Name   string
	Locale string
	Format string // html, text or subject
}

// PreviewMail writes a mail with sample data. For an unknown name, locale or format it returns
// settings errors that list the valid values.
func PreviewMail(ctx context.Context, s settings.Settings, m MailPreview, out io.Writer) error {
	var wrong []error
	if err := letters.CheckName(m.Name); err != nil {
		wrong = append(wrong, &settings.Error{Name: "<name>", Reason: err.Error()})
	}
	if !slices.Contains(i18n.Locales(), m.Locale) {
		wrong = append(wrong, &settings.Error{
			Name: "--locale", Reason: fmt.Sprintf("unknown locale %q; supported locales: %s", m.Locale, strings.Join(i18n.Locales(), ", ")),
		})
	}
	if !slices.Contains([]string{"html", "text", "subject"}, m.Format) {
		wrong = append(wrong, &settings.Error{Name: "--format", Reason: fmt.Sprintf("%q must be html, text or subject", m.Format)})
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	l, err := letters.New(letters.Config{
		FrontendURL: s.FrontendURL.String(), Paths: s.FrontendPaths, PublicURL: s.PublicURL.String(), Brand: s.Brand, Templates: s.Templates, Clock: clock.System(),
		Passwordless: !s.AllowsLogin(settings.PasswordLogin),
	})
	if err != nil {
		return err
	}
	message, err := l.Preview(ctx, m.Name, m.Locale)
	if err != nil {
		return err
	}
	text := map[string]string{"html": message.HTML, "text": message.Text, "subject": message.Subject}[m.Format]
	_, err = fmt.Fprintln(out, strings.TrimRight(text, "\n"))
	return err
}

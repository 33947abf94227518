package commands_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
)

func TestListMails(t *testing.T) {
	t.Parallel()
	var text, asJSON bytes.Buffer
	if err := errors.Join(commands.ListMails(&text, false), commands.ListMails(&asJSON, true)); err != nil {
		t.Fatal(err)
	}
	type variable struct {
		Name, About string
		InSubject   *bool `json:"in_subject"`
	}
	var list struct {
		Mails []struct {
			Name, About string
			Variables   []variable
		}
		Common []variable
	}
	if err := json.Unmarshal(asJSON.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != len(list.Mails) || len(list.Mails) != len(letters.Mails()) || len(list.Common) != len(letters.CommonVariables()) {
		t.Fatalf("%d lines, %d mails\n%s", len(lines), len(list.Mails), &asJSON)
	}
	for i, m := range list.Mails {
		names := []string{}
		for _, v := range m.Variables {
			names = append(names, v.Name)
			if v.Name == "" || v.About == "" || v.InSubject == nil {
				t.Errorf("%s: %+v", m.Name, v)
			}
		}
		if !strings.HasPrefix(lines[i], m.Name+" ") || !strings.Contains(lines[i], "  "+m.About+"  ") || !strings.HasSuffix(lines[i], "  "+strings.Join(names, ", ")) {
			t.Errorf("%q is not %+v", lines[i], m)
		}
	}
}

// Every mail has every format in every language.
func TestPreviewMail(t *testing.T) {
	t.Parallel()
	s, err := settings.MailFlags{}.Settings()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, m := range letters.Mails() {
		for _, locale := range i18n.Locales() {
			for format, mark := range map[string]string{"html": `<html lang="` + locale + `">`, "text": "\n-- \n", "subject": ""} {
				var out bytes.Buffer
				if err := commands.PreviewMail(t.Context(), s, commands.MailPreview{Name: m.Name, Locale: locale, Format: format}, &out); err != nil {
					t.Fatal(err)
				}
				text := out.String()
				if !strings.Contains(text, mark) || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.TrimSpace(text) == "" ||
					format == "subject" && strings.Count(text, "\n") != 1 || format != "html" && strings.Contains(text, "<") {
					t.Errorf("%s in %s as %s: %q", m.Name, locale, format, text)
				}
				if before, twice := shown[text]; twice {
					t.Errorf("%s in %s as %s is the same as %s", m.Name, locale, format, before)
				}
				shown[text] = m.Name + " in " + locale
			}
		}
	}
	err = commands.PreviewMail(t.Context(), s, commands.MailPreview{Name: "x", Locale: "EN", Format: "txt"}, &bytes.Buffer{})
	for _, want := range []string{`unknown email "x"`, `unknown locale "EN"; supported locales: en, fr, es, it`, `"txt" must be html, text or subject`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

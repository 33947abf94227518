package letters_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
)

// folder writes template files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// withTemplates returns a Letters with valid templates, and its log.
func withTemplates(t *testing.T, files map[string]string) (*letters.Letters, *box, *bytes.Buffer) {
	t.Helper()
	templates, wrong := letters.ReadTemplates(folder(t, files), brand.Brand{})
	if wrong != nil {
		t.Fatal(wrong)
	}
	b, log := &box{}, &bytes.Buffer{}
	l, err := letters.New(letters.Config{
		FrontendURL: "https://app.example.test", Templates: templates, Outbox: b, Clock: clock.NewFixed(now), Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, b, log
}

// Every documented variable exists in every mail and template that can use it, and the
// documentation lists every variable of the built-in texts.
func TestVariablesAreThere(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	show := func(v letters.Variable) string { return "{{." + v.Name + "}} " }
	documented := map[string][]string{}
	for _, m := range letters.Mails() {
		body, subject := "x", "x"
		for _, v := range slices.Concat(letters.CommonVariables(), m.Variables) {
			body += show(v)
			if v.Subject {
				subject += show(v)
			}
			documented[m.Name] = append(documented[m.Name], "{"+v.Name+"}")
		}
		for _, locale := range i18n.Locales() {
			at := locale + "/" + m.Name
			files[at+".html"], files[at+".txt"], files[at+".subject"] = body, body, subject
		}
	}
	l, _, _ := withTemplates(t, files)
	texts := l.Variables(i18n.Default)
	for _, m := range letters.Mails() {
		found := 0
		for path, used := range texts {
			if !strings.HasPrefix(path, ".Letters."+m.Name+".") {
				continue
			}
			found++
			for _, name := range used {
				if name != "empty" && !slices.Contains(documented[m.Name], name) {
					t.Errorf("%s: %s has %s, which is not documented", m.Name, path, name)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no texts", m.Name)
		}
		delete(documented, m.Name)
	}
	for path := range texts {
		if parts := strings.Split(path, "."); parts[1] == "Letters" && letters.CheckName(parts[2]) != nil {
			t.Errorf("%s is not listed", parts[2])
		}
	}
}

// docs/mail.md lists every mail and variable, and marks the variables that are available in
// subjects.
func TestDocumentedVariables(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../../docs/mail.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(file)
	for _, m := range letters.Mails() {
		if !strings.Contains(page, "\n| `"+m.Name+"` |") {
			t.Errorf("docs/mail.md does not list %s", m.Name)
		}
		for _, v := range slices.Concat(letters.CommonVariables(), m.Variables) {
			marked := strings.Contains(page, "`"+v.Name+"` *")
			if !strings.Contains(page, "`"+v.Name+"`") || marked != v.Subject {
				t.Errorf("docs/mail.md: %s of %s, in subjects: %v", v.Name, m.Name, v.Subject)
			}
		}
	}
}

// A subject template with a variable that other users can enter, or with a code, is an error.
func TestTemplateSubjectsContainNoUserInput(t *testing.T) {
	t.Parallel()
	for _, m := range letters.Mails() {
		for _, v := range m.Variables {
			_, wrong := letters.ReadTemplates(folder(t, map[string]string{"en/" + m.Name + ".subject": "x {{." + v.Name + "}}"}), brand.Brand{})
			if fine := wrong == nil; fine != v.Subject {
				t.Errorf("%s in the subject of %s: %v", v.Name, m.Name, wrong)
			}
			if stranger := slices.Contains([]string{"name", "account", "tenant", "inviter", "role", "url", "domain", "record", "passkey", "browser", "code", "owner", "former"}, v.Name); stranger == v.Subject {
				t.Errorf("%s of %s may be in a subject: %v", v.Name, m.Name, v.Subject)
			}
		}
	}
}

func TestTemplatesTakeThePlaceOfTexts(t *testing.T) {
	t.Parallel()
	l, b, log := withTemplates(t, map[string]string{
		"fr/invitation.html":       "\ufeff<ul>{{range .facts}}<li>{{.label}} {{.value}}</li>{{end}}</ul>{{range .body}}<p>{{whole .}}</p>{{end}}",
		"it/invitation.txt":        "{{.heading}} {{.link}}",
		"es/quota_near.subject":    "  {{.meter}} {{.percent}}\n",
		"en/trial_ends.html":       `{{if .price}}{{.price}}{{else}}free{{end}}`,
		".git/en/nothing.html":     "{{",
		"en/.invitation.html.swap": "{{",
	})
	chosen := letters.Invitation{Token: "t", Tenant: `<i>a.example`, Role: "admin", ExpiresAt: now}
	send := func(locale string) {
		if err := l.Invitation(t.Context(), locale, to, chosen); err != nil {
			t.Fatal(err)
		}
	}
	send("fr")
	if !strings.HasPrefix(b.HTML, "<ul><li>Votre rôle\u00a0: Administrateur</li>") || !strings.Contains(b.HTML, "&lt;i&gt;a.\u200aexample") || !strings.HasPrefix(b.Text, "Bonjour,") {
		t.Errorf("fr: %q\n%s", b.HTML, b.Text)
	}
	send("it")
	if b.Text != "Partecipi a «<i>a.\u200aexample» su Tenantry https://app.example.test/invitations/t" || !strings.Contains(b.HTML, "<title>"+b.Subject+"</title>") {
		t.Errorf("it: %q, %q", b.Subject, b.Text)
	}
	if err := l.QuotaAlert(t.Context(), "es", to, letters.QuotaAlert{Meter: "a.example\nb", Percent: 80}); err != nil {
		t.Fatal(err)
	}
	// The heading is the custom subject, but with its links broken.
	if b.Subject != "a.example b 80\u00a0%" || !strings.Contains(b.HTML, "<h1>a.\u200aexample b 80\u00a0%</h1>") {
		t.Errorf("es: %q in %s", b.Subject, b.HTML)
	}
	if err := l.TrialEnds(t.Context(), "en", to, letters.TrialEnds{Tenant: "A", Plan: "P", EndsAt: now}); err != nil || b.HTML != "free" {
		t.Errorf("en: %q, %v", b.HTML, err)
	}
	if log.Len() > 0 {
		t.Error(log)
	}
}

// A mail arrives even if its template fails with values that the samples do not have.
func TestTemplatesThatFailLaterAreReplaced(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a variable that is not there": `x{{if eq .tenant "Odd"}}{{.nosuch}}{{end}}`,
		"nothing":                      `{{if ne .tenant "Odd"}}x{{end}}`,
		"too much":                     `x{{if eq .tenant "Odd"}}{{range 1000000000}}0123456789{{end}}{{end}}`,
	} {
		l, b, log := withTemplates(t, map[string]string{"en/invitation.html": content, "en/invitation.txt": "own"})
		for tenant, own := range map[string]bool{"Acme": true, "Odd": false} {
			log.Reset()
			if err := l.Invitation(t.Context(), "en", to, letters.Invitation{Token: "t", Tenant: tenant, Role: "member", ExpiresAt: now}); err != nil {
				t.Fatal(err)
			}
			if (b.HTML == "x" && b.Text == "own") != own || own == strings.Contains(b.HTML, "View invitation") || own != (log.Len() == 0) {
				t.Errorf("%s, %s: %q %q %s", name, tenant, b.HTML, b.Text, log)
			}
			if !own && !strings.Contains(log.String(), "invitation.html") {
				t.Errorf("%s: %s", name, log)
			}
		}
	}
}

// User input remains plain text anywhere in a template.
func TestUserInputIsEscapedInTemplates(t *testing.T) {
	t.Parallel()
	l, b, _ := withTemplates(t, map[string]string{
		"en/password_reset.html": `<p title="{{.name}}">{{.name}}</p><a href="{{.name}}">x</a><script>var n = {{.name}};</script>`,
		"en/password_reset.txt":  "{{.name}}",
	})
	for _, name := range hostile {
		if err := l.PasswordReset(context.Background(), "en", to, name, "t"); err != nil {
			t.Fatal(err)
		}
		for _, found := range tag.FindAllString(b.HTML, -1) {
			if !regexp.MustCompile(`^</?(p|a|script)\b`).MatchString(found) {
				t.Errorf("%q became the tag %s", name, found)
			}
		}
		if strings.Contains(b.HTML, `href="javascript:`) || strings.ContainsAny(b.Text, "\r\n\x00\u202e") || looksLikeAddress.MatchString(b.Text) {
			t.Errorf("%q: %q in %s", name, b.Text, b.HTML)
		}
	}
}

func TestWrongTemplates(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"en/invitation.html": strings.Repeat("x", 256<<10+1), "en/invitation.txt": "\xff", "en/quota_near.html": `<a href="{{if .app}}x">{{end}}`,
		"fr/quota_near.subject": strings.Repeat("x", 201), "es/quota_near.subject": "{{.app}}", "xx": "",
	})
	if err := os.Symlink(filepath.Join(dir, "es"), filepath.Join(dir, "it")); err != nil { // as volumes in clusters have them
		t.Fatal(err)
	}
	_, wrong := letters.ReadTemplates(dir, brand.Brand{})
	var got []string
	for _, err := range wrong {
		got = append(got, strings.TrimPrefix(err.Error(), dir+"/"))
	}
	want := []string{
		"en/invitation.html: is larger than 256 KiB",
		"en/invitation.txt: is not UTF-8",
		"en/quota_near.html: html/template:quota_near.html:1:11: {{if}} branches end in different contexts: {stateTag delimNone urlPartNone jsCtxRegexp [] attrNone elementNone  }",
		"fr/quota_near.subject: must be one line of at most 200 characters when rendered",
		`xx: unknown locale "xx"; supported locales: en, fr, es, it`,
	}
	if len(got) > 2 { // the library can change its wording
		got[2], want[2] = strings.SplitN(got[2], "1:", 2)[0], strings.SplitN(want[2], "1:", 2)[0]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

package letters_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
)

// Missing parts of a brand leave neither text nor gaps in the footer.
func TestFootOfMails(t *testing.T) {
	t.Parallel()
	const mail, terms, privacy = "help@acme.example", "https://acme.example/t?a=1&b=2", "https://acme.example/p"
	const termsLink, privacyLink = `<a href="https://acme.example/t?a=1&amp;b=2">Terms of service</a>`, `<a href="https://acme.example/p">Privacy policy</a>`
	for _, c := range []struct {
		brand      brand.Brand
		html, text string
	}{
		{brand.Brand{}, "", ""},
		{brand.Brand{SupportEmail: mail}, `<br>Questions? <a href="mailto:help@acme.example">help@acme.example</a>`, "\nQuestions? help@acme.example"},
		{brand.Brand{TermsURL: terms}, "<br>" + termsLink, "\n\nTerms of service\n" + terms},
		{brand.Brand{PrivacyURL: privacy}, "<br>" + privacyLink, "\n\nPrivacy policy\n" + privacy},
		{brand.Brand{TermsURL: terms, PrivacyURL: privacy}, "<br>" + termsLink + " · " + privacyLink, "\n\nTerms of service\n" + terms + "\n\nPrivacy policy\n" + privacy},
	} {
		l, err := letters.New(letters.Config{FrontendURL: "https://app.example.test", Brand: c.brand})
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Preview(t.Context(), "invitation", "en")
		if err != nil {
			t.Fatal(err)
		}
		const said = "This message was sent automatically by Tenantry."
		_, text, _ := strings.Cut(got.Text, "\n-- \n")
		_, html, _ := strings.Cut(got.HTML, `<div class="foot">`)
		if diff := cmp.Diff([]string{said + c.text + "\n", said + c.html + "</div>\n</body>\n</html>\n"}, []string{text, html}); diff != "" {
			t.Errorf("%+v: %s", c.brand, diff)
		}
	}
}

// Every mail in every language shows the brand, and never our own.
func TestEveryMailHasTheBrand(t *testing.T) {
	t.Parallel()
	l, err := letters.New(letters.Config{
		FrontendURL: "https://app.example.test", PublicURL: "https://api.example.test/",
		Brand: brand.Brand{
			Name: "Acme <i>", Logo: brand.Logo{URL: "https://cdn.example.test/a.png?v=1&w=2"}, Accent: "#123456", SupportEmail: "o'help+1@acme.example",
			TermsURL: "https://acme.example/t", PrivacyURL: "https://acme.example/p",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range letters.Mails() {
		for _, locale := range i18n.Locales() {
			got, err := l.Preview(t.Context(), m.Name, locale)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				`<img src="https://cdn.example.test/a.png?v=1&amp;w=2" alt="Acme &lt;i&gt;" height="40">`, "background: #123456; color: #ffffff", "background: #123456; }",
				`<a href="mailto:o%27help&#43;1@acme.example">o&#39;help&#43;1@acme.example</a>`, `<a href="https://acme.example/t">`, `<a href="https://acme.example/p">`,
			} {
				if !strings.Contains(got.HTML, want) {
					t.Errorf("%s in %s: no %s in %s", m.Name, locale, want, got.HTML)
				}
			}
			for _, want := range []string{"Acme <i>", " o'help+1@acme.example\n", "\nhttps://acme.example/t\n", "\nhttps://acme.example/p\n"} {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%s in %s: no %s in %s", m.Name, locale, want, got.Text)
				}
			}
			if strings.Contains(got.HTML+got.Text+got.Subject, "Tenantry") || strings.Contains(got.HTML, "<i>") || strings.Contains(got.HTML, "#0b6470") {
				t.Errorf("%s in %s: %s", m.Name, locale, got.HTML)
			}
		}
	}
}

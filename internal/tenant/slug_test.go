package tenant

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                        "tenant",
		"   ":                     "tenant",
		"!?":                      "tenant",
		"日本":                      "tenant",
		"Acme":                    "acme",
		"Acme 2":                  "acme-2",
		"42":                      "42",
		"  Acme  Ltd. ":           "acme-ltd",
		"-- Acme --":              "acme",
		"Ada's Organization":      "adas-organization",
		"Ada’s Organization":      "adas-organization",
		"a_b":                     "a-b",
		"A & B, C/D":              "a-b-c-d",
		"Crème Brûlée":            "creme-brulee",
		"Cre\u0300me":             "creme",
		"İstanbul":                "istanbul",
		"ﬁne Ⅳ":                   "fine-iv",
		"日本 Japan":                "japan",
		strings.Repeat("x", 59):   strings.Repeat("x", 59),
		strings.Repeat("x", 60):   strings.Repeat("x", 60),
		strings.Repeat("x", 61):   strings.Repeat("x", 60),
		strings.Repeat("é", 255):  strings.Repeat("e", 60),
		strings.Repeat("ab ", 85): strings.TrimSuffix(strings.Repeat("ab-", 20), "-"),
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", name, got, want)
		}
	}
}

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// For any name, PATCH /tenant accepts the derived slug. The slug does not depend on the encoding of
// the name.
func TestSlugOfProperties(t *testing.T) {
	t.Parallel()
	names := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("aZ09 -_'’éÉßﬁ日.")), 0, 130, -1))
	rapid.Check(t, func(r *rapid.T) {
		name := names.Draw(r, "name")
		slug := slugOf(name)
		if !slugForm.MatchString(slug) || len(slug) > maxSlugBase {
			r.Fatalf("slugOf(%q) = %q", name, slug)
		}
		if again := slugOf(slug); again != slug {
			r.Fatalf("the slug of %q is %q", slug, again)
		}
		for form, other := range map[string]string{
			"composed": norm.NFC.String(name), "decomposed": norm.NFD.String(name), "with blanks": "  " + name + "\t",
		} {
			if got := slugOf(other); got != slug {
				r.Fatalf("%s: slugOf(%q) = %q, want %q", form, other, got, slug)
			}
		}
	})
}

func TestWithSuffix(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^acme-[a-z0-9]{8}$`)
	seen := map[string]bool{}
	for range 1000 {
		slug := withSuffix("acme")
		if !form.MatchString(slug) || seen[slug] {
			t.Fatalf("%q is malformed or repeated", slug)
		}
		seen[slug] = true
	}
}

package arch

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/i18n"
)

// textCatalogs are the texts of catalogs, by folder, locale and key.
type textCatalogs map[string]map[string]map[string]string

// add adds the texts of a file such as locales/en.json.
func (c textCatalogs) add(name string, texts map[string]string) {
	folder, base := path.Split(name)
	if c[folder] == nil {
		c[folder] = map[string]map[string]string{}
	}
	c[folder][strings.TrimSuffix(base, path.Ext(base))] = texts
}

// catalogs returns the texts of every catalog of the service. The key of a text in a nested catalog
// is its path.
func catalogs(t *testing.T) textCatalogs {
	t.Helper()
	all := textCatalogs{}
	err := walk("../../internal", ".json", func(name string, file []byte) error {
		if path.Base(path.Dir(name)) != "locales" {
			return nil
		}
		var tree any
		if err := json.Unmarshal(file, &tree); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		texts := map[string]string{}
		flatten(texts, "", tree)
		all.add(name, texts)
		return nil
	})
	if err != nil || len(all) < 3 {
		t.Fatalf("%d catalogs: %v", len(all), err)
	}
	return all
}

// message matches a message of the console and its translation. The tool that writes them puts each
// on one line.
var message = regexp.MustCompile(`(?m)^msgid "(.+)"\nmsgstr "(.*)"$`)

// elementMessage matches a message of the web components: its key and its texts, one per locale, each
// of them a string or an object with plural forms.
var (
	elementMessage = regexp.MustCompile(`(?m)^  (\w+): \[(.+)\],$`)
	elementText    = regexp.MustCompile(`\{ one: '[^']*', other: '[^']*' \}|'[^']*'`)
	elementForm    = regexp.MustCompile(`'([^']*)'`)
	elementSpaces  = strings.NewReplacer(`\u00a0`, "\u00a0", `\u202f`, "\u202f")
)

// pageCatalogs returns the texts of the sandbox's customer-facing pages, of the console and of the
// web components.
func pageCatalogs(t *testing.T) textCatalogs {
	t.Helper()
	all := textCatalogs{}
	err := walk("../../sandbox/theme", ".json", func(name string, file []byte) error {
		texts := map[string]string{}
		all.add("sandbox/theme/"+name, texts)
		return json.Unmarshal(file, &texts)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = walk("../../web/src", ".po", func(name string, file []byte) error {
		texts := map[string]string{}
		for _, found := range message.FindAllStringSubmatch(string(file), -1) {
			texts[found[1]] = found[2]
		}
		all.add("web/src/"+name, texts)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = walk("../../clients/elements/src/texts", ".ts", func(name string, file []byte) error {
		for _, found := range elementMessage.FindAllStringSubmatch(string(file), -1) {
			texts := elementText.FindAllString(found[2], -1)
			if len(texts) != 4 {
				return fmt.Errorf("%s: %s has %d texts, not 4", name, found[1], len(texts))
			}
			for i, locale := range []string{"en", "fr", "es", "it"} {
				forms := map[string]string{}
				for form, text := range elementForm.FindAllStringSubmatch(texts[i], -1) {
					forms[fmt.Sprintf("%s/%d", found[1], form)] = elementSpaces.Replace(text[1])
				}
				folder := "clients/elements/src/texts/" + strings.TrimSuffix(name, ".ts") + "/"
				if all[folder][locale] == nil {
					all.add(folder+locale+".ts", map[string]string{})
				}
				maps.Copy(all[folder][locale], forms)
			}
		}
		return nil
	})
	if err != nil || len(all) < 13 {
		t.Fatalf("%d catalogs of pages: %v", len(all), err)
	}
	return all
}

func flatten(texts map[string]string, key string, tree any) {
	switch node := tree.(type) {
	case string:
		texts[key] = node
	case []any:
		for i, child := range node {
			flatten(texts, fmt.Sprintf("%s/%d", key, i), child)
		}
	case map[string]any:
		for name, child := range node {
			flatten(texts, strings.TrimPrefix(key+"/"+name, "/"), child)
		}
	}
}

// plain removes the plural form from a key.
func plain(key string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "/one"), "/many"), "/other")
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func placeholders(text string) string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return strings.Join(slices.Compact(found), "")
}

// All locales have the same keys and placeholders. Texts with a number have the plural forms of the
// language.
func TestCatalogsAgree(t *testing.T) {
	t.Parallel()
	for folder, locales := range catalogs(t) {
		english := locales[i18n.Default]
		wanted := map[string]string{}
		for key, text := range english {
			if base := plain(key); base == key || strings.HasSuffix(key, "/other") {
				wanted[base] = placeholders(text)
			}
		}
		for _, locale := range i18n.Locales() {
			found, forms := map[string]string{}, map[string][]string{}
			for key, text := range locales[locale] {
				base := plain(key)
				if base != key {
					forms[base] = append(forms[base], strings.TrimPrefix(key, base+"/"))
				}
				if strings.HasSuffix(key, "/other") || base == key {
					found[base] = placeholders(text)
				}
				if text == "" || strings.Trim(text, " \u00a0") != text {
					t.Errorf("%s%s: %s is %q", folder, locale, key, text)
				}
			}
			if diff := cmp.Diff(wanted, found); diff != "" {
				t.Errorf("%s%s (-en +%s)\n%s", folder, locale, locale, diff)
			}
			for key, has := range forms {
				slices.Sort(has)
				if !slices.Equal(has, slices.Sorted(slices.Values(i18n.Categories(locale)))) {
					t.Errorf("%s%s: %s has the forms %v, the language has %v", folder, locale, key, has, i18n.Categories(locale))
				}
			}
		}
	}
}

// typography matches invalid typography, by locale.
var typography = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`'|"|\s%`),
	"fr": regexp.MustCompile(`'|"|“|[^\x{00a0}\s]:(\s|$)|[^\x{00a0}]»|«[^\x{00a0}]| [:%€»]|[^\x{202f}][!?;]|\d%|\}%`),
	"es": regexp.MustCompile(`'|"|“|«\s|\s»|\s:| %|\d%|\}%`),
	"it": regexp.MustCompile(`'|"|“|«\s|\s»|\s:|\s%`),
}

// forbiddenWords matches words that we do not use (docs/words.md#glossary), by locale; "" applies to all.
var forbiddenWords = map[string]*regexp.Regexp{
	"": regexp.MustCompile(`(?i)(^|[^\pL])(tenants?|psp|idempotent)([^\pL]|$)`),
	"en": regexp.MustCompile(`(?i)(^|[^\pL])(quota|log(s|ged|ging)? (in|out)|log-in|logins?|logouts?|places|prove[ds]?|push messages?|mail address|withdrawn|` +
		`take back|taken back|nobody|somebody|everybody|anybody|whoever|tells?|told|anew|for ever|in vain|beside|any more|at once|shall)([^\pL]|$)`),
	"fr": regexp.MustCompile(`(?i)(^|[^\pL])(tu|ton|ta|tes|toi|quota|places?|utilisation|permissions?|nul)([^\pL]|$)|^Ceci `),
	"es": regexp.MustCompile(`(?i)(^|[^\pL])(tú|tus?|cuota|plazas?|período|solicitud debe|consumos?|se pudo|en nombre de)([^\pL]|$)`),
	"it": regexp.MustCompile(`(?i)(^|[^\pL])(tuo|tua|tuoi|tue|quota|posti|email|consumi|fornitore di pagamenti|per conto di|riprova|effettua)([^\pL]|$)`),
}

// allowed matches placeholders, and exceptions with a different meaning: the date of the last use,
// and the label of a button.
var allowed = regexp.MustCompile(`\{\w+[,}]|d’utilisation|^Dernière utilisation$|^Riprova$|Idempotency-Key`)

// forOperators matches catalogs of pages for platform admins, which say "tenant".
var forOperators = regexp.MustCompile(`^web/src/(locales|search/locales|parts/developers/locales|pages/platform/(\w+/)?locales)/$`)

// Texts use the typography of their language and the words of the glossary.
func TestWords(t *testing.T) {
	t.Parallel()
	all := catalogs(t)
	maps.Copy(all, pageCatalogs(t))
	for folder, locales := range all {
		for locale, texts := range locales {
			for _, key := range slices.Sorted(maps.Keys(texts)) {
				text := allowed.ReplaceAllString(texts[key], "X")
				if found := typography[locale].FindString(texts[key]); found != "" {
					t.Errorf("%s%s: the typography of %s is wrong at %q: %q", folder, locale, key, found, texts[key])
				}
				for scope, words := range map[string]*regexp.Regexp{"": forbiddenWords[""], locale: forbiddenWords[locale]} {
					if found := words.FindString(text); found != "" && (scope != "" || !forOperators.MatchString(folder)) {
						t.Errorf("%s%s: %s contains %q: %q", folder, locale, key, found, texts[key])
					}
				}
			}
		}
	}
}

// quotedKey matches a string that can be the key of a message.
var quotedKey = regexp.MustCompile(`"[\w./-]+"`)

// The program uses every message of responses and alerts. A key with a variable suffix is used
// through its prefix.
func TestMessagesAreUsed(t *testing.T) {
	t.Parallel()
	program, codes := map[string]bool{}, ""
	collect := func(text string) {
		for _, word := range quotedKey.FindAllString(text, -1) {
			program[word] = true
		}
	}
	err := walk("../..", ".go", func(name string, text []byte) error {
		switch {
		case strings.HasSuffix(name, "internal/fault/codes.go"):
			codes = string(text)
		case !strings.HasSuffix(name, "_test.go"):
			collect(string(text))
		}
		return nil
	})
	if err != nil || codes == "" {
		t.Fatal(err)
	}
	if err := walk("../..", ".js", func(_ string, text []byte) error {
		collect(strings.ReplaceAll(string(text), "'", `"`))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for folder, locales := range catalogs(t) {
		if strings.Contains(folder, "letters") || strings.Contains(folder, "units") || strings.Contains(folder, "look") {
			continue // letters use all fields, a meter can have any unit, and tests next to the templates check the other pages
		}
		for key := range locales[i18n.Default] {
			key = plain(strings.TrimSuffix(key, "/count"))
			beginning := key[:strings.LastIndexByte(key, '.')+1]
			if !program[`"`+key+`"`] && (beginning == "error." || beginning == "" || !program[`"`+beginning+`"`]) &&
				!strings.Contains(codes, `"`+strings.TrimPrefix(key, "error.")+`"`) {
				t.Errorf("%s: unused %s", folder, key)
			}
		}
	}
}

// unclearPhrases are phrases that readers of the reference and the command-line help had to read twice.
var unclearPhrases = regexp.MustCompile(`(?i)\b(for ever|told of|told again|in vain|given up|give refused|anew|of which none|unless given|take back that|` +
	`one of the payment provider|is no platform admin|everybody uses|hand out|mail address|begin anew|html form|of no use|is there twice|somebody else changed|` +
	`nobody takes|card is kept|never answered|given itself|take debits|debits are not taken|not taken here|waiting for its first|` +
	`make an? (meter|plan|role|product|feature|price|currency|api key))\b|[^e]mail address`)

// The reference and the command-line help use plain English.
func TestPlainEnglish(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(reference), "\n") {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "summary:") || strings.HasPrefix(text, "description:") {
			if found := unclearPhrases.FindString(strings.ReplaceAll(text, "email address", "")); found != "" {
				t.Errorf("api/openapi.yaml:%d contains %q: %s", i+1, found, text)
			}
		}
	}
	help := regexp.MustCompile(`help:"((?:[^"\\]|\\.)*)"`)
	said := regexp.MustCompile(`"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"`) // a string with a space is a text, not a name
	texts := 0
	for folder, pattern := range map[string]*regexp.Regexp{
		"../../cmd": help, "../../internal/settings": help, "../../internal/app/commands": said, "../../sandbox": said,
		"../../internal/catalog/pricelist": said,
	} {
		err := walk(folder, ".go", func(name string, text []byte) error {
			if strings.HasSuffix(name, "_test.go") {
				return nil
			}
			for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
				texts++
				if found := unclearPhrases.FindString(strings.ReplaceAll(match[1], "email address", "")); found != "" {
					t.Errorf("%s contains %q: %s", name, found, match[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 500 {
		t.Errorf("only %d texts of the command line and the sandbox were read", texts)
	}
	err = walk("../../sandbox", ".html", func(name string, text []byte) error {
		if found := unclearPhrases.FindString(string(text)); found != "" {
			t.Errorf("%s contains %q", name, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package commands_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// filePacks is a file with a meter and two packs of its units.
const filePacks = `meters:
  - code: mails
    name: Mails
    aggregation_type: sum
    reset_interval: monthly
    quota_enforcement: hard
packs:
  - slug: mails-1k
    name:
      en: 1,000 mails
      fr: 1 000 e-mails
    description:
      en: For peaks
    feature_code: mails
    amount: 1000
    expires_after_days: 365
    prices:
      EUR: 900
      USD: 1000
  - slug: mails-half
    name:
      en: Half a mail
    feature_code: mails
    amount: 0.5
    is_active: false
    prices:
      EUR: 50
`

// A file creates, changes and prunes packs, and an export contains them.
func TestCatalogPacks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := fileOf(t, s.Database)
		demo := f.export(false)
		f.imports(filePacks, `
+ meter mails
+ pack mails-1k
+ pack mails-half
3 changes made
`)
		f.imports(filePacks, "nothing to change\n")
		exported := f.export(false)
		if _, packs, _ := strings.Cut(filePacks, "packs:"); !strings.HasSuffix(exported, "packs:"+packs) {
			t.Errorf("exported\n%s", exported)
		}
		id := s.CatalogAdmin().AdminCall("GET", "/packs?filter[search]=mails-1k", nil).Want(200).Str("data.0.id")
		f.imports(edit(t, filePacks, "amount: 1000", "amount: 2000.5", "    expires_after_days: 365\n", "", "USD: 1000", "GBP: 800", "is_active: false", "is_active: true"), `
~ pack mails-1k: amount 1000 → 2000.5
~ pack mails-1k: expires_after_days 365 → none
~ pack mails-1k: prices.GBP none → 800
~ pack mails-half: is_active false → true
4 changes made
`)
		if again := s.CatalogAdmin().AdminCall("GET", "/packs?filter[search]=mails-1k", nil).Want(200); again.Str("data.0.id") != id || len(again.At("data.0.prices").([]any)) != 3 {
			t.Errorf("after the change: %s", again.Text)
		}
		// Packs are pruned before the meters whose units they sell.
		f.imports(demo, `
- pack mails-1k
- pack mails-half
- meter mails
3 changes made
`, prune)
		if got := f.export(false); got != demo {
			t.Errorf("after pruning:\n%s", got)
		}
		for problem, file := range map[string]string{
			"packs[0].amount":                edit(t, filePacks, "amount: 1000", "amount: 0"),
			"packs[0].amount must":           edit(t, filePacks, "amount: 1000", "amount: lots"),
			"at most 6 decimals":             edit(t, filePacks, "amount: 1000", "amount: 1.0000001"),
			"packs[0].prices.EUR must":       edit(t, filePacks, "EUR: 900", "EUR: 0"),
			"packs[0].expires_after_days":    edit(t, filePacks, "expires_after_days: 365", "expires_after_days: 0"),
			"packs[1].slug":                  edit(t, filePacks, "mails-half", "mails-1k"),
			"packs[0].prices.XYZ is an":      edit(t, filePacks, "USD: 1000", "XYZ: 1000"),
			"pack mails-1k: ":                edit(t, filePacks, "feature_code: mails\n    amount: 1000", "feature_code: sso\n    amount: 1000"),
			"packs[1].prices must have":      edit(t, filePacks, "    prices:\n      EUR: 50\n", "    prices: {}\n"),
			"packs[0].description.en is":     edit(t, filePacks, "      en: For peaks", "      fr: Pointes"),
			"packs[0].feature_code is":       edit(t, filePacks, "feature_code: mails\n    amount: 1000", "amount: 1000"),
			"packs[0].psp_price_id is not a": edit(t, filePacks, "amount: 1000", "amount: 1000\n    psp_price_id: price_1"),
		} {
			if out, err := f.try(file); err == nil || !strings.Contains(err.Error()+out, problem) {
				t.Errorf("%s: %v %s", problem, err, out)
			}
		}
		if got := f.export(false); got != demo {
			t.Errorf("a rejected file changed the catalog:\n%s", got)
		}
	})
}

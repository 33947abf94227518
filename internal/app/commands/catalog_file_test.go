package commands_test

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// catalogFile imports and exports the catalog of a database.
type catalogFile struct {
	t        *testing.T
	settings settings.Settings
}

func (f catalogFile) export(omitLinks bool) string {
	f.t.Helper()
	var out bytes.Buffer
	if err := commands.ExportCatalog(f.t.Context(), f.settings, commands.CatalogExport{OmitLinks: omitLinks}, &out); err != nil {
		f.t.Fatal(err)
	}
	return out.String()
}

// try imports text and returns the output. The functions in how change the parameters.
func (f catalogFile) try(text string, how ...func(*commands.CatalogImport)) (string, error) {
	f.t.Helper()
	p := commands.CatalogImport{File: filepath.Join(f.t.TempDir(), "catalog.yaml"), Confirm: func() (bool, error) { return true, nil }}
	if err := os.WriteFile(p.File, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	for _, change := range how {
		change(&p)
	}
	var out bytes.Buffer
	err := commands.ImportCatalog(f.t.Context(), f.settings, p, &out)
	return out.String(), err
}

func (f catalogFile) imports(text, shown string, how ...func(*commands.CatalogImport)) {
	f.t.Helper()
	got, err := f.try(text, how...)
	if diff := cmp.Diff(strings.TrimPrefix(shown, "\n"), got); diff != "" || err != nil {
		f.t.Errorf("%v (-want +shown)\n%s", err, diff)
	}
}

func dryRun(p *commands.CatalogImport) { p.DryRun = true }
func prune(p *commands.CatalogImport)  { p.Prune = true }

func fileOf(t *testing.T, database string) catalogFile {
	t.Helper()
	return catalogFile{t, settings.Settings{DatabaseURL: settings.Secret(database), DatabasePatience: dbtest.ConnTimeout, LogFormat: settings.LogText}}
}

// A database that imports an export exports the same bytes, even if it has another dialect.
func TestCatalogRoundTrip(t *testing.T) {
	t.Parallel()
	for _, from := range dbtest.Dialects(t) {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			source := fileOf(t, dbtest.URL(t, from))
			if _, err := source.try(richCatalog); err != nil {
				t.Fatal(err)
			}
			exported := source.export(false)
			if diff := cmp.Diff(richCatalog, exported); diff != "" {
				t.Errorf("(-imported +exported)\n%s", diff)
			}
			source.imports(exported, "nothing to change\n")
			for _, to := range dbtest.Dialects(t) {
				target := fileOf(t, dbtest.URL(t, to))
				if _, err := target.try(exported); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(exported, target.export(false)); diff != "" {
					t.Errorf("exported of %s after an import (-want +got)\n%s", to, diff)
				}
				target.imports(exported, "nothing to change\n", prune)
			}
			without := source.export(true)
			if strings.Contains(without, "price_main") || strings.Contains(without, "price_calls") || !strings.Contains(without, "EUR: 1900") {
				t.Errorf("without links:\n%s", without)
			}
			// An import of a file without links keeps the stored links.
			source.imports(without, "nothing to change\n")
		})
	}
}

// shop is a small catalog to add to the demo catalog of a running service.
const shop = `
features:
  - {code: beta, name: {en: Beta}}
products:
  - slug: shop
    name: {en: Shop}
    plans:
      - slug: basic
        name: {en: Basic, fr: De base}
        pricing_type: flat
        billing_cycle: monthly
        prices: {EUR: 900, USD: 1000, GBP: {price_cents: 800, psp_price_id: price_gbp}}
        entitlements: {beta: true, team-members: 5}
meters:
  - {code: mails, name: Mails, aggregation_type: sum, reset_interval: daily, quota_enforcement: none, prices: {EUR: {unit_price_cents: 0.25, psp_price_id: price_mails}, USD: 1}}
`

// edit replaces parts of a text; each part must occur.
func edit(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in the text", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// A file can be imported while the service runs. The command shows and makes the changes, which the
// audit trail records without an actor. Ids do not change.
func TestCatalogImport(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := fileOf(t, s.Database)
		f.imports(shop, `
+ feature beta
+ product shop
+ plan basic
+ meter mails
4 changes found; no changes made (dry run)
`, dryRun)
		f.imports(shop, `
+ feature beta
+ product shop
+ plan basic
+ meter mails
4 changes made
`)
		f.imports(shop, "nothing to change\n")
		importFields(t, s, f)
		importLinks(t, f)
		if trail := s.AuditLog(url.Values{"filter[action]": {"meter.updated"}}).Want(200); trail.At("data.0.actor_id") != nil || trail.At("data.0.ip") != "" {
			t.Errorf("the audit log: %s", trail.Text)
		}
		if done := s.AuditLog(url.Values{"filter[action]": {"plan.updated"}}).Actions(); len(done) < 4 {
			t.Errorf("changes of plans in the audit log: %v", done)
		}
	})
}

// importFields changes fields of the catalog. The plan and its prices keep their IDs.
func importFields(t *testing.T, s *apptest.Server, f catalogFile) {
	before := planNamed(s, t, "basic")

	f.imports(edit(t, shop, "en: Basic, fr: De base", "en: Base, es: Básico", "EUR: 900", "EUR: 1200", "billing_cycle: monthly", "billing_cycle: monthly\n        sort_order: 3",
		"beta: true", "beta: 7", "team-members: 5", "sso: true", "{code: beta, name: {en: Beta}}", "{code: beta, name: {en: Beta}, is_active: false}",
		"reset_interval: daily", "reset_interval: none", "0.25", "0.5", "USD: 1}", "USD: {unit_price_cents: 1, psp_price_id: price_usd}}", "price_mails", "price_other"), `
~ feature beta: is_active true → false
~ plan basic: name.en "Basic" → "Base"
~ plan basic: name.es none → "Básico"
~ plan basic: name.fr "De base" → none
~ plan basic: sort_order 0 → 3
~ plan basic: prices.EUR 900 → 1200
~ plan basic: entitlements.beta true → 7
~ plan basic: entitlements.sso none → true
~ meter mails: reset_interval daily → none
~ meter mails: prices.EUR 0.25 → 0.5
~ meter mails: prices.EUR.psp_price_id price_mails → price_other
~ meter mails: prices.USD.psp_price_id none → price_usd
12 changes made
`)
	after := planNamed(s, t, "basic")
	for _, path := range []string{"id", "prices.0.id", "prices.1.id", "created_at", "product_id"} {
		if a, b := before.At("data.0."+path), after.At("data.0."+path); a != b || a == nil {
			t.Errorf("%s was %v and is %v", path, a, b)
		}
	}
}

// The properties of a linked price cannot change at the provider. If a file changes such a price,
// the import removes the link, unless the file contains a link for the changed price.
func importLinks(t *testing.T, f catalogFile) {
	f.imports(edit(t, shop, "{price_cents: 800, psp_price_id: price_gbp}", "801", "{unit_price_cents: 0.25, psp_price_id: price_mails}", "0.75", "fr: De base", "es: Básico"), `
~ feature beta: is_active false → true
~ plan basic: name.en "Base" → "Basic"
~ plan basic: sort_order 3 → 0
~ plan basic: prices.EUR 1200 → 900
~ plan basic: prices.GBP 800 → 801
~ plan basic: prices.GBP.psp_price_id price_gbp → none
~ plan basic: entitlements.beta 7 → true
~ meter mails: reset_interval none → daily
~ meter mails: prices.EUR 0.5 → 0.75
~ meter mails: prices.EUR.psp_price_id price_other → none
10 changes made
`)
	f.imports(edit(t, shop, "fr: De base", "es: Básico", "GBP: {price_cents: 800", "GBP: {price_cents: 801"), `
~ plan basic: prices.GBP.psp_price_id none → price_gbp
~ meter mails: prices.EUR 0.75 → 0.25
~ meter mails: prices.EUR.psp_price_id none → price_mails
3 changes made
`)
	yearly := edit(t, shop, "fr: De base", "es: Básico", "billing_cycle: monthly", "billing_cycle: yearly", "{price_cents: 800, psp_price_id: price_gbp}", "801")
	f.imports(yearly, `
~ plan basic: billing_cycle monthly → yearly
~ plan basic: interval_unit month → year
~ plan basic: prices.GBP.psp_price_id price_gbp → none
3 changes made
`)
}

// planNamed returns the admin list of plans, filtered by slug.
func planNamed(s *apptest.Server, t *testing.T, slug string) apptest.Reply {
	t.Helper()
	return s.Call("GET", "/api/v1/admin/plans?filter[search]="+slug, s.Admin(), nil).Want(200)
}

func TestCatalogImportPrunes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := fileOf(t, s.Database)
		demo := f.export(false)
		if _, err := f.try(shop); err != nil {
			t.Fatal(err)
		}
		f.imports(edit(t, shop, "EUR: 900, ", "", ", team-members: 5", "", ", USD: 1}", "}"), "nothing to change\n")
		f.imports(demo, "nothing to change\n")
		// With prune, prices and entitlements of the file's plans are deleted as well.
		merged := edit(t, shop, "EUR: 900, ", "", ", team-members: 5", "", ", USD: 1}", "}")
		_, err := f.try(merged, prune)
		if err == nil || !strings.Contains(err.Error(), "plan starter: ") { // Acme subscribes to it
			t.Errorf("a plan that is subscribed to was pruned: %v", err)
		}
		f.imports(demo, `
- plan basic
- product shop
- feature beta
- meter mails
4 changes made
`, prune)
		if got := f.export(false); got != demo {
			t.Errorf("after pruning (-want +got)\n%s", cmp.Diff(demo, got))
		}
		// The names can be used again.
		if _, err := f.try(shop); err != nil {
			t.Error(err)
		}
		both := f.export(false)
		f.imports(edit(t, both, "          GBP:\n            price_cents: 800\n            psp_price_id: price_gbp\n", "",
			"          beta: true\n", "", "      USD: 1\n", ""), `
~ plan basic: prices.GBP 800 → none
~ plan basic: prices.GBP.psp_price_id price_gbp → none
~ plan basic: entitlements.beta true → none
~ meter mails: prices.USD 1 → none
4 changes made
`, prune)
	})
}

func TestCatalogImportRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := fileOf(t, s.Database)
		before := f.export(false)
		for name, tt := range map[string]struct{ file, want string }{
			"an unknown key":      {edit(t, shop, "pricing_type: flat", "pricing_type: flat\n        colour: red"), "line 11: products[0].plans[0].colour is not a known key"},
			"an unknown currency": {edit(t, shop, "USD: 1000", "CHF: 1000"), "line 12: products[0].plans[0].prices.CHF is an unknown currency"},
			"an unknown feature":  {edit(t, shop, "beta: true", "gamma: true"), "line 13: products[0].plans[0].entitlements.gamma is an unknown feature"},
			"a meter's currency":  {edit(t, shop, "USD: 1}", "CHF: 1}"), "line 15: meters[0].prices.CHF is an unknown currency"},
			"not YAML":            {"a: [", "line 1"},
		} {
			_, err := f.try(tt.file)
			setting, ok := errors.AsType[*settings.Error](err)
			if !ok || !strings.HasPrefix(setting.Reason, tt.want) || !strings.HasSuffix(setting.Name, "catalog.yaml") {
				t.Errorf("%s: %v, want %s", name, err, tt.want)
			}
		}
		// A violated rule results in a readable message.
		for want, file := range map[string]string{
			"currency EUR: ": "currencies: [{code: EUR, name: Euro, symbol: €, minor_units: 3}]",
			"plan starter: ": edit(t, before, "pricing_type: flat", "pricing_type: seat"),
		} {
			_, err := f.try(file)
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "error.") {
				t.Errorf("%sis not refused: %v", want, err)
			}
		}
		// The user did not confirm.
		_, err := f.try(shop, func(p *commands.CatalogImport) { p.Confirm = func() (bool, error) { return false, nil } })
		if !errors.Is(err, commands.ErrNotConfirmed) {
			t.Errorf("not confirmed: %v", err)
		}
		if got := f.export(false); got != before {
			t.Errorf("a refusal has changed something (-want +got)\n%s", cmp.Diff(before, got))
		}
		// The catalog changes after the changes were shown.
		_, err = f.try(shop, func(p *commands.CatalogImport) {
			p.Confirm = func() (bool, error) {
				s.Call("POST", "/api/v1/admin/features", s.Admin(), map[string]any{"code": "beta", "name": map[string]any{"en": "Beta"}}).Want(201)
				return true, nil
			}
		})
		if !errors.Is(err, pricelist.ErrCatalogChanged) {
			t.Errorf("catalog changed after the preview: %v", err)
		}
		if got := f.export(false); strings.Contains(got, "slug: shop") {
			t.Error("import was applied partly")
		}
		if _, err := f.try(shop, func(p *commands.CatalogImport) { p.File = "nowhere.yaml" }); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
			t.Errorf("a missing file: %v", err)
		}
	})
}

package commands_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// With the provider's key, an import checks the links that it would set, and sets no link if one is
// wrong. Without the key it prints a note.
func TestCatalogImportChecksLinks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := fileOf(t, s.Database)
		var notes bytes.Buffer
		noted := func(p *commands.CatalogImport) { notes.Reset(); p.Notes = &notes }
		if _, err := f.try(shop, dryRun, noted); err != nil || notes.String() != "note: the links to Stripe's prices are not checked. Set TENANTRY_STRIPE_SECRET_KEY; for the key of a sandbox, add --stripe-url.\n" {
			t.Errorf("%v, and noted is %q", err, notes.String())
		}

		f.settings = s.CLISettings()
		_, err := f.try(shop, noted)
		want := []string{
			"line 12: products[0].plans[0].prices.GBP.psp_price_id price_gbp does not exist at Stripe",
			"line 15: meters[0].prices.EUR.psp_price_id price_mails does not exist at Stripe",
		}
		if lines := problems(err); len(lines) != 2 || !strings.HasSuffix(lines[0], want[0]) || !strings.HasSuffix(lines[1], want[1]) || notes.Len() > 0 {
			t.Errorf("%q, and noted is %q", lines, notes.String())
		}
		pounds := s.NewProviderPrice("currency", "gbp", "unit_amount", "800")
		mails, dearer := s.NewMeteredPrice("eur", "0.25"), s.NewMeteredPrice("eur", "0.26")
		linked := func(meter string) string { return edit(t, shop, "price_gbp", pounds, "price_mails", meter) }
		for meter, wrong := range map[string]string{
			dearer:                           dearer + " differs: unit price 0.26 instead of 0.25",
			s.NewProviderPrice():             " instead of billed by usage",
			s.NewMeteredPrice("usd", "0.25"): " differs: currency USD instead of EUR",
		} {
			if lines := problems(second(f.try(linked(meter)))); len(lines) != 1 || !strings.Contains(lines[0], "line 15: meters[0].prices.EUR.psp_price_id ") || !strings.HasSuffix(lines[0], wrong) {
				t.Errorf("%q, want %s", lines, wrong)
			}
		}
		if _, err := f.try(edit(t, linked(mails), "billing_cycle: monthly", "billing_cycle: yearly")); err == nil || !strings.HasSuffix(err.Error(), "every 1 month instead of every 1 year") {
			t.Errorf("a price with another interval: %v", err)
		}
		if n := s.CountRows(`SELECT count(*) FROM products WHERE slug = 'shop'`); n != 0 {
			t.Error("something was imported")
		}
		if _, err := f.try(linked(mails)); err != nil {
			t.Fatal(err)
		}
		// A link that was set before and is now wrong does not block other changes.
		s.AtProvider("POST", "/prices/"+pounds, "active", "false")
		if shown, err := f.try(edit(t, linked(mails), "en: Basic", "en: Plain")); err != nil || !strings.Contains(shown, "1 change made") {
			t.Errorf("%v, shown is %s", err, shown)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// problems returns the lines of an error.
func problems(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/settings"
)

// fileLink is a link in a file, with its path in the file.
type fileLink struct {
	path string
	check.Link
}

// checkLinks asks the provider whether the links that an import would set are right. It returns an
// error for each wrong link, joined (rules: catalog#the-catalog-as-a-file). It skips links that are
// already stored: they may have become wrong since, and must not block other changes.
func checkLinks(ctx context.Context, s settings.Settings, p CatalogImport, list *pricelist.Service, wanted pricelist.Catalog) error {
	stored, err := list.Export(ctx)
	if err != nil {
		return err
	}
	known := map[string]check.Link{}
	for _, l := range linksOf(stored) {
		known[l.Name] = l.Link
	}
	links := slices.DeleteFunc(linksOf(wanted), func(l fileLink) bool { return reflect.DeepEqual(known[l.Name], l.Link) })
	if len(links) == 0 {
		return nil
	}
	if s.StripeSecretKey == "" {
		if p.Notes == nil {
			return nil
		}
		return printResult(p.Notes, nil, "note: the links to Stripe's prices are not checked. Set TENANTRY_STRIPE_SECRET_KEY; for the key of a sandbox, add --stripe-url.\n")
	}
	client, err := linkChecker(s, stored, wanted)
	if err != nil {
		return err
	}
	var wrong []error
	for _, l := range links {
		problem, err := l.FindProblem(ctx, client)
		if err != nil {
			return fmt.Errorf("check %s: %w", l.Name, err)
		}
		if problem != "" {
			wrong = append(wrong, wanted.Problem(l.path, problem))
		}
	}
	return errors.Join(wrong...)
}

// linkChecker returns a client that uses the currencies as they will be after the import.
func linkChecker(s settings.Settings, stored, wanted pricelist.Catalog) (*psp.Client, error) {
	cfg := psp.Config{SecretKey: s.StripeSecretKey.Reveal(), Log: NewLog(io.Discard, s)}
	if s.StripeURL != nil {
		cfg.BaseURL = s.StripeURL.String()
	}
	decimals := map[string]int{}
	for _, c := range slices.Concat(stored.Currencies, wanted.Currencies) {
		decimals[c.Code] = int(c.MinorUnits)
	}
	cfg.Decimals = func(_ context.Context, code string) (int, bool, error) {
		n, known := decimals[code]
		return n, known, nil
	}
	client, err := psp.NewClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("payment provider: %w", err)
	}
	return client, nil
}

// linksOf returns the links of a catalog in file order.
func linksOf(c pricelist.Catalog) []fileLink {
	var links []fileLink
	add := func(path string, link pricelist.Link, l check.Link) {
		if link.PSPPriceID != nil {
			l.PSPPriceID = *link.PSPPriceID
			links = append(links, fileLink{path + ".prices." + l.Currency + ".psp_price_id", l})
		}
	}
	for i, product := range c.Products {
		for j, plan := range product.Plans {
			every := plan.Interval()
			for _, code := range slices.Sorted(maps.Keys(plan.Prices)) {
				price := plan.Prices[code]
				add(fmt.Sprintf("products[%d].plans[%d]", i, j), price.Link, check.Link{
					Name: "plan " + plan.Slug + " in " + code, Currency: code, Amount: &price.PriceCents,
					IntervalUnit: every.Unit, IntervalCount: int(every.Count),
				})
			}
		}
	}
	for i, meter := range c.Meters {
		for _, code := range slices.Sorted(maps.Keys(meter.Prices)) {
			price := meter.Prices[code]
			add(fmt.Sprintf("meters[%d]", i), price.Link, check.Link{
				Name: "meter " + meter.Code + " in " + code, Currency: code, UnitPrice: price.UnitPrice.String(), Metered: true,
			})
		}
	}
	return links
}

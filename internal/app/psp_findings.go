package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// providerFindings checks the account at the payment provider and the objects that are linked to it.
// types are the event types that the service handles. webhookURL is the endpoint that receives
// them, or empty if it is unknown.
func providerFindings(ctx context.Context, s settings.Settings, types []string, webhookURL string) (found []check.Finding, err error) {
	cfg := psp.Config{SecretKey: s.StripeSecretKey.Reveal(), Log: commands.NewLog(io.Discard, s)} // problems become findings
	if s.StripeURL != nil {
		cfg.BaseURL = s.StripeURL.String()
	}
	c := check.Config{Types: types, WebhookURL: webhookURL, Now: clock.System().Now}
	db, problem := openDatabase(ctx, s)
	if problem == nil {
		defer commands.CloseJoining(db, &err)
		cfg.Decimals = currency.Decimals(db)
		problem = readDatabase(ctx, db, &c)
	}
	if c.Client, err = psp.NewClient(cfg); err != nil {
		return nil, fmt.Errorf("payment provider: %w", err)
	}
	return append([]check.Finding{databaseFinding(problem)}, check.Run(ctx, c)...), nil
}

// databaseFinding reports whether the database is readable.
func databaseFinding(problem error) check.Finding {
	if problem == nil {
		return check.Finding{Name: "database", Status: check.StatusOK, Detail: "readable"}
	}
	fix := "Set TENANTRY_DATA or TENANTRY_DATABASE_URL to the database of the service, and run tenantry migrate."
	finding := check.Finding{Name: "database", Status: check.StatusError, Detail: "prices and notifications were not checked: " + problem.Error(), Fix: &fix}
	if errors.Is(problem, errNoDatabase) { // before the first start, prices are not linked yet
		finding.Status = check.StatusWarning
	}
	return finding
}

var errNoDatabase = errors.New("the database is not ready yet")

func openDatabase(ctx context.Context, s settings.Settings) (*sqldb.DB, error) {
	// Opening a missing file would create it.
	if u, err := url.Parse(s.DatabaseURL.Reveal()); err == nil && u.Scheme == "sqlite" {
		if _, err := os.Stat(sqldb.FilePath(u)); err != nil {
			return nil, fmt.Errorf("%w: %s does not exist", errNoDatabase, sqldb.FilePath(u))
		}
	}
	return sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL.Reveal(), Patience: s.DatabasePatience, Log: commands.NewLog(io.Discard, s)})
}

// readDatabase adds the data of the database to c.
func readDatabase(ctx context.Context, db *sqldb.DB, c *check.Config) (err error) {
	c.LastReceived, err = inbox.LastEventAt(ctx, db)
	if sqldb.IsMissingTable(err) {
		return fmt.Errorf("%w: migrations are pending", errNoDatabase)
	}
	if err != nil && !errors.Is(err, inbox.ErrNoEvent) {
		return err
	}
	c.Links, err = linkedPrices(ctx, db)
	return err
}

// linkedPrices returns the prices of plans and meters that are linked to the provider.
func linkedPrices(ctx context.Context, db *sqldb.DB) ([]check.Link, error) {
	plans, err := catalog.New(catalog.Deps{DB: db, Clock: clock.System()}).AllPlans(ctx)
	if err != nil {
		return nil, err
	}
	var links []check.Link
	for _, plan := range plans {
		for _, price := range plan.Prices {
			if price.PSPPriceID == nil {
				continue
			}
			links = append(links, check.Link{
				Name: "plan " + plan.Slug + " in " + price.Currency, PSPPriceID: *price.PSPPriceID, Currency: price.Currency,
				Amount: &price.PriceCents, IntervalUnit: plan.Interval.Unit, IntervalCount: int(plan.Interval.Count),
			})
		}
	}
	all, err := meters.NewService(meters.Deps{DB: db, Clock: clock.System()}).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, meter := range all {
		for _, price := range meter.Prices {
			if price.PSPPriceID != nil {
				links = append(links, check.Link{
					Name: "meter " + meter.Code + " in " + price.Currency, PSPPriceID: *price.PSPPriceID, Currency: price.Currency,
					UnitPrice: price.UnitPrice.String(), Metered: true,
				})
			}
		}
	}
	return links, nil
}

// report writes the findings and returns an error if any finding is an error. The output is one JSON
// object or a paragraph for each finding.
func report(out io.Writer, found []check.Finding, asJSON bool) error {
	return errors.Join(writeFindings(out, found, asJSON), failOnErrors(found))
}

// writeFindings writes the findings, as one JSON object or with a paragraph for each finding.
func writeFindings(out io.Writer, found []check.Finding, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"checks": found})
	}
	width := 0
	for _, f := range found {
		width = max(width, len(f.Name))
	}
	for _, f := range found {
		if _, err := fmt.Fprintf(out, "%-7s  %-*s  %s\n", f.Status, width, f.Name, f.Detail); err != nil {
			return err
		}
		if f.Fix != nil {
			if _, err := fmt.Fprintf(out, "%-7s  %-*s  → %s\n", "", width, "", *f.Fix); err != nil {
				return err
			}
		}
	}
	return nil
}

// failOnErrors returns an error if any finding is an error.
func failOnErrors(found []check.Finding) error {
	n := 0
	for _, f := range found {
		if f.Status == check.StatusError {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d checks failed", n, len(found))
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/settings"
)

// Reconcile compares the database with the payment provider and writes a line for each difference.
// Unless it is a dry run, it repairs the differences that can be repaired. A difference is not an
// error; a failed comparison is.
func Reconcile(ctx context.Context, s settings.Settings, out io.Writer, dryRun bool) (err error) {
	if err := commands.RequireDatabase(s); err != nil {
		return err
	}
	log := commands.NewLog(os.Stderr, s)
	provider := environment{clock: clock.System(), pspKey: s.StripeSecretKey, webhookSecrets: []string{"none is received"}}
	purposes := []string{production}
	if s.StripeURL != nil {
		provider.pspBaseURL, purposes = s.StripeURL.String(), []string{practice, sandboxed}
	}
	db, err := openFor(ctx, s, purposes[0], purposes[1:]...)
	if err != nil {
		return err
	}
	defer commands.CloseJoining(db, &err)
	// A repair sends no mail and creates no link, so the URLs do not matter. The running service
	// executes the jobs that a repair enqueues.
	s.PublicURL = &url.URL{Scheme: "http", Host: "localhost"}
	s.FrontendURL = s.PublicURL
	platform, err := newPlatform(s, db, provider, log)
	if err != nil {
		return err
	}
	domains, err := newDomains(platform, provider)
	if err != nil {
		return err
	}
	found, err := compareAll(ctx, comparisons(domains), dryRun)
	if err != nil && len(found) == 0 {
		return err // without a comparison, "0 differences" would be wrong
	}
	return errors.Join(writeDifferences(out, s.InvoiceMode, found), err)
}

// comparison compares one kind of record with the payment provider.
type comparison interface {
	Compare(ctx context.Context, dryRun bool) ([]compare.Difference, error)
	Start(ctx context.Context) error
}

// comparisons returns all comparisons. Subscriptions come first, because invoices refer to them, and
// credit notes last, because they refer to invoices.
func comparisons(d *domains) []comparison {
	return []comparison{d.reconciler.Comparison(), d.invoices.Comparison(), d.creditNotes.Comparison()}
}

// compareAll runs all comparisons and returns their differences. It continues after a comparison
// that fails.
func compareAll(ctx context.Context, all []comparison, dryRun bool) ([]compare.Difference, error) {
	found, failures := []compare.Difference{}, []error(nil)
	for _, c := range all {
		differ, err := c.Compare(ctx, dryRun)
		found, failures = append(found, differ...), append(failures, err)
	}
	return found, errors.Join(failures...)
}

// startComparisons enqueues the jobs that run all comparisons.
func (svc *service) startComparisons(ctx context.Context) error {
	for _, c := range comparisons(svc.domains) {
		if err := c.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeDifferences writes one line for each difference, and a summary.
func writeDifferences(out io.Writer, mode settings.InvoiceMode, found []compare.Difference) error {
	repaired := 0
	for _, d := range found {
		if d.Repaired {
			repaired++
		}
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	if mode == settings.InvoicesByPSP {
		if _, err := fmt.Fprintln(out, "Invoices are issued by the provider (psp_managed): only their stored IDs and the credit notes were compared."); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s, %d repaired\n", commands.FormatCount(len(found), "difference"), repaired)
	return err
}

// reconcileNow handles POST /sandbox/stripe/reconcile. It returns the differences and repairs them
// unless the body is {"dry_run": true}.
func (svc *service) reconcileNow(w http.ResponseWriter, r *http.Request) {
	var params struct {
		DryRun bool `json:"dry_run"`
	}
	if r.ContentLength != 0 {
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&params); err != nil {
			http.Error(w, `{"message":"The body must be JSON."}`, http.StatusBadRequest)
			return
		}
	}
	found, err := compareAll(r.Context(), comparisons(svc.domains), params.DryRun)
	answer := map[string]any{"data": found}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		answer["message"] = err.Error()
	}
	_ = json.NewEncoder(w).Encode(answer) // fails only if the client has disconnected
}

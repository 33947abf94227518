package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/subscription/operation"
	"github.com/tenantry/tenantry/internal/subscription/reconcile"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Reconcile compares what is stored with the payment provider, writes a line for
// each difference, and repairs what can be repaired unless it is a dry run.
// Differences are not an error; failing to compare something is.
func Reconcile(ctx context.Context, s settings.Settings, out io.Writer, dryRun bool) (err error) {
	log := newLog(os.Stderr, s)
	issuing, err := issuing(s)
	if err != nil {
		return err
	}
	db, err := openFor(ctx, s, production)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	provider, err := psp.NewClient(psp.Config{
		SecretKey: s.StripeSecretKey.Reveal(), Log: log, Decimals: currency.Decimals(db),
	})
	if err != nil {
		return fmt.Errorf("payment provider: %w", err)
	}
	trail := audit.New(audit.Deps{DB: db, Clock: clock.System()})
	link := &links{}
	// The jobs that a repair enqueues are left to the running service: this queue
	// has no workers.
	queue := jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System(), Log: log})
	tenants := tenant.NewService(tenant.Deps{
		DB: db, Clock: clock.System(), Subscriptions: link, Overviews: link, Billing: link, Audit: trail,
	})
	link.entitlements = entitlement.NewService(entitlement.Deps{DB: db, Tenants: tenants})
	link.customers = customer.NewService(customer.Deps{
		DB: db, Clock: clock.System(), Jobs: queue, Tenants: tenants, Provider: provider, Audit: trail,
	})
	stored := subscription.NewService(subscription.Deps{
		DB: db, Clock: clock.System(), Jobs: queue, Provider: provider, Audit: trail, Log: log, Tenants: tenants,
		Customers: link.customers, Operations: link,
		Catalog: catalog.New(catalog.Deps{DB: db, Clock: clock.System(), Subscriptions: link, Audit: trail}),
	})
	link.operations = operation.NewService(operation.Deps{
		DB: db, Clock: clock.System(), Jobs: queue, Subscriptions: stored, Tenants: tenants, Provider: provider, Audit: trail,
	})
	subscriptions := reconcile.NewService(reconcile.Deps{
		DB: db, Clock: clock.System(), Jobs: queue, Subscriptions: stored, Provider: provider, Log: log,
	})
	invoices := invoice.NewService(invoice.Deps{
		DB: db, Clock: clock.System(), Jobs: queue, Provider: provider, Audit: trail, Log: log, Tenants: tenants,
		Subscriptions: stored, Issuing: issuing,
	})
	found, err := compareAll(ctx, comparisons(subscriptions, invoices), dryRun)
	return errors.Join(writeDifferences(out, s.InvoiceMode, found), err)
}

// comparison compares one kind of record with the payment provider.
type comparison interface {
	Now(ctx context.Context, dryRun bool) ([]compare.Difference, error)
	Start(ctx context.Context) error
}

// comparisons returns all comparisons. Subscriptions come first, because invoices
// refer to them.
func comparisons(s *reconcile.Service, i *invoice.Service) []comparison {
	return []comparison{s.Comparison(), i.Comparison()}
}

// compareAll runs all comparisons and returns their differences. One that fails
// does not stop the others.
func compareAll(ctx context.Context, all []comparison, dryRun bool) ([]compare.Difference, error) {
	found, failures := []compare.Difference{}, []error(nil)
	for _, c := range all {
		differ, err := c.Now(ctx, dryRun)
		found, failures = append(found, differ...), append(failures, err)
	}
	return found, errors.Join(failures...)
}

// startComparisons enqueues the jobs that compare everything.
func (svc *service) startComparisons(ctx context.Context) error {
	for _, c := range comparisons(svc.reconciler, svc.invoices) {
		if err := c.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeDifferences writes a line for each difference and a summary.
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
	if mode == settings.PSPManaged {
		if _, err := fmt.Fprintln(out, "Invoices are the provider's (psp_managed): only their stored ids were compared."); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d differences, %d repaired\n", len(found), repaired)
	return err
}

// reconcileNow handles POST /sandbox/stripe/reconcile. It answers the differences
// that it found, and repairs them unless the body is {"dry_run": true}.
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
	found, err := compareAll(r.Context(), comparisons(svc.reconciler, svc.invoices), params.DryRun)
	answer := map[string]any{"data": found}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		answer["message"] = err.Error()
	}
	_ = json.NewEncoder(w).Encode(answer) // fails only if the client is gone
}

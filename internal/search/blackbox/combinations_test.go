package blackbox_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Every list across tenants combines each filter, and all filters together, with each sort. The
// exported file has the same rows as the pages.
func TestListsCombineFiltersAndSorts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		s.BuyPlan(ada, "starter")
		s.BuyPlan(bob, "starter")
		s.Cancel(bob, true).Want(200)
		s.AwaitNotifications()
		apptest.Eventually(t, "the activity of both", func() bool { // it is recorded in the background, and changes the order
			return s.CountRows("SELECT count(*) FROM tenants WHERE last_activity_at IS NOT NULL") == 2
		})
		const later = "2199-01-01T00:00:00Z"
		for path, of := range map[string]struct {
			filters map[string]string
			sorts   []string
		}{
			"tenants": {
				map[string]string{
					"created_after": "2001-01-01T00:00:00Z", "created_before": later, "external_id": "x", "country": "DE", "trial_ends_before": later,
					"open_amount": "false", "search": "organization example ad", "plan": "starter,free", "status": "active,none,canceled",
				},
				[]string{"created_at", "name", "mrr", "last_activity_at"},
			},
			"invoices": {
				map[string]string{
					"status": "paid,open", "tenant": ada.Tenant, "currency": "EUR,USD", "issued_from": "2001-01-01", "issued_to": "2199-01-01",
					"overdue": "false", "number": "a",
				},
				[]string{"issue_date", "total", "due_date"},
			},
			"credit-notes": {
				map[string]string{
					"status": "issued", "tenant": ada.Tenant, "currency": "EUR", "issued_from": "2001-01-01", "issued_to": "2199-01-01", "refund_status": "pending",
				},
				[]string{"issue_date"},
			},
			"subscriptions": {
				map[string]string{
					"status": "active,canceled", "tenant": ada.Tenant, "plan": "starter", "collection": "card", "trial_ends_before": later, "renews_before": later,
				},
				[]string{"created_at", "current_period_end"},
			},
			"users": {
				map[string]string{
					"search": "ada example", "email": "ada@example.com", "tenant": ada.Tenant, "mfa": "false", "without_tenant": "false", "platform_admin": "false",
				},
				[]string{"created_at", "name"},
			},
			"webhook-deliveries": {
				map[string]string{"status": "failed,delivered", "type": "invoice.paid", "tenant": ada.Tenant, "endpoint": apptest.NoSuchID},
				[]string{"created_at"},
			},
		} {
			combinations := [][]string{nil, nil}
			for _, name := range slices.Sorted(maps.Keys(of.filters)) {
				filter := []string{"filter[" + name + "]", of.filters[name]}
				combinations[1] = append(combinations[1], filter...)
				combinations = append(combinations, filter)
			}
			for _, sort := range of.sorts {
				for _, order := range []string{sort, "-" + sort} {
					if order == "created_at" && path == "webhook-deliveries" {
						continue
					}
					for _, filters := range combinations {
						wantSameExport(t, s, admin, path, append([]string{"per_page", "100", "sort", order}, filters...))
					}
				}
			}
		}
	})
}

// wantSameExport checks that the file of a list has the entries of the list, in the same order.
func wantSameExport(t *testing.T, s *apptest.Server, admin, path string, query []string) {
	t.Helper()
	var shown, exported []string
	for _, id := range list(s, admin, path, query...).As(path).Want(200).Column("id") {
		shown = append(shown, fmt.Sprint(id))
	}
	rows := readCSV(t, list(s, admin, path, append(query, "format", "csv")...))
	for i := range rows[1:] {
		exported = append(exported, cell(t, rows, i+1, "id"))
	}
	if diff := cmp.Diff(shown, exported); diff != "" {
		t.Errorf("%s %v: %s", path, query, diff)
	}
}

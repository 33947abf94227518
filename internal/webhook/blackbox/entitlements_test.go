package blackbox_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// limits returns the limits in the data of entitlements.changed by feature.
func limits(m message) map[string]any {
	found := map[string]any{}
	rows, _ := m.event["data"].([]any)
	for _, row := range rows {
		found[row.(map[string]any)["key"].(string)] = row.(map[string]any)["limit"]
	}
	return found
}

// Each tenant whose entitlements differ gets entitlements.changed once per
// change, with the tenant's rows of /entitlements.
func TestEntitlementsChanged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("shop")
		feature := k.AdminCall("GET", "/features?filter[code]=api-calls", nil).Want(200).Str("data.0.id")
		allow := func(plan string, calls int) {
			k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{
				"entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": calls}},
			}).Want(200)
		}
		free := k.CreatePricedPlan(product, "nothing", map[string]int{"EUR": 0})
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 900})
		allow(free, 10)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		of := map[*apptest.Customer]*receiver{}
		for _, c := range []*apptest.Customer{ada, bob} {
			of[c] = newReceiver(t, nil)
			endpoint(s, c.Owner, of[c].url, "entitlements.changed")
		}
		made := s.Call("POST", "/api/v1/admin/tenants", s.Admin(), apptest.Object{"name": "Provisioned"}).Want(201).Str("data.id")
		all := newReceiver(t, nil)
		s.Call("POST", platform, s.Admin(), apptest.Object{"url": all.url, "events": []string{"entitlements.changed"}}).Want(201)
		wantLast := func(c *apptest.Customer, n int, want map[string]any) {
			t.Helper()
			all := of[c].await(n, "entitlements.changed")
			if diff := cmp.Diff(want, limits(all[n-1])); diff != "" || len(all) != n {
				t.Errorf("%s, event %d of %d: %s", c.Email, n, len(all), diff)
			}
		}
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": true}).Want(200)
		wantLast(ada, 1, map[string]any{"api-calls": 10.0})
		wantLast(bob, 1, map[string]any{"api-calls": 10.0})
		apptest.Eventually(t, "the event of the provisioned tenant", func() bool {
			for _, m := range all.await(1, "entitlements.changed") {
				if m.event["tenant_id"] == made {
					return true
				}
			}
			return false
		})
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"sort_order": 7}).Want(200) // changes no entitlement

		ada.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		wantLast(ada, 2, map[string]any{"api-calls": 1000.0})
		var changes sync.WaitGroup
		for range 4 { // concurrent changes may be published as one event
			changes.Go(func() { allow(free, 20) })
		}
		changes.Wait()
		wantLast(bob, 2, map[string]any{"api-calls": 20.0})
		s.Cancel(ada.Owner, true).Want(200)
		wantLast(ada, 3, map[string]any{"api-calls": 20.0})
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": false}).Want(200)
		wantLast(ada, 4, map[string]any{})
		wantLast(bob, 3, map[string]any{})
	})
}

// An import of a catalog file, which runs in its own process, publishes the
// changed entitlements as well.
func TestCatalogImportChangesEntitlements(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		got := newReceiver(t, nil)
		endpoint(s, ada.Owner, got.url, "entitlements.changed")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		if before := limits(got.await(1, "entitlements.changed")[0]); before["team-members"] != 5.0 {
			t.Fatalf("%v", before)
		}
		var catalog bytes.Buffer
		if err := commands.ExportCatalog(t.Context(), s.CLISettings(), commands.CatalogExport{}, &catalog); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "catalog.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(catalog.String(), "team-members: 5", "team-members: 6")), 0o600); err != nil {
			t.Fatal(err)
		}
		confirmed := func() (bool, error) { return true, nil }
		if err := commands.ImportCatalog(t.Context(), s.CLISettings(), commands.CatalogImport{File: file, Confirm: confirmed}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if after := limits(got.await(2, "entitlements.changed")[1]); after["team-members"] != 6.0 {
			t.Errorf("%v", after)
		}
	})
}

// The entitlements stay until the grace period ends, and its end is published
// once.
func TestGraceEndsOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		got := newReceiver(t, nil)
		endpoint(s, ada.Owner, got.url, "entitlements.changed", "subscription.past_due")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		got.await(1, "entitlements.changed")
		ends, err := time.Parse(time.RFC3339, ada.Subscription(ada.Owner).Str("data.current_period_end"))
		if err != nil {
			t.Fatal(err)
		}
		s.AdvanceTo(ends.Add(2 * time.Hour))
		late := got.await(1, "subscription.past_due")[0]
		if until, _ := late.event["data"].(map[string]any)["features_until"].(string); until == "" {
			t.Errorf("%v", late.event)
		}
		s.Advance(4 * apptest.Day) // a retry fails
		if all := got.await(1, "entitlements.changed"); len(all) != 1 {
			t.Errorf("in the grace period: %v", limits(all[1]))
		}
		s.Advance(apptest.Day)
		got.await(2, "entitlements.changed")
		s.Advance(2 * apptest.Day)
		if ended := got.await(2, "entitlements.changed"); len(ended) != 2 || len(limits(ended[1])) != 0 {
			t.Errorf("%d events, %v", len(ended), limits(ended[1]))
		}
	}, func(s *settings.Settings) { s.PastDueGrace = 5 * apptest.Day })
}

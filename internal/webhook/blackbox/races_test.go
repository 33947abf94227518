package blackbox_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Endpoints are created and deleted while a tenant changes. No change fails, a permanent endpoint
// receives each change once, and deleted endpoints leave no rows behind.
func TestEndpointLifecycle(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		r := newReceiver(t, nil)
		endpoint(s, ada, r.url+"/stays", "tenant.updated")
		changes := dbtest.Rounds(20, 200)
		var all sync.WaitGroup
		all.Go(func() {
			for i := range changes {
				s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": fmt.Sprint("Acme ", i)}).Want(200)
			}
		})
		for _, owner := range []struct{ base, token string }{{ada.Path("/webhook-endpoints"), ada.Token}, {platform, s.Admin()}} {
			all.Go(func() {
				for range changes / 4 {
					made := s.Call("POST", owner.base, owner.token, apptest.Object{"url": r.url + "/goes", "events": []string{"*"}}).Want(201)
					one := owner.base + "/" + made.Str("data.id")
					s.Call("PATCH", one, owner.token, apptest.Object{"enabled": false}).Want(200)
					s.Call("PATCH", one, owner.token, apptest.Object{"enabled": true}).Want(200)
					s.Call("DELETE", one, owner.token, nil).Want(204)
				}
			})
		}
		all.Wait()
		seen := map[any]int{}
		apptest.Eventually(t, "every change", func() bool {
			clear(seen)
			for _, m := range r.got("tenant.updated") {
				if m.path == "/stays" {
					seen[m.data("name")]++
				}
			}
			return len(seen) == changes
		})
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%v was sent %d times", name, n)
			}
		}
		if n := s.CountRows(`SELECT count(*) FROM webhook_deliveries d WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = d.endpoint_id)`); n != 0 {
			t.Errorf("%d deliveries without an endpoint", n)
		}
	})
}

// Only subscribed types are sent. An event without subscribers is not even stored.
func TestOnlyChosenTypesAreStored(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		stored := func() int { return s.CountRows(`SELECT count(*) FROM webhook_events`) }
		if n := stored(); n != 0 {
			t.Errorf("%d events stored without an endpoint", n)
		}
		r := newReceiver(t, nil)
		path, _ := endpoint(s, ada, r.url, "api_key.created")
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Acme"}).Want(200)
		if n := stored(); n != 0 {
			t.Errorf("%d events stored without a subscribed endpoint", n)
		}
		key := apptest.Object{"name": "K", "scopes": []string{"usage.read"}}
		s.Call("POST", ada.Path("/api-keys"), ada.Token, key).Want(201)
		r.await(1, "api_key.created")
		// Newly subscribed types are sent from then on.
		s.Call("PATCH", path, ada.Token, apptest.Object{"events": []string{"tenant.updated"}}).Want(200)
		s.Call("POST", ada.Path("/api-keys"), ada.Token, key).Want(201)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Other"}).Want(200)
		if m := r.await(1, "tenant.updated")[0]; m.data("name") != "Other" {
			t.Errorf("%s", m.body)
		}
		// A rejected change publishes nothing.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"slug": "a b"}).WantInvalid("slug")
		if n := stored(); n != 2 {
			t.Errorf("%d events are stored", n)
		}
	})
}

// The platform receives the creation and deletion of tenants, however they are triggered.
func TestEventsOfTheLifeOfTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		r := newReceiver(t, nil)
		s.Call("POST", platform, admin, apptest.Object{"url": r.url, "events": []string{"tenant.created", "tenant.deleted", "member.joined"}}).Want(201)
		ada := s.Register("ada@example.com", false)
		alone := s.RegisterAlone("Bob", "bob@example.com")
		made := s.Call("POST", "/api/v1/tenants", alone, apptest.Object{"name": "Bob & Co"}).Want(201).Str("data.id")
		created := map[any]any{}
		for _, m := range r.await(2, "tenant.created") {
			created[m.data("id")] = m.data("name")
			owner, _ := m.data("owner").(map[string]any)
			if m.event["tenant_id"] != m.data("id") || owner == nil || m.data("user_role") != nil {
				t.Errorf("%s", m.body)
			}
		}
		if len(created) != 2 || created[ada.Tenant] != "Ada's Organization" || created[made] != "Bob & Co" {
			t.Errorf("%v", created)
		}
		// The owner of a new tenant does not count as a joining member, and a tenant with members
		// cannot be deleted.
		s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant, admin, nil).WantRefused(409, "TENANT_NOT_EMPTY")
		apptest.Exec(t, s.DB(), `DELETE FROM memberships WHERE tenant_id = $1`, ada.Tenant)
		s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant, admin, nil).Want(204)
		if m := r.await(1, "tenant.deleted")[0]; m.data("id") != ada.Tenant || m.data("name") != "Ada's Organization" || m.event["tenant_id"] != ada.Tenant {
			t.Errorf("%s", m.body)
		}
		if n := len(r.got()); n != 3 {
			t.Errorf("%d messages", n)
		}
	})
}

// Validation errors are translated into the requested language.
func TestRefusalsOfEndpointsInFourLanguages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		path, _ := endpoint(s, ada, "https://example.com/", "*")
		ask := func(locale, path string, body apptest.Object) apptest.Reply {
			r := s.NewRequest("POST", path, ada.Token, body)
			r.Header.Set("Accept-Language", locale)
			return s.Do(r)
		}
		for locale, want := range map[string][2]string{
			"en": {"This must be an https URL with a public address.", "This must be within the last 30 days."},
			"fr": {"Cette valeur doit être une URL https avec une adresse publique.", "Cette date doit se situer dans les 30 derniers jours."},
			"es": {"Debe ser una URL https con una dirección pública.", "Debe estar dentro de los últimos 30 días."},
			"it": {"Deve essere un URL https con un indirizzo pubblico.", "Deve rientrare negli ultimi 30 giorni."},
		} {
			ask(locale, ada.Path("/webhook-endpoints"), apptest.Object{"url": "https://10.0.0.1/", "events": []string{"*"}}).Want(422).WantAt("message", want[0])
			ask(locale, path+"/replay", apptest.Object{"since": s.Now().Add(-31 * apptest.Day)}).Want(422).WantAt("message", want[1])
		}
	})
}

package blackbox_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// kinds counts messages by type.
func kinds(all []message) map[string]int {
	n := map[string]int{}
	for _, m := range all {
		n[m.kind()]++
	}
	return n
}

// Every event of a tenant and its team goes to the tenant and to the platform under the same ID,
// with the resource in the API's format. Other tenants receive nothing.
func TestEventsOfTenantsAndTeams(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		all, own, other := newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)
		s.Call("POST", platform, admin, apptest.Object{"url": all.url, "events": []string{"*"}}).Want(201)
		eve := s.Register("eve@example.com", true)
		endpoint(s, eve, other.url, "*")
		all.await(2, "tenant.created", "tenant.updated") // Eve's events
		ada := s.Register("ada@example.com", true)
		endpoint(s, ada, own.url, "*")

		e := teamEvents{Server: s, ada: ada, admin: admin, all: all, own: own}
		e.changeTenant(t)
		e.followMember(t)
		e.makeInvitationsAndKeys(t)
		e.reachPlatform(t)
		if n := len(other.got()); n != 0 {
			t.Errorf("another tenant got %d messages", n)
		}
		// The platform's API keys have no tenant, even if the command line creates them. The
		// deletion of a tenant is published after the deletion itself.
		if err := commands.CreateAPIKey(t.Context(), s.CLISettings(), "backend", []string{"usage.write"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "the platform's key", func() bool {
			for _, m := range all.got("api_key.created") {
				if m.event["tenant_id"] == nil && m.data("name") == "backend" {
					return true
				}
			}
			return false
		})
	})
}

// teamEvents are the events of a tenant.
type teamEvents struct {
	*apptest.Server
	ada      apptest.Owner
	admin    string // token
	all, own *receiver
}

func (s teamEvents) changeTenant(t *testing.T) {
	ada, own := s.ada, s.own
	s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Acme", "settings": apptest.Object{"locale": "fr"}}).Want(200)
	shown := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).At("data").(map[string]any)
	changed := own.await(1, "tenant.updated")[0]
	want := apptest.WithChanges(shown, apptest.Object{"user_joined_at": nil, "user_role": nil, "user_permissions": []any{}})
	if diff := cmp.Diff(want, changed.event["data"]); diff != "" || changed.event["tenant_id"] != ada.Tenant {
		t.Error(diff)
	}
	s.Call("PATCH", "/api/v1/admin/tenants/"+ada.Tenant, s.admin, apptest.Object{"name": "Acme 2"}).Want(200)
}

// A member joins, changes role and is removed.
func (s teamEvents) followMember(t *testing.T) {
	ada, admin, own := s.ada, s.admin, s.own
	_, member := s.Join(ada, "Bob", "bob@example.com", "member")
	joined := own.await(1, "member.joined")[0]
	shownBob := s.Call("GET", ada.Path("/team/members"), ada.Token, nil).Want(200).At("data.1").(map[string]any)
	want := apptest.WithChanges(shownBob, apptest.Object{"mfa_enabled": nil}) // shown only to callers with team.manage
	if diff := cmp.Diff(want, joined.event["data"]); diff != "" {
		t.Error(diff)
	}
	accepted := own.await(1, "invitation.accepted")[0]
	if accepted.data("status") != "accepted" || accepted.data("email") != "bob@example.com" || accepted.data("token") != nil {
		t.Errorf("%s", accepted.body)
	}
	bob := apptest.IDText(float64(member))
	role := s.CreateRole(ada, "Clerk", "team.invite")
	s.Call("PATCH", ada.Path("/team/members/"+bob+"/role"), ada.Token, apptest.Object{"role_id": role}).Want(200)
	s.Call("DELETE", ada.Path("/roles/"+fmt.Sprint(role)), ada.Token, nil) // resets Bob's role to member
	s.Call("PATCH", "/api/v1/admin/tenants/"+ada.Tenant+"/members/"+bob+"/role", admin, apptest.Object{"role_id": s.RoleID(ada, "admin")}).Want(200)
	// The role that the member already has is not a change.
	for path, token := range map[string]string{ada.Path("/team/members/"): ada.Token, "/api/v1/admin/tenants/" + ada.Tenant + "/members/": admin} {
		s.Call("PATCH", path+bob+"/role", token, apptest.Object{"role_id": s.RoleID(ada, "admin")}).Want(200)
	}
	if n := s.CountAudited(ada, "member.role_changed"); n != 2 {
		t.Errorf("%d changes of roles in the audit trail", n)
	}
	roles := own.await(3, "member.role_changed")
	names := map[any]bool{}
	for _, m := range roles {
		names[m.data("role").(map[string]any)["name"]] = true
	}
	if diff := cmp.Diff(map[any]bool{"Clerk": true, "member": true, "admin": true}, names); diff != "" {
		t.Error(diff)
	}
	s.Call("DELETE", ada.Path("/team/members/"+bob), ada.Token, nil).Want(200)
	if left := own.await(1, "member.removed")[0]; left.data("email") != "bob@example.com" {
		t.Errorf("%s", left.body)
	}
}

func (s teamEvents) makeInvitationsAndKeys(t *testing.T) {
	ada, admin, own := s.ada, s.admin, s.own
	invitation, _ := s.Invite(ada, "cy@example.com", "member")
	s.Call("DELETE", ada.Path("/team/invitations/"+invitation), ada.Token, nil).Want(200)
	if m := own.await(1, "invitation.revoked")[0]; m.data("id") != invitation || m.data("status") != "revoked" {
		t.Errorf("%s", m.body)
	}
	again := s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invitations", admin, apptest.Object{"email": "di@example.com", "role": "member"}).Want(201).Str("data.id")
	s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant+"/invitations/"+again, admin, nil).Want(200)

	key := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "K", "scopes": []string{"usage.read"}}).Want(201)
	if m := own.await(1, "api_key.created")[0]; m.data("id") != key.At("data.id") || m.data("secret") != nil {
		t.Errorf("%s", m.body)
	}
	s.Call("POST", ada.Path("/api-keys/")+key.Str("data.id")+"/rotate", ada.Token, apptest.Object{}).Want(201)
	own.await(2, "api_key.created")
}

// The platform gets each event of the tenant once, under the same ID.
func (s teamEvents) reachPlatform(t *testing.T) {
	all, own := s.all, s.own
	own.wantKinds(map[string]int{
		"tenant.updated": 2, "member.joined": 1, "member.role_changed": 3, "member.removed": 1, "invitation.created": 3,
		"invitation.accepted": 1, "invitation.revoked": 2, "api_key.created": 2, "api_key.revoked": 1,
	})
	for _, m := range own.got() {
		same := func() (n int) {
			for _, p := range all.got(m.kind()) {
				if p.id == m.id && string(p.body) == string(m.body) {
					n++
				}
			}
			return n
		}
		apptest.Eventually(t, "the platform's "+m.kind(), func() bool { return same() > 0 })
		if n := same(); n != 1 {
			t.Errorf("the platform got %s %d times", m.kind(), n)
		}
	}
}

// Subscriptions and invoices publish events from checkout to cancellation.
func TestEventsOfBilling(t *testing.T) {
	t.Parallel()
	for name, option := range map[string][]apptest.Option{"provider's": nil, "ours": {apptest.WithPlatformInvoices}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, billingEvents, option...)
		})
	}
}

func billingEvents(t *testing.T, s *apptest.Server) {
	ada := s.Register("ada@example.com", true)
	r := newReceiver(t, nil)
	endpoint(s, ada, r.url, "subscription.created", "subscription.updated", "subscription.past_due", "subscription.canceled",
		"invoice.issued", "invoice.paid", "invoice.voided")
	s.BuyPlanWith(ada, "starter", apptest.CardFailsAtRenewal)
	s.AwaitNotifications()
	shown := s.Subscription(ada).Want(200)
	made := r.await(1, "subscription.created")[0]
	if made.data("id") != shown.At("data.id") || made.data("plan").(map[string]any)["name"] != "Starter" {
		t.Errorf("%s", made.body)
	}
	invoice := s.Invoices(ada, 1)[0].(map[string]any)
	if m := r.await(1, "invoice.issued")[0]; m.data("id") != invoice["id"] || m.data("number") != invoice["number"] {
		t.Errorf("%s", m.body)
	}
	if m := r.await(1, "invoice.paid")[0]; m.data("id") != invoice["id"] || m.data("status") != "paid" {
		t.Errorf("%s", m.body)
	}
	// Scheduling and withdrawing a cancellation changes the subscription.
	s.Cancel(ada, false).Want(200)
	scheduled := r.find("subscription.updated", func(m message) bool { return m.data("cancel_at_period_end") == true })
	s.Resume(ada).Want(200)
	r.find("subscription.updated", func(m message) bool {
		return m.data("cancel_at_period_end") == false && m.event["timestamp"].(string) > scheduled.event["timestamp"].(string)
	})
	// The renewal fails.
	s.Advance(31 * apptest.Day)
	s.Advance(2 * time.Hour)
	s.AwaitNotifications()
	ada.Token = s.LogIn("ada@example.com")
	if m := r.await(1, "subscription.past_due")[0]; m.data("status") != "past_due" {
		t.Errorf("%s", m.body)
	}
	issued := r.await(2, "invoice.issued")
	if len(r.got("invoice.paid")) != 1 {
		t.Errorf("%d invoices are paid", len(r.got("invoice.paid")))
	}
	open, _ := issued[1].data("id").(string)
	s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+open+"/void", s.Admin(), nil).Want(200)
	if m := r.await(1, "invoice.voided")[0]; m.data("id") != open || m.data("status") != "void" {
		t.Errorf("%s", m.body)
	}
	s.Call("POST", ada.Path("/subscription/cancel"), ada.Token, apptest.Object{"immediately": true, "reason": "Enough"}).Want(200)
	if m := r.await(1, "subscription.canceled")[0]; m.data("status") != "canceled" || m.data("cancellation_reason") != "Enough" {
		t.Errorf("%s", m.body)
	}
	s.AwaitNotifications()
	for kind, most := range map[string]int{"subscription.created": 1, "subscription.past_due": 1, "subscription.canceled": 1, "invoice.voided": 1} {
		if n := len(r.got(kind)); n != most {
			t.Errorf("%s sent %d times", kind, n)
		}
	}
}

// Hard and soft quotas publish events at 80 and 100 percent, once per period.
func TestEventsOfQuotas(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.AwaitNotifications()
		r := newReceiver(t, nil)
		endpoint(s, ada, r.url, "usage.quota_warning", "usage.quota_reached")
		// api-calls has a hard quota, storage-gb a soft one.
		for _, code := range []string{"api-calls", "storage-gb"} {
			quota := func() map[string]any {
				for _, row := range s.Call("GET", ada.Path("/usage/quotas"), ada.Token, nil).Want(200).At("data.meters").([]any) {
					if row := row.(map[string]any); row["meter_code"] == code {
						return row
					}
				}
				return nil
			}
			limit := quota()["quota_limit"].(float64)
			record := func(quantity float64) {
				s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": code, "quantity": quantity}).Want(201)
			}
			count := len(r.got())
			record(limit * 0.8)
			warned := r.await(count + 1)[count]
			if diff := cmp.Diff(quota(), warned.event["data"]); diff != "" || warned.kind() != "usage.quota_warning" {
				t.Errorf("%s: %s %s", code, warned.kind(), diff)
			}
			if code == "api-calls" {
				record(limit * 0.2)
			} else {
				record(limit) // a gauge: the last value counts
				record(limit)
			}
			reached := r.await(count + 2)[count+1]
			if diff := cmp.Diff(quota(), reached.event["data"]); diff != "" || reached.kind() != "usage.quota_reached" {
				t.Errorf("%s: %s %s", code, reached.kind(), diff)
			}
		}
		if n := len(r.got()); n != 4 {
			t.Errorf("%d messages", n)
		}
		apptest.Eventually(t, "the mails of the soft quota", func() bool { return len(s.Mails("billing@example.com")) == 2 })
	})
}

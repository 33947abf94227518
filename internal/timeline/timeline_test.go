package timeline_test

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// add records an audit entry of the tenant at the given time.
func add(t *testing.T, s *apptest.Server, tenant, action string, at time.Time) {
	t.Helper()
	id := uuid.MustParse(tenant)
	log := audit.New(audit.Deps{DB: s.DB(), Clock: clock.NewFixed(at)})
	err := s.DB().Tx(t.Context(), func(ctx context.Context) error {
		return log.Record(ctx, audit.Entry{Action: action, TenantID: &id, Resource: "thing", ResourceID: "1"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func types(a apptest.Reply) []string {
	found := []string{}
	for _, name := range a.Column("type") {
		found = append(found, name.(string))
	}
	return found
}

func timeline(o apptest.Owner) string { return "/api/v1/admin/tenants/" + o.Tenant + "/timeline" }

// An entry has the names of its actor and record, and contains every key even if the value is null.
func TestEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		adaID := float64(s.UserID(ada.Token))
		admin := s.Admin()
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		role := s.CreateRole(ada, "Clerk", "team.invite")
		s.Call("PATCH", ada.Path("/team/members/"+apptest.IDText(float64(bob))+"/role"), ada.Token, apptest.Object{"role_id": role}).Want(200)
		newest := func(path, token string) apptest.Object {
			t.Helper()
			entry, _ := s.Call("GET", path+"?per_page=1", token, nil).Want(200).At("data.0").(apptest.Object)
			return entry
		}
		tenant := apptest.Object{"id": ada.Tenant, "name": "Ada's Organization"}
		got := newest(ada.Path("/timeline"), ada.Token)
		facts, _ := got["facts"].(apptest.Object)
		want := apptest.Object{
			"id": got["id"], "type": "member.role_changed", "kind": "changes", "at": got["at"], "tenant": tenant,
			"by": "user", "actor": apptest.Object{"id": adaID, "name": "Ada"}, "acting_as": nil, "api_key": nil,
			"facts": apptest.Object{
				"resource": facts["resource"], "resource_id": apptest.IDText(float64(bob)), "resource_name": "Bob",
				"before": facts["before"], "after": facts["after"],
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a change of a role: %s", diff)
		}
		log := s.Call("GET", ada.Path("/audit-logs?per_page=1"), ada.Token, nil).Want(200)
		for _, key := range []string{"before", "after", "resource", "resource_id"} {
			if diff := cmp.Diff(log.At("data.0."+key), facts[key]); diff != "" || facts[key] == nil {
				t.Errorf("%s differs from the audit log: %s", key, diff)
			}
		}
		if got["at"] != log.At("data.0.created_at") || got["id"] != "audit-"+apptest.IDText(log.At("data.0.id").(float64)) {
			t.Errorf("%v is not %s", got, log.Text)
		}

		// During impersonation, the entry names both the admin and the impersonated user.
		adminID := float64(s.UserID(admin))
		s.Impersonate(admin, ada).Want(200)
		s.Call("PATCH", "/api/v1/tenant", admin, apptest.Object{"name": "Renamed"}).Want(200)
		got = newest(ada.Path("/timeline"), admin)
		who, _ := got["actor"].(apptest.Object)
		facts, _ = got["facts"].(apptest.Object)
		if who["id"] != adminID || who["name"] == "" || !cmp.Equal(got["acting_as"], any(apptest.Object{"id": adaID, "name": "Ada", "reason": nil})) ||
			got["type"] != "tenant.updated" || facts["resource_name"] != "Renamed" {
			t.Errorf("while impersonating: %v", got)
		}

		// An entry without an actor and with an unnamed resource.
		add(t, s, ada.Tenant, "thing.ended", s.Now().Add(time.Hour))
		got = newest(timeline(ada), s.Admin())
		want = apptest.Object{
			"id": got["id"], "type": "thing.ended", "kind": "changes", "at": got["at"],
			"tenant": apptest.Object{"id": ada.Tenant, "name": "Renamed"}, "by": "service", "actor": nil, "acting_as": nil, "api_key": nil,
			"facts": apptest.Object{"resource": "thing", "resource_id": "1", "resource_name": nil, "before": nil, "after": nil},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("an entry of the service: %s", diff)
		}
	})
}

// Entries name API keys, but not users who were deleted.
func TestNamesOfKeysAndDeletedUsers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "admin")
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "Metering", "scopes": []any{"usage.write"}}).Want(201).Str("data.id")
		s.Call("PATCH", "/api/v1/tenant", bob, apptest.Object{"name": "Renamed"}).Want(200)
		apptest.Exec(t, s.DB(), "UPDATE audit_logs SET actor_id = NULL, api_key_id = $1 WHERE action = 'tenant.updated' AND tenant_id = $2", key, ada.Tenant)
		list := func() apptest.Reply {
			t.Helper()
			return s.Call("GET", ada.Path("/timeline?per_page=100"), ada.Token, nil).Want(200)
		}
		entry := func(a apptest.Reply, action string) string {
			t.Helper()
			i := slices.Index(types(a), action)
			if i < 0 {
				t.Fatalf("no %s in %v", action, types(a))
			}
			return "data." + strconv.Itoa(i)
		}
		a := list()
		a.WantAt(entry(a, "tenant.updated")+".actor", nil).WantAt(entry(a, "tenant.updated")+".by", "api_key")
		a.WantAt(entry(a, "tenant.updated")+".api_key", apptest.Object{"id": key, "name": "Metering"})
		a.WantAt(entry(a, "api_key.created")+".facts.resource_name", "Metering")
		a.WantAt(entry(a, "invitation.accepted")+".actor", apptest.Object{"id": float64(id), "name": "Bob"})
		apptest.Exec(t, s.DB(), "UPDATE users SET deleted_at = created_at, name = '' WHERE id = $1", id)
		a = list()
		a.WantAt(entry(a, "invitation.accepted")+".actor", nil).WantAt(entry(a, "invitation.accepted")+".by", "former_user")
	})
}

// Pagination lists each entry once and in order, despite equal timestamps and concurrent inserts.
func TestPagesWhileEntriesAreAdded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		s.AwaitNotifications()
		apptest.Exec(t, s.DB(), "DELETE FROM audit_logs") // remove the entries of the setup
		apptest.Exec(t, s.DB(), "DELETE FROM payment_entries")
		for i := range 7 { // three timestamps
			add(t, s, ada.Tenant, "a"+strconv.Itoa(i), noon.Add(time.Duration(i/3)*time.Microsecond))
		}
		want := []string{"a6", "a5", "a4", "a3", "a2", "a1", "a0"}
		for who, path := range map[string]string{ada.Token: ada.Path("/timeline"), admin: timeline(ada)} {
			for per := 1; per <= 8; per++ {
				var seen []string
				cursor := ""
				for pages := 0; ; pages++ {
					a := s.Call("GET", path+"?per_page="+strconv.Itoa(per)+"&cursor="+cursor, who, nil).Want(200)
					a.WantAt("meta.per_page", float64(per))
					seen = append(seen, types(a)...)
					next, more := a.At("meta.next_cursor").(string)
					if !more {
						break
					}
					if len(types(a)) != per || pages > 7 {
						t.Fatalf("page %d of %d: %s", pages, per, a.Text)
					}
					cursor = url.QueryEscape(next)
					add(t, s, ada.Tenant, "later", noon.Add(time.Hour))
				}
				if diff := cmp.Diff(want, seen); diff != "" {
					t.Errorf("%d a page: %s", per, diff)
				}
				apptest.Exec(t, s.DB(), "DELETE FROM audit_logs WHERE action = 'later'")
			}
		}
		all := s.Call("GET", "/api/v1/admin/activity", admin, nil).Want(200)
		if diff := cmp.Diff(want, types(all)); diff != "" {
			t.Errorf("everywhere: %s", diff)
		}
		all.WantAt("meta", apptest.Object{"next_cursor": nil, "per_page": 25.0})
		if got := types(s.Call("GET", ada.Path("/timeline?kind=changes&per_page=2"), ada.Token, nil).Want(200)); !slices.Equal(got, want[:2]) {
			t.Errorf("only changes: %v", got)
		}
		for _, kind := range []string{"payments", "usage", "webhooks"} {
			for who, path := range map[string]string{ada.Token: ada.Path("/timeline"), admin: "/api/v1/admin/activity"} {
				a := s.Call("GET", path+"?kind="+kind, who, nil).Want(200)
				a.WantAt("data", []any{})
				a.WantAt("meta", apptest.Object{"next_cursor": nil, "per_page": 25.0})
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		const someID = "01990000-0000-7000-8000-000000000000"
		encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
		for query, field := range map[string]string{
			"kind=emails": "kind", "kind=Changes": "kind", "kind=changes,usage": "kind",
			"per_page=0": "per_page", "per_page=101": "per_page", "per_page=ten": "per_page",
			"cursor=x": "cursor", "cursor=%21%21": "cursor", "cursor=" + encode("1"): "cursor", "cursor=" + encode("1.1"): "cursor", "cursor=" + encode("1.audit.x"): "cursor",
			"cursor=" + encode("x.audit.1"): "cursor", "cursor=" + encode("+1.audit.1"): "cursor", "cursor=" + encode("1.audit.1.1"): "cursor",
			"cursor=" + encode("9223372036854775807.audit.1"): "cursor", "cursor=" + encode("-9223372036854775808.audit.1"): "cursor",
			"cursor=" + encode("1.audit.9223372036854775808"): "cursor", "cursor=" + encode("1.audit.1") + "%3D": "cursor",
			"cursor=" + encode("1.mails.1"): "cursor", "cursor=" + encode("1.alert.1"): "cursor", "cursor=" + encode("1.audit.0"): "cursor",
			"cursor=" + encode("1.audit.01990000-0000-7000-8000-000000000000"): "cursor", "cursor=" + encode("1.webhook.01990000"): "cursor",
			"cursor=" + encode("3600000000.refused.1"): "cursor", "cursor=" + encode("3600000000.refused."+someID): "cursor",
			"cursor=" + encode("3600000000.refused.1_"+someID): "cursor", "cursor=" + encode("3600000000.refused.x_"+someID+"_"+someID): "cursor",
			"cursor=" + encode("3600000000.refused.2_"+someID+"_"+someID): "cursor", "cursor=" + encode("3600000001.refused.1_"+someID+"_"+someID): "cursor",
			"cursor=" + encode("3600000000.alert.1_"+someID+"_"+someID): "cursor", "cursor=" + encode("3600000000.refused.1_"+someID+"_"+someID+"_"): "cursor",
			"kind=usage&cursor=x": "cursor",
		} {
			for who, path := range map[string]string{ada.Token: ada.Path("/timeline"), admin: "/api/v1/admin/activity"} {
				s.Call("GET", path+"?"+query, who, nil).As(query).WantInvalid(field)
			}
			s.Call("GET", timeline(ada)+"?"+query, admin, nil).As(query).WantInvalid(field)
		}
		for query, message := range map[string]string{
			"filter[kind]=payments": "The filter kind is not supported here.", "filter[tenant]=x": "The filter tenant is not supported here.",
			"sort=at": "Sorting by at is not supported here.",
		} {
			for path, who := range map[string]string{ada.Path("/timeline"): ada.Token, "/api/v1/admin/activity": admin, timeline(ada): admin} {
				a := s.Call("GET", path+"?"+query, who, nil).As(path + " " + query)
				a.WantRefused(400, "")
				a.WantAt("message", message)
			}
		}
		a := s.Call("GET", ada.Path("/timeline?cursor="+encode("0.audit.1")), ada.Token, nil).Want(200)
		a.WantAt("data", []any{}) // no entry is that old
		s.Call("GET", ada.Path("/timeline?cursor="+encode("3600000000.refused.1_"+someID+"_"+someID)), ada.Token, nil).Want(200).WantAt("data", []any{})
		s.Call("GET", "/api/v1/admin/tenants/01990000-0000-7000-8000-000000000000/timeline", admin, nil).WantRefused(404, "")
		s.Call("GET", "/api/v1/admin/tenants/x/timeline", admin, nil).WantRefused(404, "")
	})
}

// Access requires the right permission, and a cursor never opens the timeline of another tenant.
func TestTimelinePermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		member, id := s.Join(ada, "Bob", "bob@example.com", "member")
		admin := s.Admin()
		read := func(path, token string) apptest.Reply {
			t.Helper()
			return s.Call("GET", path, token, nil).As(path)
		}
		for _, path := range []string{"/api/v1/admin/activity", timeline(ada)} {
			read(path, "").WantRefused(401, "")
			read(path, ada.Token).WantRefused(403, "")
			read(path, admin).Want(200)
		}
		read(ada.Path("/timeline"), "").WantRefused(401, "")
		read(ada.Path("/timeline"), other.Token).WantRefused(403, "")
		read(ada.Path("/timeline"), admin).WantRefused(403, "")
		read(ada.Path("/timeline?cursor=x"), member).WantRefused(403, "")
		role := s.CreateRole(ada, "Auditor", "audit.view")
		s.Call("PATCH", ada.Path("/team/members/"+apptest.IDText(float64(id))+"/role"), ada.Token, apptest.Object{"role_id": role}).Want(200)
		read(ada.Path("/timeline"), member).Want(200)
		read(other.Path("/timeline"), member).WantRefused(403, "")

		for i := range 4 {
			for _, o := range []apptest.Owner{ada, other} {
				add(t, s, o.Tenant, "b"+strconv.Itoa(i), s.Now().Add(time.Hour))
			}
		}
		own := func(a apptest.Reply, o apptest.Owner) {
			t.Helper()
			if len(types(a.Want(200))) == 0 {
				t.Error("no entries")
			}
			for _, tenant := range a.Column("tenant") {
				if of, _ := tenant.(apptest.Object); of["id"] != o.Tenant {
					t.Errorf("an entry of %v", tenant)
				}
			}
		}
		first := read(ada.Path("/timeline?per_page=2"), ada.Token)
		own(first, ada)
		own(read(other.Path("/timeline?cursor="+first.Str("meta.next_cursor")), other.Token), other)
		own(read(timeline(other)+"?cursor="+first.Str("meta.next_cursor"), admin), other)
		everywhere := map[string]bool{}
		for _, tenant := range read("/api/v1/admin/activity?per_page=8", admin).Want(200).Column("tenant") {
			of, _ := tenant.(apptest.Object)
			everywhere[of["id"].(string)] = true
		}
		if !everywhere[ada.Tenant] || !everywhere[other.Tenant] || len(everywhere) != 2 {
			t.Errorf("activity is of %v", everywhere)
		}
	})
}

// A time line starts at from, inclusive, and ends at to, exclusive, on every page.
func TestPeriod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		for _, at := range []string{"2026-02-27T23:59:59.999999Z", "2026-02-28T00:00:00Z", "2026-02-28T12:00:00Z", "2026-03-01T23:59:59.999999Z", "2026-03-02T00:00:00Z"} {
			when, err := time.Parse(time.RFC3339Nano, at)
			if err != nil {
				t.Fatal(err)
			}
			add(t, s, o.Tenant, "day."+when.Format("02h15"), when)
		}
		own := o.Path("/timeline")
		for query, want := range map[string][]string{
			"from=2026-02-28T00:00:00Z&to=2026-03-02T00:00:00Z":        {"day.01h23", "day.28h12", "day.28h00"},
			"to=2026-02-28T00:00:00Z":                                  {"day.27h23"},
			"from=2026-02-28T01:00:00%2B01:00&to=2026-03-01T00:00:00Z": {"day.28h12", "day.28h00"},
			"from=2026-02-25T00:00:00Z&to=2026-02-26T00:00:00Z":        {},
			"from=2026-03-01T00:00:00Z&to=2026-02-28T00:00:00Z":        {},
		} {
			if diff := cmp.Diff(want, types(s.Call("GET", own+"?"+query, o.Token, nil).Want(200))); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
			found, cursor := []string{}, ""
			for range 5 {
				answer := s.Call("GET", own+"?per_page=1&cursor="+cursor+"&"+query, o.Token, nil).Want(200)
				found = append(found, types(answer)...)
				next, more := answer.At("meta.next_cursor").(string)
				if cursor = next; !more {
					break
				}
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("%s, page by page: %s", query, diff)
			}
		}
		s.Call("GET", own+"?from=yesterday&to=2026-03-01", o.Token, nil).WantInvalid("from", "to")
	})
}

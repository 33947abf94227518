package blackbox_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// seed adds six entries, two at each of three times: just before the midnight that starts the day
// of noon, at that midnight, and at noon.
func seed(t *testing.T, s *apptest.Server, actor int64) (tenant string) {
	t.Helper()
	id := sqldb.NewID()
	midnight := noon.Truncate(24 * time.Hour)
	for i, at := range []time.Time{midnight.Add(-time.Microsecond), midnight.Add(-time.Microsecond), midnight, midnight, noon, noon} {
		log := audit.New(audit.Deps{DB: s.DB(), Clock: clock.NewFixed(at)})
		ctx := t.Context()
		if i%2 == 0 {
			ctx = authz.With(ctx, &authz.Caller{UserID: actor})
		}
		err := s.DB().Tx(ctx, func(ctx context.Context) error {
			return log.Record(ctx, audit.Entry{Action: "a" + strconv.Itoa(i), TenantID: &id, Resource: "r", ResourceID: "1"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return id.String()
}

func TestAuditLogFilters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Admin()
		actor := s.UserID(token)
		tenant := seed(t, s, actor)
		s.Run(t, "filters, sorts and pages select entries", func(t *testing.T, s *apptest.Server) { selectedEntries(t, s, token, tenant, actor) })
		s.Run(t, "an entry has every key", func(t *testing.T, s *apptest.Server) { entryWithEveryKey(t, s, token, tenant) })
		s.Run(t, "pages return each entry once", func(t *testing.T, s *apptest.Server) { pagesOfEntries(t, s, token, tenant) })
	})
}

// allEntries are the actions of the seed, newest first.
var allEntries = []string{"a5", "a4", "a3", "a2", "a1", "a0"}

// entries returns the audit log of a tenant.
func entries(s *apptest.Server, token, tenant, query string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/admin/audit-logs?filter[tenant]="+tenant+"&"+query, token, nil).As(query)
}

func selectedEntries(t *testing.T, s *apptest.Server, token, tenant string, actor int64) {
	all := allEntries
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"", all},
		{"sort=-created_at", all},
		{"sort=created_at", []string{"a0", "a1", "a2", "a3", "a4", "a5"}},
		{"filter[action]=a3", []string{"a3"}},
		{"filter[action]=%20a3%20", []string{"a3"}},
		{"filter[action]=A3", []string{}},
		{"filter[action]=a%25", []string{}},
		{"filter[action]=", all},
		{"filter[action]=a1&filter[action]=a2", []string{"a2"}},
		{"filter[actor]=" + strconv.FormatInt(actor, 10), []string{"a4", "a2", "a0"}},
		{"filter[actor]=0", []string{}},
		{"filter[actor]=-1", []string{}},
		{"filter[created_after]=2026-03-01", []string{"a5", "a4", "a3", "a2"}},
		{"filter[created_after]=2026-02-28", all},
		{"filter[created_after]=2026-03-02", []string{}},
		{"filter[created_before]=2026-02-28", []string{"a1", "a0"}},
		{"filter[created_before]=2026-03-01", all},
		{"filter[created_before]=2026-03-01T00:00:00Z", []string{"a3", "a2", "a1", "a0"}},
		{"filter[created_before]=2026-03-01T01:00:00%2B01:00", []string{"a3", "a2", "a1", "a0"}},
		{"filter[created_after]=2026-03-01T00:00:00.000001Z", []string{"a5", "a4"}},
		{"filter[created_after]=2026-03-01T12:00:00Z", []string{"a5", "a4"}},
		{"filter[created_after]=2026-03-01&filter[created_before]=2026-03-01T11:59:59.999999Z", []string{"a3", "a2"}},
		{"filter[created_after]=2026-03-01&filter[created_before]=2026-02-28", []string{}},
		{"filter[created_after]=2026-03-01&filter[actor]=" + strconv.FormatInt(actor, 10), []string{"a4", "a2"}},
		{"per_page=4", []string{"a5", "a4", "a3", "a2"}},
		{"per_page=4&page=2", []string{"a1", "a0"}},
		{"per_page=4&page=3", []string{}},
		{"page=9223372036854775807", []string{}},
		{"per_page=100", all},
		{"unknown=1", all},
		{"sort=created_at&per_page=1&page=2", []string{"a1"}},
	} {
		if diff := cmp.Diff(tt.want, entries(s, token, tenant, tt.query).Actions()); diff != "" {
			t.Errorf("%s: %s", tt.query, diff)
		}
	}
	upper := "/api/v1/admin/audit-logs?filter[tenant]=" + strings.ToUpper(tenant)
	if got := s.Call("GET", upper, token, nil).Actions(); len(got) != 6 {
		t.Errorf("the id in upper case finds %q", got)
	}
}

// An entry contains every key, including keys with null values.
func entryWithEveryKey(t *testing.T, s *apptest.Server, token, tenant string) {
	got, _ := entries(s, token, tenant, "filter[action]=a1").At("data.0").(apptest.Object)
	want := apptest.Object{
		"id": got["id"], "actor_id": nil, "subject_id": nil, "acting_as": nil, "api_key_id": nil, "tenant_id": tenant, "action": "a1", "resource": "r", "resource_id": "1",
		"before": nil, "after": nil, "ip": "", "user_agent": "", "created_at": "2026-02-28T23:59:59.999999Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an entry: %s", diff)
	}
}

// Pages of one entry return each entry once, although some entries have equal times.
func pagesOfEntries(t *testing.T, s *apptest.Server, token, tenant string) {
	seen := []string{}
	for page := 1; page <= 6; page++ {
		a := entries(s, token, tenant, "per_page=1&page="+strconv.Itoa(page))
		seen = append(seen, a.Actions()...)
		a.WantAt("meta", apptest.Object{"current_page": float64(page), "last_page": 6.0, "per_page": 1.0, "total": 6.0})
		for key, there := range map[string]bool{"prev": page > 1, "next": page < 6, "first": true, "last": true} {
			link, _ := a.At("links." + key).(string)
			if (link != "") != there {
				t.Errorf("page %d: %s is %q", page, key, link)
			}
			if u, err := url.Parse(link); there && (err != nil || u.Query().Get("filter[tenant]") != tenant || u.Query().Get("per_page") != "1") {
				t.Errorf("page %d: %s is %q, %v", page, key, link, err)
			}
		}
	}
	if diff := cmp.Diff(allEntries, seen); diff != "" {
		t.Errorf("page by page: %s", diff)
	}
	none := entries(s, token, tenant, "filter[action]=none").Want(200)
	none.WantAt("data", []any{})
	none.WantAt("meta", apptest.Object{"current_page": 1.0, "last_page": 1.0, "per_page": 25.0, "total": 0.0})
	none.WantAt("links.next", nil)
}

func TestAuditLogRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token, ada := s.Admin(), s.Register("ada@example.com", true)
		s.Run(t, "an unknown filter or sort is refused", func(_ *testing.T, s *apptest.Server) { refusedEntries(s, token, ada) })
		s.Run(t, "an invalid value names its field", func(_ *testing.T, s *apptest.Server) { invalidEntries(s, token) })
		s.Run(t, "an admin who impersonates a member cannot read it, and their changes are recorded", func(_ *testing.T, s *apptest.Server) { impersonatedEntries(s, token, ada) })
		s.Run(t, "a request that changes nothing is recorded without values", func(_ *testing.T, s *apptest.Server) {
			s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Renamed"}).Want(200)
			same := s.AuditLog(url.Values{"filter[tenant]": {ada.Tenant}}).Want(200)
			same.WantAt("data.0.before", apptest.Object{})
			same.WantAt("data.0.after", apptest.Object{})
			same.WantAt("data.0.actor_id", float64(s.UserID(ada.Token)))
		})
	})
}

// entriesIn reads the audit log in a language.
func entriesIn(s *apptest.Server, locale, query, token string) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest("GET", "/api/v1/admin/audit-logs?"+query, token, nil)
	r.Header.Set("Accept-Language", locale)
	return s.Do(r).As(query + " in " + locale)
}

func refusedEntries(s *apptest.Server, token string, ada apptest.Owner) {
	in := func(locale, query, token string) apptest.Reply { return entriesIn(s, locale, query, token) }
	for query, want := range map[string]string{
		"filter[name]=x":          "The filter name is not supported here.",
		"filter[Actor]=1":         "The filter Actor is not supported here.",
		"filter[actor][]=1":       "The filter actor][ is not supported here.",
		"sort=action":             "Sorting by action is not supported here.",
		"sort=-id":                "Sorting by -id is not supported here.",
		"sort=created_at,ip":      "Sorting by ip is not supported here.",
		"include=actor":           "Including actor is not supported here.",
		"filter[x]=1&page=0":      "The filter x is not supported here.", // unknown filters are rejected before values are parsed
		"filter[actor]=x&sort=ip": "Sorting by ip is not supported here.",
	} {
		a := in("en", query, token)
		a.WantRefused(400, "")
		a.WantAt("message", want)
		in("en", query, ada.Token).WantRefused(403, "")
		in("en", query, "").WantRefused(401, "")
	}
	in("fr", "sort=ip", token).WantAt("message", "Le tri par ip n’est pas pris en charge ici.")
	in("es", "filter[x]=", token).WantAt("message", "El filtro x no se admite aquí.")
}

func invalidEntries(s *apptest.Server, token string) {
	const date, number = "This must be a date and time such as 2026-01-31T08:15:30Z.", "This must be an integer."
	for query, want := range map[string]apptest.Object{
		"filter[actor]=ada":                               {"filter.actor": number},
		"filter[actor]=1.0":                               {"filter.actor": number},
		"filter[actor]=9223372036854775808":               {"filter.actor": number},
		"filter[tenant]=acme":                             {"filter.tenant": "This must be a UUID."},
		"filter[tenant]=01990000000070008000000000000000": {"filter.tenant": "This must be a UUID."},
		"filter[created_after]=soon":                      {"filter.created_after": date},
		"filter[created_after]=2026-02-30":                {"filter.created_after": date},
		"filter[created_before]=2026-03-01T00:00:00":      {"filter.created_before": date},
		"filter[created_before]=0000-01-01":               {"filter.created_before": date},
		"page=0":                                          {"page": "This must be at least 1."},
		"per_page=0":                                      {"per_page": "This must be at least 1."},
		"per_page=101":                                    {"per_page": "This must be at most 100."},
		"per_page=ten":                                    {"per_page": number},
		"filter[tenant]=x&filter[actor]=y&page=z":         {"filter.tenant": "This must be a UUID.", "filter.actor": number, "page": number},
	} {
		fields := apptest.Object{}
		for field, message := range want {
			fields[field] = []any{message}
		}
		a := entriesIn(s, "en", query, token).Want(422)
		a.WantAt("errors", fields)
	}
}

func impersonatedEntries(s *apptest.Server, token string, ada apptest.Owner) {
	s.Impersonate(token, ada).Want(200)
	entriesIn(s, "en", "", token).WantRefused(403, "")
	r := s.NewRequest("PATCH", "/api/v1/tenant", token, apptest.Object{"name": "Renamed"})
	r.Header.Set("User-Agent", "a browser")
	r.Header.Set("X-Forwarded-For", "192.0.2.7")
	s.Do(r).Want(200)
	other := s.Admin()
	admin := s.UserID(other)
	last := s.AuditLog(url.Values{"filter[tenant]": {ada.Tenant}, "filter[actor]": {strconv.FormatInt(admin, 10)}, "filter[action]": {"tenant.updated"}}).Want(200)
	last.WantAt("meta.total", 1.0)
	last.WantAt("data.0.subject_id", float64(s.UserID(ada.Token)))
	last.WantAt("data.0.actor_id", float64(admin))
	last.WantAt("data.0.before", apptest.Object{"name": "Ada's Organization"})
	last.WantAt("data.0.after", apptest.Object{"name": "Renamed"})
	last.WantAt("data.0.user_agent", "a browser")
	last.WantAt("data.0.ip", "127.0.0.1") // the client is not a trusted proxy
}

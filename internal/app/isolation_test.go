package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// platformWide are path parameters that do not identify an object of one tenant.
var platformWide = []string{"tenantId", "tenant", "meterCode", "featureCode", "meter", "product", "plan", "price", "feature", "entitlement", "currency", "pack", "discount", "slug", "date"}

// ofAnyTenant is the prefix of admin paths that contain the id of a tenant's object but not of the
// tenant.
const ofAnyTenant = "/api/v1/admin/webhook-deliveries/"

// bodies are valid bodies for routes that need a body, so that a request fails only because the
// object belongs to another tenant. The default is {}.
var bodies = map[string]func(mine apptest.Owner, s *apptest.Server) any{
	"PATCH team/members/{member}/role": func(mine apptest.Owner, s *apptest.Server) any {
		return map[string]any{"role_id": s.RoleID(mine, "member")}
	},
	"PATCH members/{user}/role": func(mine apptest.Owner, s *apptest.Server) any {
		return map[string]any{"role_id": s.RoleID(mine, "member")}
	},
	"POST subscriptions/{subscription}/promotion-code": func(apptest.Owner, *apptest.Server) any { return map[string]any{"promotion_code": "stolen"} },
	"PATCH roles/{role}": func(apptest.Owner, *apptest.Server) any { return map[string]any{"name": "Stolen"} },
	"POST webhook-endpoints/{endpoint}/replay": func(_ apptest.Owner, s *apptest.Server) any {
		return map[string]any{"since": s.Now()}
	},
	"PATCH members/{user}": func(apptest.Owner, *apptest.Server) any { return map[string]any{"name": "Stolen"} },
}

// TestIsolation calls every route with ids of another tenant. With the caller's own tenant in the
// path, the status is 404; with the other tenant, it is 403. No byte of the other tenant's rows
// changes. The test fails for a route with an unknown kind of id.
func TestIsolation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		mine, theirs := s.Register("mine@example.com", true), s.Register("theirs@example.com", true)
		s.BuyPlan(mine, "starter")
		s.BuyPlan(theirs, "starter")
		ids := furnish(s, theirs)
		s.AwaitNotifications()                                                       // notifications change rows too
		apptest.Eventually(t, "the last activity of the other tenant", func() bool { // stored in the background
			return s.CountRows("SELECT count(*) FROM tenants WHERE id = $1 AND last_activity_at IS NOT NULL", theirs.Tenant) == 1
		})
		before := rowsOf(s, t, theirs.Tenant)
		if strings.Count(before, "\n") < 10 {
			t.Fatalf("the other tenant has hardly anything:\n%s", before)
		}
		admin := s.Admin()
		walked := 0
		for _, r := range s.Routes() {
			foreign := parameters(r.Path)
			if len(foreign) == 0 || strings.HasPrefix(r.Path, ofAnyTenant) {
				continue
			}
			path := r.Path
			for _, name := range foreign {
				id, ok := ids[name]
				if !ok {
					t.Fatalf("%s %s: the test does not know what {%s} is", r.Method, r.Path, name)
				}
				path = strings.ReplaceAll(path, "{"+name+"}", id)
			}
			var body any = map[string]any{}
			for suffix, bodyOf := range bodies {
				if method, end, _ := strings.Cut(suffix, " "); method == r.Method && strings.HasSuffix(r.Path, end) {
					body = bodyOf(mine, s)
				}
			}
			under := func(tenant string) string {
				return strings.NewReplacer("{tenantId}", tenant, "{tenant}", tenant).Replace(path)
			}
			switch r.Scope {
			case rest.Tenant:
				walked++
				if a := s.Call(r.Method, under(mine.Tenant), mine.Token, body); a.Status != 404 {
					t.Errorf("%s %s with another tenant's id: %d %s", r.Method, r.Path, a.Status, a.Text)
				}
				if a := s.Call(r.Method, under(theirs.Tenant), mine.Token, body); a.Status != 403 {
					t.Errorf("%s %s in another tenant: %d %s", r.Method, r.Path, a.Status, a.Text)
				}
			case rest.Admin:
				walked++
				if a := s.Call(r.Method, under(mine.Tenant), admin, body); a.Status != 404 {
					t.Errorf("%s %s with the id of a tenant that is not in the path: %d %s", r.Method, r.Path, a.Status, a.Text)
				}
			default:
				t.Errorf("%s %s: ids of a tenant's objects in the scope %q", r.Method, r.Path, r.Scope)
			}
		}
		if walked < 8 {
			t.Errorf("only %d routes contain an id of a tenant's object", walked)
		}
		if after := rowsOf(s, t, theirs.Tenant); after != before {
			t.Errorf("the other tenant's rows changed:\n%s\nwere\n%s", after, before)
		}
	})
}

// furnish creates one object of each kind for a tenant, and returns the ids by path parameter.
func furnish(s *apptest.Server, o apptest.Owner) map[string]string {
	s.T.Helper()
	_, member := s.Join(o, "Their Member", "member-of-theirs@example.com", "member")
	invitation, _ := s.Invite(o, "invited-by-theirs@example.com", "member")
	role := s.Call("POST", o.Path("/roles"), o.Token, map[string]any{"name": "Theirs", "permissions": []string{"team.invite"}}).
		Want(201).At("data.id").(float64)
	s.Call("POST", o.Path("/usage"), o.Token, map[string]any{"meter_code": "api-calls", "idempotency_key": "k"}).Want(201)
	subscription := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).Str("data.id")
	invoice := s.Invoices(o, 1)[0].(map[string]any)["id"].(string)
	key := s.Call("POST", o.Path("/api-keys"), o.Token, map[string]any{"name": "Theirs", "scopes": []string{"usage.read"}}).Want(201).Str("data.id")
	endpoint := o.Path("/webhook-endpoints")
	hook := s.Call("POST", endpoint, o.Token, map[string]any{"url": "http://127.0.0.1:1", "events": []string{"*"}}).Want(201).Str("data.id")
	// A disabled endpoint receives no delivery while the test compares the rows.
	s.Call("PATCH", endpoint+"/"+hook, o.Token, map[string]any{"enabled": false}).Want(200)
	delivery := s.Call("POST", endpoint+"/"+hook+"/test", o.Token, nil).Want(202).Str("data.id")
	grant := s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/grants", s.Admin(), map[string]any{"feature_code": "api-calls", "amount": 5}).Want(201).Str("data.id")
	reservation := s.Call("POST", o.Path("/usage/reservations"), o.Token, map[string]any{"meter_code": "api-calls", "quantity": 5, "idempotency_key": "r"}).
		Want(201).Str("data.id")
	note := s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invoices/"+invoice+"/credit-notes", s.Admin(), map[string]any{
		"amount_cents": 100, "settlement": "none", "reason": "other",
	}).Want(201).Str("data.id")
	domain := s.Call("POST", o.Path("/domains"), o.Token, map[string]any{"domain": "theirs.example"}).Want(201).Str("data.id")
	return map[string]string{
		"domain": domain, "grant": grant, "reservation": reservation, "endpoint": hook, "delivery": delivery,
		"key": key, "invoiceId": invoice, "invoice": invoice, "creditNoteId": note, "creditNote": note,
		"member": strconv.FormatInt(member, 10), "user": strconv.FormatInt(member, 10),
		"role": strconv.FormatInt(int64(role), 10), "invitation": invitation, "subscription": subscription,
	}
}

// parameters returns the path parameters that identify an object of one tenant. It omits {token} of
// an invitation and {hash} of a picture, which are not ids, and {id}, the session of a user, which
// does not depend on the tenant.
func parameters(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		name := strings.Trim(part, "{}")
		if name != part && !slices.Contains(platformWide, name) && !slices.Contains([]string{"token", "hash", "provider", "id"}, name) {
			names = append(names, name)
		}
	}
	return names
}

// rowsOf prints every row of a tenant: the tenant, the rows with its tenant_id, and its members'
// accounts.
func rowsOf(s *apptest.Server, t *testing.T, tenant string) string {
	t.Helper()
	db := s.DB()
	var all []string
	for _, table := range tenantTables(t, db) {
		all = append(all, dump(t, db, table, `SELECT * FROM `+table+` WHERE tenant_id = $1`, tenant)...)
	}
	all = append(all, dump(t, db, "tenants", `SELECT * FROM tenants WHERE id = $1`, tenant)...)
	all = append(all, dump(t, db, "users",
		`SELECT u.* FROM users u JOIN memberships m ON m.user_id = u.id WHERE m.tenant_id = $1`, tenant)...)
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func tenantTables(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	query := `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'`
	if db.Dialect() == sqldb.SQLite {
		query = `SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'tenant_id'`
	}
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil || len(tables) < 6 {
		t.Fatalf("tables of tenants: %v, %v", tables, err)
	}
	return tables
}

func dump(t *testing.T, db *sqldb.DB, table, query, tenant string) []string {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), query, tenant)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %q", table, columns, values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

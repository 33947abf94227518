package blackbox_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// issuer prepares an operation that issues credentials, and returns the operation.
type issuer struct {
	name    string
	prepare func(c *scene) func() issued
}

// ender prepares an operation that ends credentials, and returns the operation.
type ender struct {
	name    string
	prepare func(c *scene) func() (ok bool)
}

var issuers = []issuer{
	{"login", func(c *scene) func() issued {
		return func() issued {
			return tokensOf(c.s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": c.email, "password": "correct horse"}))
		}
	}},
	{"refresh", func(c *scene) func() issued {
		return func() issued { return tokensOf(c.s.Refresh(c.live)) }
	}},
	{"code exchange", func(c *scene) func() issued {
		code := c.oneTimeCode()
		return func() issued {
			return tokensOf(c.s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": code}))
		}
	}},
	{"delegated login", func(c *scene) func() issued {
		b := newCookieBrowser(c.s)
		callback := b.toCallback(c.email)
		return func() issued { return codeOf(c.s.T, b.open("GET", callback, nil)) }
	}},
	{"registration", func(c *scene) func() issued {
		apptest.Exec(c.s.T, c.s.DB(), "DELETE FROM users WHERE id = $1", c.id)
		return func() issued {
			return tokensOf(c.s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(c.email, nil)))
		}
	}},
	{"impersonation", func(c *scene) func() issued {
		// The scene's user is the admin, and the target of the enders.
		c.makeAdmin()
		target := c.s.UserID(c.boss.Token)
		return func() issued {
			a := c.s.Call("POST", "/api/v1/admin/impersonation/start", c.access, apptest.Object{"user_id": target, "tenant_id": c.boss.Tenant})
			return issued{status: a.Status, started: c.access}
		}
	}},
	{"impersonation of", func(c *scene) func() issued {
		admin := c.s.Admin()
		return func() issued {
			a := c.s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{"user_id": c.id, "tenant_id": c.boss.Tenant})
			return issued{status: a.Status, started: admin}
		}
	}},
}

var enders = []ender{
	{"logout", func(c *scene) func() bool {
		return func() bool { return c.s.Call("POST", "/api/v1/auth/logout", c.access, nil).Status == 200 }
	}},
	{"reset", func(c *scene) func() bool {
		token := c.resetToken()
		return func() bool { return resetPassword(c.s, c.email, token, "a new password").Status == 200 }
	}},
	{"admin's password", func(c *scene) func() bool {
		path := fmt.Sprintf("/api/v1/admin/tenants/%s/members/%d", c.boss.Tenant, c.id)
		return func() bool {
			return c.s.Call("PATCH", path, c.admin, apptest.Object{"password": "a new password"}).Status == 200
		}
	}},
	{"revoke_previous", func(c *scene) func() bool {
		return func() bool {
			return c.s.Call("POST", "/api/v1/auth/login", "", apptest.Object{
				"email": c.email, "password": "correct horse", "revoke_previous": true,
			}).Status == 200
		}
	}},
	{"reuse", func(c *scene) func() bool {
		return func() bool { return c.s.Refresh(c.used).Status == 401 }
	}},
	{"claim", func(c *scene) func() bool {
		b := newCookieBrowser(c.s)
		callback := b.toCallback(c.email)
		return func() bool { return codeOf(c.s.T, b.open("GET", callback, nil)).code != "" }
	}},
	{"removal", func(c *scene) func() bool {
		path := fmt.Sprintf("%s/%d", c.boss.Path("/team/members"), c.id)
		return func() bool { return c.s.Call("DELETE", path, c.boss.Token, nil).Status < 300 }
	}},
	{"own password", func(c *scene) func() bool {
		return func() bool {
			return c.s.Call("PUT", "/api/v1/user/password", c.access, apptest.Object{
				"current_password": "correct horse", "password": "a new password", "password_confirmation": "a new password",
			}).Status == 204
		}
	}},
	{"end of others", func(c *scene) func() bool {
		return func() bool { return c.s.Call("DELETE", "/api/v1/user/sessions", c.access, nil).Status == 204 }
	}},
	{"account's end", func(c *scene) func() bool {
		return func() bool {
			return c.s.Call("DELETE", "/api/v1/user", c.access, apptest.Object{"current_password": "correct horse"}).Status == 204
		}
	}},
	{"leaving", func(c *scene) func() bool {
		return func() bool { return c.s.Call("POST", c.boss.Path("/leave"), c.access, nil).Status == 204 }
	}},
	{"tenant's end", func(c *scene) func() bool {
		c.boss = c.s.Register("boss-of-"+c.email, true) // of a tenant that no other scene uses
		apptest.Exec(c.s.T, c.s.DB(), "UPDATE memberships SET tenant_id = $1 WHERE user_id = $2", c.boss.Tenant, c.id)
		return func() bool {
			return c.s.Call("DELETE", c.boss.Path(""), c.boss.Token, apptest.Object{"current_password": "correct horse"}).Status == 204
		}
	}},
	{"admin revoke", func(c *scene) func() bool {
		return func() bool {
			return commands.RevokeAdmin(c.s.T.Context(), c.s.CLISettings(), c.email, io.Discard) == nil
		}
	}},
}

// fates defines what happens to the issued credentials if the issuer runs just before the ender,
// and if it runs just after (rules: account#lock-order). "" is a combination that does not exist.
var fates = map[string]map[string][2]string{
	"login": {
		"logout": {access, lives}, "reset": {dead, refused}, "admin's password": {dead, refused},
		"revoke_previous": {dead, lives}, "reuse": {lives, lives}, "claim": {dead, refused}, "removal": {lives, lives},
		"own password": {dead, refused}, "end of others": {dead, lives}, "account's end": {dead, refused}, "leaving": {lives, lives}, "tenant's end": {lives, lives},
	},
	"refresh": {
		"logout": {dead, refused}, "reset": {dead, refused}, "admin's password": {dead, refused},
		"revoke_previous": {dead, refused}, "reuse": {dead, refused}, "claim": {dead, refused}, "removal": {lives, lives},
		"own password": {lives, lives}, "end of others": {lives, lives}, "account's end": {dead, refused}, "leaving": {lives, lives}, "tenant's end": {lives, lives},
	},
	"code exchange": {
		"logout": {access, refused}, "reset": {dead, refused}, "admin's password": {dead, refused},
		"revoke_previous": {dead, refused}, "reuse": {lives, lives}, "claim": {dead, refused}, "removal": {lives, refused},
		"own password": {dead, refused}, "end of others": {dead, refused}, "account's end": {dead, refused}, "leaving": {lives, refused}, "tenant's end": {lives, refused},
	},
	"delegated login": { // the enders leave its evidence valid, so it can succeed after them
		"logout": {dead, lives}, "reset": {dead, lives}, "admin's password": {dead, lives},
		"revoke_previous": {dead, lives}, "reuse": {lives, lives}, "removal": {dead, lives},
		"own password": {dead, lives}, "end of others": {dead, lives}, "account's end": {dead, lives}, "leaving": {dead, lives}, "tenant's end": {dead, lives},
	},
	"registration": {"claim": {dead, refused}},
	"impersonation": {
		"logout": {dead, refused}, "reset": {dead, refused}, "revoke_previous": {dead, refused},
		"reuse": {dead, refused}, "admin revoke": {dead, refused},
	},
	"impersonation of": {
		"removal": {dead, refused}, "account's end": {dead, refused}, "leaving": {dead, refused}, "tenant's end": {dead, refused},
	},
}

// Each issuer of credentials runs concurrently with each operation that ends them, in both orders.
// The test holds the locks that both operations need, starts the operations in order, and releases
// the locks. On SQLite, the order of the first writes is unknown, so the result of either order is
// accepted. If a credential survives against the rules, neither result matches.
func TestIssuingAndEndingAtOnce(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect)
			g := newStage(s)
			table := [][]string{{"issued just before / just after"}}
			for _, e := range enders {
				table[0] = append(table[0], e.name)
			}
			for _, i := range issuers {
				row := []string{i.name}
				for _, e := range enders {
					want, ok := fates[i.name][e.name]
					if !ok {
						row = append(row, "")
						continue
					}
					cell := [2]string{g.meet(dialect, i, e, true), g.meet(dialect, i, e, false)}
					for n, order := range []string{"before", "after"} {
						if cell[n] != want[n] && (dialect != sqldb.SQLite || cell[n] != want[1-n]) {
							t.Errorf("%s just %s %s: %s, want %s", i.name, order, e.name, cell[n], want[n])
						}
					}
					row = append(row, cell[0]+" / "+cell[1])
				}
				table = append(table, row)
			}
			t.Log("\n" + formatTable(table))
		})
	}
}

// meet runs an issuer and an ender concurrently, and returns the fate of the issued credentials.
func (g *stage) meet(dialect sqldb.Dialect, i issuer, e ender, issuerFirst bool) string {
	t := g.s.T
	t.Helper()
	c := g.scene(e.name != "claim")
	end := e.prepare(c)
	issue := i.prepare(c)
	locks := []string{}
	if dialect == sqldb.Postgres {
		locks = append(locks, fmt.Sprintf("SELECT 1 FROM users WHERE id = %d FOR UPDATE", c.id))
		if i.name == "registration" {
			locks = append(locks, "SELECT 1 FROM roles WHERE name = 'owner' AND tenant_id IS NULL FOR UPDATE")
		}
	}
	held := hold(g.s, dialect, locks...)
	var got issued
	var ended bool
	calls := []func(){func() { got = issue() }, func() { ended = end() }}
	if !issuerFirst {
		calls[0], calls[1] = calls[1], calls[0]
	}
	var finished []chan struct{}
	for n, call := range calls {
		done := make(chan struct{})
		go func() { defer close(done); call() }()
		held.waitFor(n+1, done)
		finished = append(finished, done)
	}
	held.release()
	for _, done := range finished {
		<-done
	}
	if !ended {
		t.Errorf("%s with %s failed", e.name, i.name)
	}
	return c.fate(got)
}

// While another transaction holds the user's lock, no issuer or ender locks rows that belong to the
// user. While another transaction holds the tenant's lock, no operation that needs both locks has
// locked the user. (SQLite has a single lock.)
func TestLockOrder(t *testing.T) {
	t.Parallel()
	dbtest.RowLocks(t)
	s := apptest.Start(t, sqldb.Postgres)
	g := newStage(s)
	calls := map[string]func(c *scene) func(){}
	for _, i := range issuers {
		if i.name != "registration" { // no other transaction can lock the new user
			calls[i.name] = func(c *scene) func() { call := i.prepare(c); return func() { call() } }
		}
	}
	for _, e := range enders {
		calls[e.name] = func(c *scene) func() { call := e.prepare(c); return func() { call() } }
	}
	for name, prepare := range calls {
		c := g.scene(name != "claim")
		if name == "claim" { // in the user's own tenant
			apptest.Exec(t, s.DB(), "UPDATE memberships SET role_id = (SELECT id FROM roles WHERE name = 'owner' AND tenant_id IS NULL) WHERE user_id = $1", c.id)
		}
		if name == "admin revoke" {
			c.makeAdmin()
		}
		if name != "reset" { // a reset creates a token itself
			c.resetToken()
		}
		c.oneTimeCode()
		call := prepare(c)
		mine := fmt.Sprintf("user_id = %d", c.id)
		g.wantFree(name, call, fmt.Sprintf("SELECT 1 FROM users WHERE id = %d FOR UPDATE", c.id),
			"credentials WHERE "+mine, "oauth_codes WHERE "+mine, "password_resets WHERE "+mine)
	}
	for _, name := range []string{"admin's password", "removal", "claim", "impersonation of", "account's end", "leaving", "tenant's end"} {
		c := g.scene(name != "claim")
		g.wantFree(name, calls[name](c), fmt.Sprintf("SELECT 1 FROM tenants WHERE id = '%s' FOR UPDATE", c.boss.Tenant),
			fmt.Sprintf("users WHERE id = %d", c.id), fmt.Sprintf("credentials WHERE user_id = %d", c.id))
	}
}

// wantFree runs a call while the test holds a lock. It fails unless the call waits without locking
// rows of the given tables.
func (g *stage) wantFree(name string, call func(), lock string, tables ...string) {
	t := g.s.T
	t.Helper()
	held := hold(g.s, sqldb.Postgres, lock)
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	held.waitFor(1, done)
	select {
	case <-done:
		t.Errorf("%s does not wait for %s", name, lock)
	default:
	}
	for _, rows := range tables {
		all := g.s.CountRows("SELECT count(*) FROM " + rows)
		free := g.s.CountRows("SELECT count(*) FROM (SELECT 1 FROM " + rows + " FOR UPDATE SKIP LOCKED) f")
		if free != all {
			t.Errorf("%s waits for %s and has locked %d of %d rows of %s", name, lock, all-free, all, rows)
		}
	}
	held.release()
	<-done
}

func formatTable(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for n, cell := range row {
			widths[n] = max(widths[n], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for n, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", widths[n], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

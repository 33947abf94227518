package blackbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// scene is a logged-in user, with everything needed to issue and to end credentials of the user.
type scene struct {
	s      *apptest.Server
	boss   apptest.Owner // owner of the user's tenant
	admin  string        // token of a platform admin
	email  string
	id     int64
	used   string // a used refresh token
	access string
	live   string // the current refresh token
}

// stage creates scenes on one server.
type stage struct {
	s     *apptest.Server
	boss  apptest.Owner
	admin string
	made  int
}

func newStage(s *apptest.Server) *stage {
	return &stage{s: s, boss: s.Register("boss@example.com", true), admin: s.Admin()}
}

// scene creates a user in the boss's team. verified is whether the user's email is verified.
func (g *stage) scene(verified bool) *scene {
	s := g.s
	s.T.Helper()
	g.made++
	c := &scene{s: s, boss: g.boss, admin: g.admin, email: fmt.Sprintf("user%d@example.com", g.made)}
	first := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(c.email, apptest.Object{"create_tenant": false})).Want(201)
	next := s.Refresh(first.Str("refreshToken")).Want(200)
	c.used, c.live, c.access = first.Str("refreshToken"), next.Str("refreshToken"), next.Str("accessToken")
	c.id = s.UserID(c.access)
	apptest.Exec(s.T, s.DB(), `INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
		SELECT $1, $2, id, created_at FROM roles WHERE name = 'member' AND tenant_id IS NULL`, c.boss.Tenant, c.id)
	if verified {
		apptest.Exec(s.T, s.DB(), "UPDATE users SET email_verified_at = created_at WHERE id = $1", c.id)
	}
	return c
}

// hashed returns the hash under which a secret is stored.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (c *scene) resetToken() string {
	token := uuid.NewString()
	apptest.Exec(c.s.T, c.s.DB(), "INSERT INTO password_resets (user_id, token_hash, expires_at, created_at) VALUES ($1, $2, $3, $4)",
		c.id, hashed(token), clock.System().Now().Add(time.Hour).UTC(), clock.System().Now().UTC())
	return token
}

func (c *scene) oneTimeCode() string {
	code, identity, now := uuid.NewString(), uuid.New(), clock.System().Now().UTC()
	apptest.Exec(c.s.T, c.s.DB(), "INSERT INTO oauth_identities (id, provider, subject, user_id, email, created_at) VALUES ($1, 'sandbox', $2, $3, $4, $5)",
		identity, identity.String(), c.id, c.email, now)
	apptest.Exec(c.s.T, c.s.DB(), "INSERT INTO oauth_codes (code_hash, user_id, is_new_user, identity_id, expires_at, created_at) VALUES ($1, $2, false, $3, $4, $5)",
		hashed(code), c.id, identity, now.Add(time.Hour), now)
	return code
}

// makeAdmin makes the user a platform admin directly in the database.
func (c *scene) makeAdmin() {
	apptest.Exec(c.s.T, c.s.DB(), "UPDATE users SET is_platform_admin = true WHERE id = $1", c.id)
}

// gate blocks operations with locks that it holds: row locks on PostgreSQL, the write lock on
// SQLite.
type gate struct {
	s        *apptest.Server
	t        testing.TB
	postgres bool
	open     chan struct{}
	done     chan error
}

// hold locks users. On PostgreSQL, it also locks the row of the built-in owner role, which a
// registration needs before other transactions can see its user.
func hold(s *apptest.Server, dialect sqldb.Dialect, locks ...string) *gate {
	s.T.Helper()
	g := &gate{s: s, t: s.T, postgres: dialect == sqldb.Postgres, open: make(chan struct{}), done: make(chan error, 1)}
	held := make(chan struct{})
	go func() {
		g.done <- s.DB().Tx(s.T.Context(), func(ctx context.Context) error {
			defer close(held)
			for _, query := range locks {
				rows, err := s.DB().Conn(ctx).QueryContext(ctx, query)
				if err != nil {
					return err
				}
				for rows.Next() { // reading a row locks it
				}
				if err := rows.Close(); err != nil {
					return err
				}
			}
			held <- struct{}{}
			<-g.open
			return nil
		})
	}()
	<-held
	return g
}

// waitFor waits until the given number of calls are blocked, or until done is closed because the
// call needed no held lock.
func (g *gate) waitFor(calls int, done <-chan struct{}) {
	g.t.Helper()
	if !g.postgres {
		// SQLite does not report blocked writers. If the pause is too short, the calls run in
		// either order, which must work as well.
		select {
		case <-done:
		case <-time.After(40 * time.Millisecond):
		}
		return
	}
	apptest.Eventually(g.t, "a call that waits", func() bool {
		select {
		case <-done:
			return true
		default:
		}
		return g.waiting() >= calls
	})
}

// waiting returns the number of blocked PostgreSQL sessions. It does not count the background jobs
// that record the last use of tenants and logins.
func (g *gate) waiting() int {
	return g.s.CountRows(`SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query !~ '^-- name: Mark(Active|CredentialUsed) '`)
}

func (g *gate) release() {
	g.t.Helper()
	close(g.open)
	if err := <-g.done; err != nil {
		g.t.Fatal(err)
	}
}

// issued holds the credentials that an issuer returned.
type issued struct {
	status                int
	access, refresh, code string
	started               string // token of an impersonating admin
}

func tokensOf(a apptest.Reply) issued {
	i := issued{status: a.Status}
	i.access, _ = a.At("accessToken").(string)
	i.refresh, _ = a.At("refreshToken").(string)
	return i
}

// The fates of issued credentials.
const (
	refused = "refused" // no credential was issued
	dead    = "dead"    // no credential works
	access  = "access"  // only the access token works
	lives   = "lives"   // all credentials work
)

// fate uses the issued credentials and returns their fate.
func (c *scene) fate(i issued) string {
	c.s.T.Helper()
	switch {
	case i.status >= 400:
		return refused
	case i.started != "":
		if c.s.Call("GET", "/api/v1/admin/impersonation/status", i.started, nil).Status != 200 {
			return dead
		}
		return lives
	case i.code != "":
		if c.s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": i.code}).Status != 200 {
			return dead
		}
		return lives
	}
	byAccess := c.s.Call("GET", "/api/v1/auth/me", i.access, nil).Status == 200
	byRefresh := c.s.Refresh(i.refresh).Status == 200
	switch {
	case byAccess && byRefresh:
		return lives
	case byAccess:
		return access
	case byRefresh:
		return "refresh only"
	}
	return dead
}

// toCallback logs in at the sandbox's identity provider and returns the address of the callback,
// without opening it.
func (b *cookieBrowser) toCallback(email string) string {
	b.s.T.Helper()
	return b.consent(b.open("GET", b.s.URL+"/api/v1/auth/oauth/sandbox/redirect", nil).Want(302).Header.Get("Location"), email, "Somebody")
}

// codeOf returns the result of a callback: a code or an error.
func codeOf(t testing.TB, a apptest.Reply) issued {
	t.Helper()
	end, err := url.Parse(a.Want(302).Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if code := end.Query().Get("code"); code != "" {
		return issued{status: 200, code: code}
	}
	return issued{status: 403}
}

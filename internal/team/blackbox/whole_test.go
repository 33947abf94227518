package blackbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// more is the length of the lists in this file: several batches and a rest.
const more = 2*page.PartSize + 7

// fillTeam adds members and invitations to a tenant, as the import does.
func fillTeam(t *testing.T, s *apptest.Server, o apptest.Owner, n int) {
	t.Helper()
	at := s.Now()
	inviter := s.UserID(o.Token)
	err := s.DB().Tx(t.Context(), func(ctx context.Context) error {
		conn := s.DB().Conn(ctx)
		for i := range n {
			email := fmt.Sprintf("crowd%d@example.com", i)
			// Every other name differs only in case, and roles alternate, so that the list order is
			// not the row order.
			name := fmt.Sprintf("%s %d", []string{"crowd", "CROWD"}[i%2], n-i)
			var id int64
			err := conn.QueryRowContext(ctx, `INSERT INTO users (name, email, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id`, name, email, at).Scan(&id)
			if err != nil {
				return err
			}
			role := []string{"member", "admin", "member"}[i%3]
			_, err = conn.ExecContext(ctx, `INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
				SELECT $1, $2, r.id, $3 FROM roles r WHERE r.tenant_id IS NULL AND r.name = $4`, o.Tenant, id, at, role)
			if err != nil {
				return err
			}
			status := []string{"pending", "revoked"}[i%2]
			// Three invitations each have the same creation time.
			made := at.Add(time.Duration(i/3) * time.Second)
			_, err = conn.ExecContext(ctx, `INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
				SELECT $1, $2, $3, r.id, $4, $5, $6, 7, $7, $8, $8 FROM roles r WHERE r.tenant_id IS NULL AND r.name = 'member'`,
				sqldb.NewID(), o.Tenant, fmt.Sprintf("guest%d@example.com", i), inviter, status, fmt.Sprint("hash", i), made.AddDate(0, 1, 0), made)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Complete lists contain every entry, in the order of the pages, whatever their length.
func TestLongListsAreComplete(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		fillTeam(t, s, ada, more)
		admin := s.Admin()
		for _, list := range []struct {
			path, token string
			want        int
		}{
			{ada.Path("/team/members") + "?", ada.Token, more + 1},
			{"/api/v1/admin/tenants/" + ada.Tenant + "/members?", admin, more + 1},
			{ada.Path("/team/invitations") + "?", ada.Token, more},
			{ada.Path("/team/invitations") + "?pending_only=true&", ada.Token, (more + 1) / 2},
			{"/api/v1/admin/tenants/" + ada.Tenant + "/invitations?", admin, more},
		} {
			whole := s.Call("GET", strings.TrimRight(list.path, "?&"), list.token, nil).Want(200)
			var pages []any
			for n := 1; n == 1 || len(pages) < list.want && n <= more/100+1; n++ {
				pages = append(pages, s.Call("GET", fmt.Sprintf("%spage=%d&per_page=100", list.path, n), list.token, nil).Want(200).Column("email")...)
			}
			got := whole.Column("email")
			if diff := cmp.Diff(pages, got); diff != "" || len(got) != list.want {
				t.Errorf("%s: %d entries, want %d: %s", list.path, len(got), list.want, diff)
			}
			if whole.At("meta") != nil || whole.At("links") != nil {
				t.Errorf("%s: complete list contains meta or links", list.path)
			}
		}
	})
}

// comeAndGo repeatedly deletes every fifth member and invitation, creates new invitations and
// renames members, until ctx is done.
func comeAndGo(ctx context.Context, s *apptest.Server, o apptest.Owner, inviter int64) error {
	conn := s.DB().Conn(ctx)
	for i := 0; ctx.Err() == nil; i++ {
		gone := 5 * i % more
		_, err := conn.ExecContext(ctx, `DELETE FROM memberships WHERE tenant_id = $1 AND user_id = (SELECT id FROM users WHERE email = $2)`,
			o.Tenant, fmt.Sprintf("crowd%d@example.com", gone-gone%5))
		if err == nil {
			_, err = conn.ExecContext(ctx, `DELETE FROM invitations WHERE tenant_id = $1 AND email = $2`, o.Tenant, fmt.Sprintf("guest%d@example.com", gone-gone%5))
		}
		if err == nil {
			_, err = conn.ExecContext(ctx, `UPDATE users SET name = $1 WHERE email = $2`, fmt.Sprint("A", i), fmt.Sprintf("crowd%d@example.com", (i*7)%more))
		}
		if err == nil {
			_, err = conn.ExecContext(ctx, `INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
				SELECT $1, $2, $3, r.id, $4, 'pending', $5, 7, $6, $6, $6 FROM roles r WHERE r.tenant_id IS NULL AND r.name = 'member'`,
				sqldb.NewID(), o.Tenant, fmt.Sprintf("late%d@example.com", i), inviter, fmt.Sprint("late", i), s.Now().Add(time.Hour))
		}
		if err == nil { // otherwise the lists would only grow
			_, err = conn.ExecContext(ctx, `DELETE FROM invitations WHERE tenant_id = $1 AND email = $2`, o.Tenant, fmt.Sprintf("late%d@example.com", i-20))
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		time.Sleep(time.Millisecond) // limits the rate of the writes, so that exports make progress
	}
	return nil
}

// An entry that exists the whole time is listed exactly once, while others are added and removed.
func TestExportsDuringWrites(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		fillTeam(t, s, ada, more)
		ctx, stop := context.WithCancel(t.Context())
		done, inviter := make(chan error, 1), s.UserID(ada.Token)
		go func() { done <- comeAndGo(ctx, s, ada, inviter) }()
		for path, kind := range map[string]string{"/team/members": "crowd", "/team/invitations": "guest"} {
			for range 5 {
				seen := map[any]int{}
				for _, email := range s.Call("GET", ada.Path(path), ada.Token, nil).Want(200).Column("email") {
					if seen[email]++; seen[email] > 1 {
						t.Errorf("%s: %s is listed twice", path, email)
					}
				}
				for i := range more {
					if email := fmt.Sprintf("%s%d@example.com", kind, i); i%5 != 0 && seen[email] != 1 {
						t.Errorf("%s: %s is missing", path, email)
					}
				}
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

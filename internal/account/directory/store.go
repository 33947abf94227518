package directory

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store has the SQL of the list.
type store struct{ db *sqldb.DB }

// page returns a page of the users that are not deleted, and their total number.
func (s store) page(ctx context.Context, q page.Query) ([]user, int64, error) {
	sel := page.Select{
		Columns: `u.id, u.name, u.email, u.email_verified_at IS NOT NULL, u.is_platform_admin, u.platform_permissions, u.mfa_enabled, u.last_login_at, u.created_at,
	t.id, COALESCE(t.name, ''), COALESCE(r.name, '')`,
		From:  "users u",
		Join:  "LEFT JOIN memberships m ON m.user_id = u.id LEFT JOIN tenants t ON t.id = m.tenant_id LEFT JOIN roles r ON r.id = m.role_id",
		Where: "u.deleted_at IS NULL",
	}
	if !q.HasFilter() {
		sel.Count = s.countLive
	}
	users, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (u user, err error) {
		err = row.Scan(&u.id, &u.name, &u.email, &u.isVerified, &u.isAdmin, &u.permissions, &u.hasFactor, &u.lastLoginAt, &u.createdAt,
			&u.tenantID, &u.tenantName, &u.role)
		return u, err
	})
	return users, total, sqldb.Wrap(err, "list users")
}

// countLive returns the number of users that are not deleted. Each part reads an index that contains
// little more than the counted rows.
func (s store) countLive(ctx context.Context) (n int64, err error) {
	err = s.db.Conn(ctx).QueryRowContext(ctx, "SELECT (SELECT count(*) FROM users) - (SELECT count(*) FROM users d WHERE d.deleted_at IS NOT NULL)").Scan(&n)
	return n, sqldb.Wrap(err, "count users")
}

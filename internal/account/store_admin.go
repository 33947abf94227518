package account

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// admins returns the platform admins, ordered by ID.
func (s store) admins(ctx context.Context) ([]Admin, error) {
	rows, err := s.q(ctx).PlatformAdmins(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list platform admins")
	}
	admins := make([]Admin, len(rows))
	for i, row := range rows {
		admins[i].User = User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: true}
		if row.PlatformPermissions == nil {
			continue
		}
		if err := json.Unmarshal(row.PlatformPermissions, &admins[i].Permissions); err != nil {
			return nil, sqldb.Wrap(err, "read permissions of platform admin")
		}
	}
	return admins, nil
}

func (s store) setAdmin(ctx context.Context, userID int64, isAdmin bool, permissions sqldb.JSON, now time.Time) error {
	err := s.q(ctx).SetPlatformAdmin(ctx, accountsql.SetPlatformAdminParams{
		ID: userID, IsPlatformAdmin: isAdmin, PlatformPermissions: permissions, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "set platform admin")
}

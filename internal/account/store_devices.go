package account

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// useDevice records a login of a user with a device, and reports whether the user has logged in
// with it within deviceMemory.
func (s store) useDevice(ctx context.Context, userID int64, device string, now time.Time) (isKnown bool, err error) {
	last, err := s.q(ctx).UseDevice(ctx, accountsql.UseDeviceParams{UserID: userID, DeviceHash: hashToken(device), LastLoginAt: now})
	return last != nil && now.Sub(*last) <= deviceMemory, sqldb.Wrap(err, "record device of login")
}

func (s store) deleteOldDevices(ctx context.Context, before time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteOldDevices(ctx, before), "delete old devices")
}

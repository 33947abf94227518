package secrets

import (
	"context"
	"errors"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// columns are the columns that hold values of Seal and Hash, as "table.column". Every column of
// this kind must be in the list, so that the start check finds its secrets.
var columns = []string{
	"user_totp.secret",
	"recovery_codes.code_hash",
	"email_codes.code_hash",
	"signing_keys.private_key",
	"sso_connections.client_secret",
}

type store struct{ db *sqldb.DB }

// keyIDs returns the key ID of one stored value of each column that has any.
func (s store) keyIDs(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for _, place := range columns {
		table, column, _ := strings.Cut(place, ".")
		var value string
		err := s.db.Conn(ctx).QueryRowContext(ctx, "SELECT "+column+" FROM "+table+" WHERE "+column+" IS NOT NULL LIMIT 1").Scan(&value)
		if errors.Is(err, sqldb.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, sqldb.Wrap(err, "read a value of "+place)
		}
		found[place], _, _ = strings.Cut(value, ".")
	}
	return found, nil
}

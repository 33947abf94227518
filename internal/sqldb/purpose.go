package sqldb

import "context"

// Claim stores the purpose of the database, unless a purpose is already stored, and returns the
// stored one.
func (db *DB) Claim(ctx context.Context, purpose string) (string, error) {
	var claimed string
	err := db.Tx(ctx, func(ctx context.Context) error {
		_, err := db.Conn(ctx).ExecContext(ctx,
			`INSERT INTO installation (key, value) VALUES ('purpose', $1::text) ON CONFLICT (key) DO NOTHING`, purpose)
		if err != nil {
			return err
		}
		return db.Conn(ctx).QueryRowContext(ctx, `SELECT value FROM installation WHERE key = 'purpose'`).Scan(&claimed)
	})
	return claimed, err
}

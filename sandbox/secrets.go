package sandbox

import (
	"context"
	"fmt"
)

const secretsSchema = `CREATE TABLE IF NOT EXISTS sandbox_secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)`

// Secret returns the secret with the name. On the first call, it stores fresh as the secret; later
// calls return the stored value.
func (w *World) Secret(ctx context.Context, name, fresh string) (string, error) {
	_, err := w.db.ExecContext(ctx, secretsSchema)
	if err == nil {
		_, err = w.db.ExecContext(ctx, `INSERT INTO sandbox_secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, fresh)
	}
	var kept string
	if err == nil {
		err = w.db.QueryRowContext(ctx, `SELECT value FROM sandbox_secrets WHERE name = ?`, name).Scan(&kept)
	}
	if err != nil {
		return "", fmt.Errorf("sandbox: secret %s: %w", name, err)
	}
	return kept, nil
}

package commands

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Migrate applies pending migrations and writes the state of each migration to out. With statusOnly
// it applies none.
func Migrate(ctx context.Context, s settings.Settings, out io.Writer, statusOnly bool) (err error) {
	if statusOnly {
		if err := RequireDatabase(s); err != nil {
			return err
		}
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL.Reveal(), Patience: s.DatabasePatience, Log: NewLog(os.Stderr, s)})
	if err != nil {
		return databaseError(s, err)
	}
	defer CloseJoining(db, &err)
	if !statusOnly {
		if err := db.Migrate(ctx); err != nil {
			return databaseError(s, err)
		}
	}
	migrations, err := db.MigrationStatus(ctx)
	if err != nil {
		return err
	}
	for _, m := range migrations {
		state := "pending"
		if m.AppliedAt != nil {
			state = "applied"
		}
		if _, err := fmt.Fprintf(out, "%-8s %s\n", state, m.Name); err != nil {
			return err
		}
	}
	return nil
}

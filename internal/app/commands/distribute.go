package commands

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// Distribute places the tables on a Citus cluster. It skips tables that are already placed. The
// number of shards only applies to the first run.
func Distribute(ctx context.Context, s settings.Settings, out io.Writer, shards int) (err error) {
	if err := RequireDatabase(s); err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL.Reveal(), Patience: s.DatabasePatience, Log: NewLog(os.Stderr, s)})
	if err != nil {
		return databaseError(s, err)
	}
	defer CloseJoining(db, &err)
	if err := distribution.Apply(ctx, db, shards); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "The tables are in place. Restart all instances.")
	return err
}

// PrintDistribution writes the statements of Distribute for psql to out.
func PrintDistribution(out io.Writer, shards int) error {
	_, err := io.WriteString(out, distribution.Script(shards))
	return err
}

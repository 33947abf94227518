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

// Distribute places the tables on a Citus cluster that are not there yet, or only writes the
// statements to out. The number of shards only applies to the first run.
func Distribute(ctx context.Context, s settings.Settings, out io.Writer, shards int, printOnly bool) (err error) {
	if err := RequireDatabase(s); err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: s.DatabaseURL.Reveal(), Patience: s.DatabasePatience, Log: NewLog(os.Stderr, s)})
	if err != nil {
		return databaseError(s, err)
	}
	defer CloseJoining(db, &err)
	missing, err := distribution.Plan(ctx, db, shards)
	if err != nil {
		return err
	}
	switch {
	case len(missing) == 0:
		_, err = fmt.Fprintln(out, "-- All tables are in place.")
	case printOnly:
		_, err = fmt.Fprint(out, distribution.Script(missing))
	default:
		if err = distribution.Apply(ctx, db, missing); err == nil {
			_, err = fmt.Fprintln(out, "The tables are in place. Restart all instances.")
		}
	}
	return err
}

package dbtest

import (
	"context"
	"errors"
	"os"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/spreadtest"
)

// spreadVariable makes PostgreSQL databases use the keys that Citus requires.
const spreadVariable = "TENANTRY_TEST_SPREAD"

func isSpread() bool { return os.Getenv(spreadVariable) != "" }

// widenKeys changes the keys of a migrated database as deploy/citus/distribute.sql does.
func widenKeys(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url, Patience: ConnTimeout})
	if err != nil {
		return err
	}
	_, err = spreadtest.Spread(ctx, db)
	return errors.Join(err, db.Close())
}

package sqldb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	if err := sqldb.Wrap(nil, "read tenant"); err != nil {
		t.Errorf("nil became %v", err)
	}
	broken := errors.New("connection lost")
	err := sqldb.Wrap(broken, "read tenant")
	if !errors.Is(err, broken) || err.Error() != "read tenant: connection lost" {
		t.Errorf("got %v", err)
	}
}

func TestWrapAbsent(t *testing.T) {
	t.Parallel()
	absent, broken := errors.New("no such tenant"), errors.New("connection lost")
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"a row was found", nil, nil},
		{"missing row", sqldb.ErrNoRows, absent},
		{"missing row, wrapped", fmt.Errorf("scan: %w", sqldb.ErrNoRows), absent},
		{"the query failed", broken, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := sqldb.WrapAbsent(c.err, "read tenant", absent); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

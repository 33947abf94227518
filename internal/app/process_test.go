package app_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Connections that were opened and never used do not hold a stop up.
func TestStopDoesNotWaitForSilence(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	for range 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.Call("GET", "/healthz", "", nil).Want(200) // so that the three are accepted before it stops
	began := clock.System().Now()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if took := clock.System().Now().Sub(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

package app

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Connections that were opened and never used do not hold a stop up.
func TestStopDoesNotWaitForSilence(t *testing.T) {
	t.Parallel()
	s := start(t, sqldb.SQLite)
	for range 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.call("GET", "/healthz", "", nil).want(200) // so that the three are accepted before it stops
	began := clock.System().Now()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if took := clock.System().Now().Sub(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

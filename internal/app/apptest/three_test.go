package apptest

import (
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Three instances answer by themselves, and requests through the proxy reach each of them.
func TestThreeInstancesTakeTurns(t *testing.T) {
	t.Parallel()
	config := NewSettings(t, sqldb.Postgres)
	b := putInFront(t, &config)
	s := StartWith(t, config)
	if s.URL != config.PublicURL.String() {
		t.Fatalf("the service is at %s, the proxy at %s", s.URL, config.PublicURL)
	}
	for _, address := range b.instances {
		one := newServer(t, s.Database, config.Data)
		one.URL = "http://" + address
		Eventually(t, address+" is ready", func() bool {
			return one.Call("GET", "/readyz", "", nil).Status == 200
		})
	}
	picked := map[string]int{}
	for range 9 {
		picked[b.pick("/api/v1/auth/me")]++
	}
	for _, address := range b.instances {
		if picked[address] != 3 {
			t.Errorf("%s gets %d requests of 9", address, picked[address])
		}
	}
	o := s.Register("ada@example.com", true) // one instance knows at once what another has stored
	for range 6 {
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
	}
}

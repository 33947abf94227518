package apptest

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Each of three processes serves requests, the proxy sends requests to all of them in turn, and all
// of them have the sandbox's time when the call that moves it returns.
func TestThreeInstancesTakeTurns(t *testing.T) {
	t.Parallel()
	s := start(t, NewSettings(t, sqldb.Postgres), true)
	b := s.front
	addresses := []string{b.first}
	for _, i := range b.others {
		addresses = append(addresses, i.addr)
	}
	for _, address := range addresses {
		s.at(address).Call("GET", "/api/v1/catalog/plans", "", nil).Want(200)
	}
	picked := map[string]int{}
	for range 9 {
		picked[b.pick("/api/v1/auth/me")]++
	}
	for _, address := range addresses {
		if picked[address] != 3 {
			t.Errorf("%s received %d of 9 requests", address, picked[address])
		}
	}
	o := s.Register("ada@example.com", true) // all instances see a write immediately
	for range 6 {
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
	}
	for range 3 { // a token expires after an hour
		s.Call("POST", "/sandbox/clock", "", Object{"advance": (2 * time.Hour).String()}).Want(200)
		for _, address := range addresses {
			s.at(address).Call("GET", "/api/v1/auth/me", o.Token, nil).WantRefused(401, "")
		}
		o.Token = s.LogIn("ada@example.com")
		for _, address := range addresses {
			s.at(address).Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("the service stopped with %v", err)
	}
}

// at returns a Server that sends requests to one instance.
func (s *Server) at(address string) *Server {
	return &Server{T: s.T, URL: "http://" + address, Database: s.Database, log: s.log, secrets: s.secrets, db: s.db, sandbox: s.sandbox}
}

package apptest

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// DB is the service's database, for looking at it and changing it past the service.
func (s *Server) DB() *sqldb.DB {
	s.T.Helper()
	return s.db()
}

// SandboxDB is the sandbox's own database, with what the payment provider keeps.
func (s *Server) SandboxDB() *sqldb.DB {
	s.T.Helper()
	return s.sandbox()
}

// Exec changes a database past the service. A failure does not end the test, so
// that it may be called from any goroutine.
func Exec(t testing.TB, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Error(err)
	}
	time.Sleep(2 * sqldb.OthersInterval) // The service notices commits of other connections a little later.
}

// CountRows runs a query in the service's database that returns one number.
func (s *Server) CountRows(query string, args ...any) (n int) {
	s.T.Helper()
	if err := s.DB().Conn(s.T.Context()).QueryRowContext(s.T.Context(), query, args...).Scan(&n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

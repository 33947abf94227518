package apptest

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// DB returns the service's database, to read and change it directly.
func (s *Server) DB() *sqldb.DB {
	s.T.Helper()
	return s.db()
}

// SandboxDB returns the sandbox's database, with the data of the payment provider.
func (s *Server) SandboxDB() *sqldb.DB {
	s.T.Helper()
	return s.sandbox()
}

// Exec runs a statement on a database, bypassing the service. It can run in any goroutine, because
// a failure does not end the test.
func Exec(t testing.TB, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Error(err)
	}
	// The service notices commits of other connections after a delay, which is longer on a busy machine.
	time.Sleep(20 * sqldb.OthersInterval)
}

// CountRows runs a query in the service's database that returns one number.
func (s *Server) CountRows(query string, args ...any) (n int) {
	s.T.Helper()
	if err := s.DB().Conn(s.T.Context()).QueryRowContext(s.T.Context(), query, args...).Scan(&n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

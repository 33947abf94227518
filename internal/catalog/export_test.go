package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// WrapConn wraps the connection on which the service runs its queries.
func (s *Service) WrapConn(wrap func(sqldb.DBTX) sqldb.DBTX) {
	conn := s.store.conn
	s.store.conn = func(ctx context.Context) sqldb.DBTX { return wrap(conn(ctx)) }
}

// StoredAnswers returns the number of responses that h caches.
func (h *HTTP) StoredAnswers() int {
	n := 0
	if current := h.answers.Load(); current != nil {
		current.stored.Range(func(any, any) bool { n++; return true })
	}
	return n
}

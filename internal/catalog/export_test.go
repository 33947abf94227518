package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// WrapConn puts wrap around what the service runs its queries on.
func (s *Service) WrapConn(wrap func(sqldb.DBTX) sqldb.DBTX) {
	conn := s.store.conn
	s.store.conn = func(ctx context.Context) sqldb.DBTX { return wrap(conn(ctx)) }
}

// StoredAnswers counts the encoded answers that h keeps.
func (h *HTTP) StoredAnswers() int {
	n := 0
	if current := h.answers.Load(); current != nil {
		current.stored.Range(func(any, any) bool { n++; return true })
	}
	return n
}

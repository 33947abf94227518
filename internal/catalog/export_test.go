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

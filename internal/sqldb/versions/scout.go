package versions

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync"

	"modernc.org/sqlite"
)

// maxKnown bounds the queries whose tables are remembered.
const maxKnown = 1024

// scout is a connection that asks SQLite which tables a query reads. It is open for as
// long as the database is, which keeps the index of the log in its place.
type scout struct {
	of   *Versions
	conn driver.Conn

	mu    sync.RWMutex
	known map[string][]*table
	epoch uint64 // grows when known is forgotten

	asking  sync.Mutex // one asks at a time
	reading map[string]bool
}

func openScout(ctx context.Context, v *Versions, dsn string) (*scout, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &scout{of: v, conn: conn, known: map[string][]*table{}}
	asks, ok := conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return nil, errors.Join(errors.New("versions: the driver has no authorizer"), conn.Close())
	}
	if err := asks.RegisterAuthorizer(s.authorize); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := s.look(ctx); err != nil { // opens the log
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// authorize allows everything, and notes the tables of the query that is asked about.
func (s *scout) authorize(action sqlite.AuthorizerActionCode, table, _, _, _ string) sqlite.AuthorizerReturnCode {
	if action == sqlite.AuthRead && s.reading != nil {
		s.reading[table] = true
	}
	return sqlite.AuthorizerOK
}

// tables returns the tables that a query reads; false where SQLite does not tell.
func (s *scout) tables(ctx context.Context, query string) ([]*table, bool) {
	s.mu.RLock()
	known, ok := s.known[query]
	epoch := s.epoch
	s.mu.RUnlock()
	if ok {
		return known, true
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	ctx = context.WithoutCancel(ctx)
	if s.look(ctx) != nil {
		return nil, false
	}
	s.reading = map[string]bool{}
	defer func() { s.reading = nil }()
	stmt, err := s.conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, false
	}
	defer func() { _ = stmt.Close() }()
	known = make([]*table, 0, len(s.reading))
	for name := range s.reading {
		known = append(known, s.of.table(name))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == epoch && len(s.known) < maxKnown {
		s.known[query] = known
	}
	return known, true
}

// look reads something, by which SQLite notices that the schema has changed.
func (s *scout) look(ctx context.Context) error {
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE false", nil)
	if err != nil {
		return err
	}
	err = rows.Next(make([]driver.Value, 1))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// forget forgets what was told of queries: the schema may have changed.
func (s *scout) forget() {
	if s == nil { // before Open
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	clear(s.known)
}

func (s *scout) close() error {
	s.asking.Lock()
	defer s.asking.Unlock()
	return s.conn.Close()
}

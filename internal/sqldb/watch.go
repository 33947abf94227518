package sqldb

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Timing of the PostgreSQL watch. An outage is detected within probeEvery plus the patience. This
// leaves enough of the two seconds within which every request that needs the database must be
// answered (rules: http#errors).
const (
	probeEvery   = 250 * time.Millisecond
	probeTimeout = time.Second
	dialTimeout  = 500 * time.Millisecond
)

// errUnavailable is the error of statements while PostgreSQL is unavailable.
var errUnavailable = errors.New("sqldb: the database is unavailable")

// watch detects that PostgreSQL is unavailable or has stopped responding. A statement that was
// already sent cannot detect the latter and would wait until its context ends. The watch therefore
// probes the server on a separate connection and, without a response, closes all other connections.
// Pending statements then fail immediately, and no connection is opened until the server responds
// again.
//
// If the URL has several servers, the watch chooses the server that all connections use. An
// unresponsive server does not delay connections to the others, and a server that returns after it
// was replaced is not used again until needed.
//
// Invariant: while away is set, conns is empty, because connections are added and away is set under
// the same lock.
type watch struct {
	servers  []*pgx.ConnConfig // configurations of the watch's own connection, one per server of the URL, in order
	log      *slog.Logger
	patience time.Duration // how long the watch's connection can take to respond

	mu    sync.Mutex
	away  bool
	at    *pgx.ConnConfig // the element of servers in use, set by find
	conns map[*watchedConn]struct{}
}

// watchedConn is a connection of the pool that the watch can close.
type watchedConn struct {
	net.Conn
	watch *watch
}

// Close closes the connection and removes it from the watch. It ignores that the watch has already
// closed it.
func (c *watchedConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	if err := c.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// newWatch returns a watch of the servers of cfg. It is inactive until start is called.
func newWatch(cfg *pgx.ConnConfig, patience time.Duration, log *slog.Logger) *watch {
	if patience <= 0 {
		patience = probeTimeout
	}
	return &watch{servers: serversOf(cfg), log: log, patience: patience, conns: map[*watchedConn]struct{}{}}
}

// serversOf returns a configuration for each server of a URL. A server can have several ways to
// connect, with and without TLS.
func serversOf(cfg *pgx.ConnConfig) (servers []*pgx.ConnConfig) {
	ways := append([]*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
	for _, way := range ways {
		if n := len(servers); n > 0 && servers[n-1].Host == way.Host && servers[n-1].Port == way.Port {
			servers[n-1].Fallbacks = append(servers[n-1].Fallbacks, way)
			continue
		}
		server := cfg.Copy()
		server.Host, server.Port, server.TLSConfig, server.Fallbacks = way.Host, way.Port, way.TLSConfig, nil
		servers = append(servers, server)
	}
	return servers
}

// find chooses the first server to use. If no server responds, it chooses the first server of the
// URL.
func (w *watch) find(ctx context.Context) {
	server := w.servers[0]
	if len(w.servers) > 1 {
		if conn, at, err := w.connect(ctx); err == nil {
			server = at
			hangUp(conn)
		}
	}
	w.moveTo(server)
}

// configureConn makes a new connection of the pool use the current server and registers it with the
// watch.
func (w *watch) configureConn(_ context.Context, cfg *pgx.ConnConfig) error {
	w.mu.Lock()
	server := w.at
	w.mu.Unlock()
	cfg.Host, cfg.Port, cfg.TLSConfig, cfg.Fallbacks = server.Host, server.Port, server.TLSConfig, server.Fallbacks
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		return w.dial(ctx, network, address, server)
	}
	return nil
}

// start starts watching until the returned function is called.
func (w *watch) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.run(ctx)
	}()
	return func() {
		cancel()
		<-stopped
	}
}

func (w *watch) dial(ctx context.Context, network, address string, server *pgx.ConnConfig) (net.Conn, error) {
	if w.isUnavailable() {
		return nil, errUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	conn, err := server.DialFunc(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{Conn: conn, watch: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away || w.at != server {
		return nil, errors.Join(errUnavailable, conn.Close())
	}
	w.conns[c] = struct{}{}
	return c, nil
}

func (w *watch) isUnavailable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

func (w *watch) run(ctx context.Context) {
	ticks := time.NewTicker(probeEvery)
	defer ticks.Stop()
	var conn *pgx.Conn
	for {
		var err error
		conn, err = w.probe(ctx, conn)
		if ctx.Err() != nil {
			hangUp(conn)
			return
		}
		w.recordProbe(err)
		select {
		case <-ctx.Done():
			hangUp(conn)
			return
		case <-ticks.C:
		}
	}
}

// probe checks the server on conn, which may be nil, or on a new connection. It returns the
// connection for the next probe.
func (w *watch) probe(ctx context.Context, conn *pgx.Conn) (*pgx.Conn, error) {
	pinged := make(chan error, 1)
	if conn == nil {
		pinged <- errUnavailable
	} else {
		go func() { pinged <- runWithTimeout(ctx, w.patience, conn.Ping) }()
	}
	select {
	case err := <-pinged:
		if err == nil {
			return conn, nil
		}
		pinged <- err
	case <-time.After(w.patience / 2):
	}
	// A missing response on one connection does not prove that the server is down, because the
	// connection may have been closed. Try a new connection while the ping on the old one can still
	// succeed.
	fresh, at, err := w.connect(ctx)
	if <-pinged == nil {
		hangUp(fresh)
		return conn, nil
	}
	hangUp(conn)
	conn = fresh
	if err == nil {
		w.moveTo(at)
		return conn, nil
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && !isOutage(refusal) {
		return nil, nil // the server responds, even if only to reject the connection
	}
	return nil, err
}

// connectResult is the result of an attempt to connect.
type connectResult struct {
	conn *pgx.Conn
	err  error
}

// connect connects to the first server in the URL that responds in time. It tries all servers
// concurrently. Once a server responds, the others get only probeEvery more time.
func (w *watch) connect(ctx context.Context) (*pgx.Conn, *pgx.ConnConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, max(dialTimeout, w.patience/2))
	defer cancel()
	answered := make(chan struct{}, len(w.servers))
	results := make([]connectResult, len(w.servers))
	var all sync.WaitGroup
	for i, server := range w.servers {
		all.Go(func() {
			conn, err := pgx.ConnectConfig(ctx, server)
			results[i] = connectResult{conn, err}
			if err == nil {
				answered <- struct{}{}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-answered:
		select {
		case <-ended:
		case <-time.After(probeEvery):
		}
	}
	cancel()
	<-ended
	var found connectResult
	var at *pgx.ConnConfig
	for i, r := range results {
		switch {
		case r.err != nil:
			found.err = errors.Join(found.err, r.err)
		case found.conn == nil:
			found.conn, at = r.conn, w.servers[i]
		default:
			hangUp(r.conn)
		}
	}
	if found.conn != nil {
		return found.conn, at, nil
	}
	return nil, nil, found.err
}

// moveTo switches to another server, if it is not the current one.
func (w *watch) moveTo(server *pgx.ConnConfig) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == server {
		return
	}
	if w.at != nil {
		w.log.Warn("database server changed", "host", server.Host, "port", server.Port)
		w.closeConns()
	}
	w.at = server
}

// recordProbe updates the state after a probe, which failed if the error is not nil.
func (w *watch) recordProbe(failed error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if away := failed != nil; away == w.away {
		return
	}
	w.away = failed != nil
	if !w.away {
		w.log.Info("database available again")
		return
	}
	w.log.Error("database unavailable", "error", failed)
	w.closeConns()
}

// closeConns closes all connections of the pool. The caller holds mu.
func (w *watch) closeConns() {
	for c := range w.conns {
		_ = c.Conn.Close()
	}
	clear(w.conns)
}

func runWithTimeout(ctx context.Context, d time.Duration, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}

// hangUp closes a connection without waiting for an unresponsive server.
func hangUp(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_ = conn.Close(ctx)
}

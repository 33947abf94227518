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

// How PostgreSQL is watched. That it is away is known after probeEvery and probePatience, which
// leaves some of the two seconds in which every request that needs the database is answered
// (rules: http#errors).
const (
	probeEvery   = 250 * time.Millisecond
	probeTimeout = time.Second
	dialTimeout  = 500 * time.Millisecond
)

// errAway is what happens to statements while PostgreSQL is away.
var errAway = errors.New("sqldb: the database does not answer")

// watch notices that PostgreSQL is away or has stopped answering. A statement that was
// sent cannot notice the latter: it would wait for as long as its caller may. So the
// watch asks on a connection of its own, and cuts all others when there is no answer:
// what waits on them fails at once, and nobody dials until there is an answer again.
//
// Where the URL has several servers it looks for the one to work with, and everybody works
// with that one: a server that is silent costs nobody else any time, and one that comes back
// after another has taken its place is left alone.
//
// Invariant: while away, conns is empty, because a connection is added and away is set
// under the same lock.
type watch struct {
	servers  []*pgx.ConnConfig // of its own connection, one for each server of the URL, in its order
	log      *slog.Logger
	patience time.Duration // with an answer of the connection that it has

	mu    sync.Mutex
	away  bool
	at    *pgx.ConnConfig // that of servers which is worked with, set by find
	conns map[*watchedConn]struct{}
}

// watchedConn is a connection of the pool that the watch can cut.
type watchedConn struct {
	net.Conn
	watch *watch
}

// Close closes the connection, which the watch then forgets. One that it has cut is closed already.
func (c *watchedConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	if err := c.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// newWatch returns a watch of the servers of cfg. It does not watch until start.
func newWatch(cfg *pgx.ConnConfig, patience time.Duration, log *slog.Logger) *watch {
	if patience <= 0 {
		patience = probeTimeout
	}
	return &watch{servers: serversOf(cfg), log: log, patience: patience, conns: map[*watchedConn]struct{}{}}
}

// serversOf returns a configuration for each server of a URL. One server may have several
// ways to connect, with and without TLS.
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

// find looks for the server to work with first. Without one it is the first of the URL.
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

// configureConn makes a connection that is to be opened a watched one to the server that is worked
// with.
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

// start begins to watch, until the returned function is called.
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
	if w.isAway() {
		return nil, errAway
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
		return nil, errors.Join(errAway, conn.Close())
	}
	w.conns[c] = struct{}{}
	return c, nil
}

func (w *watch) isAway() bool {
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

// probe asks for a sign of life on conn, which may be nil, or on a new connection, and
// returns the one to ask next.
func (w *watch) probe(ctx context.Context, conn *pgx.Conn) (*pgx.Conn, error) {
	pinged := make(chan error, 1)
	if conn == nil {
		pinged <- errAway
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
	// A connection without an answer says little about the server: somebody may have ended this
	// one. So a new one is tried, while the old one has the rest of its time.
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
		return nil, nil // it answers, if only that this is one connection too many
	}
	return nil, err
}

// connectResult is what came of an attempt to connect.
type connectResult struct {
	conn *pgx.Conn
	err  error
}

// connect connects to the first server of the URL that can be worked with. All are tried at
// the same time; once one answers, those before it have only a moment left.
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

// moveTo works with another server from now on, if it is another one.
func (w *watch) moveTo(server *pgx.ConnConfig) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == server {
		return
	}
	if w.at != nil {
		w.log.Warn("the database is another server now", "host", server.Host, "port", server.Port)
		w.closeConns()
	}
	w.at = server
}

// recordProbe acts on whether the last probe failed.
func (w *watch) recordProbe(failed error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if away := failed != nil; away == w.away {
		return
	}
	w.away = failed != nil
	if !w.away {
		w.log.Info("the database answers again")
		return
	}
	w.log.Error("the database does not answer: what needs it is refused until it does", "error", failed)
	w.closeConns()
}

// closeConns ends all connections of the pool. The caller holds mu.
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

// hangUp closes a connection without waiting for a server that may not answer.
func hangUp(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_ = conn.Close(ctx)
}

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

// How PostgreSQL is watched. All three together stay below two seconds, in which every
// request that needs the database is answered (rules: http#errors).
const (
	probeEvery    = 250 * time.Millisecond
	probePatience = time.Second
	dialPatience  = 500 * time.Millisecond
)

// errAway is what happens to statements while PostgreSQL is away.
var errAway = errors.New("sqldb: the database does not answer")

// watch notices that PostgreSQL is away or has stopped answering. A statement that was
// sent cannot notice the latter: it would wait for as long as its caller may. So the
// watch asks on a connection of its own, and cuts all others when there is no answer:
// what waits on them fails at once, and nobody dials until there is an answer again.
//
// Invariant: while away, conns is empty, because a connection is added and away is set
// under the same lock.
type watch struct {
	cfg      *pgx.ConnConfig // of its own connection
	log      *slog.Logger
	patience time.Duration // with an answer of the connection that it has

	mu    sync.Mutex
	away  bool
	conns map[*watchedConn]struct{}
}

// watchedConn is a connection of the pool that the watch can cut.
type watchedConn struct {
	net.Conn
	watch *watch
}

// Close closes the connection, which the watch then forgets.
func (c *watchedConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

// newWatch makes the connections of cfg watched ones. It does not watch until start.
func newWatch(cfg *pgx.ConnConfig, patience time.Duration, log *slog.Logger) *watch {
	if patience <= 0 {
		patience = probePatience
	}
	w := &watch{cfg: cfg.Copy(), log: log, patience: patience, conns: map[*watchedConn]struct{}{}}
	cfg.DialFunc = w.dial
	return w
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

func (w *watch) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if w.isAway() {
		return nil, errAway
	}
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	conn, err := w.cfg.DialFunc(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{Conn: conn, watch: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
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
		w.note(err)
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
	if conn != nil {
		if within(ctx, w.patience, conn.Ping) == nil {
			return conn, nil
		}
		hangUp(conn) // which says little about the server: somebody may have ended this connection
	}
	err := within(ctx, max(dialPatience, w.patience/2), func(ctx context.Context) (err error) {
		conn, err = pgx.ConnectConfig(ctx, w.cfg)
		return err
	})
	if err == nil {
		return conn, nil
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && !isOutage(refusal) {
		return nil, nil // it answers, if only that this is one connection too many
	}
	return nil, err
}

// note acts on whether the last probe failed.
func (w *watch) note(failed error) {
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
	for c := range w.conns {
		_ = c.Conn.Close()
	}
	clear(w.conns)
}

func within(ctx context.Context, d time.Duration, f func(ctx context.Context) error) error {
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

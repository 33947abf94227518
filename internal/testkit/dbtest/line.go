package dbtest

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// Line is a proxy in front of PostgreSQL that a test can freeze or cut.
type Line struct {
	network, server string // the server's address

	mu     sync.Mutex
	flows  *sync.Cond // signals changes of frozen
	frozen bool
	cut    bool
	conns  []net.Conn
}

// NewLine starts a proxy in front of the server of a database URL. It returns the URL of the
// database through the proxy.
func NewLine(t testing.TB, address string) (*Line, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{}
	l.network, l.server = ServerAddress(u)
	l.flows = sync.NewCond(&l.mu)
	listener, through := Listen(t, u)
	t.Cleanup(l.Cut)
	go l.serve(t, listener)
	return l, through
}

// ServerAddress returns the address of the PostgreSQL server in a database URL.
func ServerAddress(u *url.URL) (network, address string) {
	query := u.Query()
	host, port := cmp.Or(u.Hostname(), query.Get("host")), cmp.Or(u.Port(), query.Get("port"), "5432")
	if filepath.IsAbs(host) {
		return "unix", filepath.Join(host, ".s.PGSQL."+port)
	}
	return "tcp", net.JoinHostPort(host, port)
}

// Listen returns a listener for a proxy in front of PostgreSQL and the URL of the database through
// the proxy. The listener is closed when t ends.
func Listen(t testing.TB, database *url.URL) (listener net.Listener, through string) {
	t.Helper()
	folder := TempDir(t)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	u, query := *database, database.Query()
	query.Set("host", folder)
	query.Set("port", "5432")
	u.Host, u.RawQuery = "", query.Encode()
	return listener, u.String()
}

func (l *Line) serve(t testing.TB, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(t.Context(), l.network, l.server)
		if err != nil {
			_ = client.Close()
			return
		}
		l.mu.Lock()
		if l.cut {
			_, _ = client.Close(), server.Close()
		}
		l.conns = append(l.conns, client, server)
		l.mu.Unlock()
		go l.copyBytes(client, server)
		go l.copyBytes(server, client)
	}
}

// copyBytes copies bytes from one side to the other, unless the line is frozen.
func (l *Line) copyBytes(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		for l.frozen {
			l.flows.Wait()
		}
		l.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); errors.Join(err, failed) != nil {
			if err != nil && !errors.Is(err, io.EOF) {
				_ = from.Close()
			}
			return
		}
	}
}

// Freeze stops the transfer of bytes in both directions.
func (l *Line) Freeze() { l.set(func() { l.frozen = true }) }

// Cut closes all connections, and each new connection immediately.
func (l *Line) Cut() {
	l.set(func() {
		l.cut, l.frozen = true, false
		for _, c := range l.conns {
			_ = c.Close()
		}
		l.conns = nil
	})
}

// Restore ends Freeze and Cut.
func (l *Line) Restore() { l.set(func() { l.cut, l.frozen = false, false }) }

func (l *Line) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.flows.Broadcast()
}

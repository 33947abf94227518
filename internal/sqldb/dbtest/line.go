package dbtest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// Line is the way to PostgreSQL, which a test can freeze or cut.
type Line struct {
	folder string // of the socket to connect to
	socket string // of the server

	mu     sync.Mutex
	flows  *sync.Cond // is told of changes of frozen
	frozen bool
	cut    bool
	conns  []net.Conn
}

// NewLine leads to the server of a database URL, and returns the URL that goes along it.
func NewLine(t testing.TB, address string) (*Line, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	const name = ".s.PGSQL.5432"
	query := u.Query()
	l := &Line{folder: TempDir(t), socket: filepath.Join(query.Get("host"), name)}
	l.flows = sync.NewCond(&l.mu)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(l.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); l.Cut() })
	go l.serve(t, listener)
	query.Set("host", l.folder)
	u.RawQuery = query.Encode()
	return l, u.String()
}

func (l *Line) serve(t testing.TB, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(t.Context(), "unix", l.socket)
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
		go l.carry(client, server)
		go l.carry(server, client)
	}
}

// carry copies what comes from one side, unless the line is frozen.
func (l *Line) carry(to, from net.Conn) {
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

// Freeze keeps everything on its way.
func (l *Line) Freeze() { l.set(func() { l.frozen = true }) }

// Cut ends all connections, and each new one at once.
func (l *Line) Cut() {
	l.set(func() {
		l.cut, l.frozen = true, false
		for _, c := range l.conns {
			_ = c.Close()
		}
		l.conns = nil
	})
}

// Mend lets everything through again.
func (l *Line) Mend() { l.set(func() { l.cut, l.frozen = false, false }) }

func (l *Line) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.flows.Broadcast()
}

package app

import (
	"net"
	"net/http"
	"sync"
)

// freshConns are the connections that have not sent anything yet: browsers and
// proxies open some in advance. http.Server.Shutdown would wait five seconds for
// their first request, so they are closed when the process stops.
type freshConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// track is the server's ConnState hook.
func (f *freshConns) track(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state != http.StateNew {
		delete(f.conns, c)
		return
	}
	if f.conns == nil {
		f.conns = map[net.Conn]struct{}{}
	}
	f.conns[c] = struct{}{}
}

func (f *freshConns) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close() // the connection was never used: an error does not matter
	}
}

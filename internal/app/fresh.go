package app

import (
	"net"
	"net/http"
	"sync"
)

// unusedConns are connections without a request so far. Browsers and proxies open such connections
// in advance, and http.Server.Shutdown would wait five seconds for their first request. The process
// closes them when it stops.
type unusedConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// track implements http.Server.ConnState.
func (f *unusedConns) track(c net.Conn, state http.ConnState) {
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

func (f *unusedConns) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close() // no request is in flight, so an error does not matter
	}
}

package rest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Serve serves the API on a listener until the server is shut down, like http.Server.Serve. It sets
// the server's handler.
//
// It rejects requests whose end a proxy in front of the service could see in a different place than
// the service, to prevent request smuggling (rules: http#requests). A request with both
// Content-Length and Transfer-Encoding is rejected, as RFC 9112 (6.3) allows. net/http obeys the
// latter and removes the former before a handler sees it, so the request heads are scanned while they
// are read from the connection. The connection is closed after a request with Transfer-Encoding, so
// that the scanner does not need to find the end of its body.
//
// Invariant: a request that the API sees either corresponds to the next scanned head of its
// connection, or is rejected. Input that the scanner does not understand ends the scan, and so the
// connection.
func (a *API) Serve(server *http.Server, l net.Listener) error {
	server.Handler = http.HandlerFunc(a.serveScanned)
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	server.DisableGeneralOptionsHandler = true // so that the handler sees all requests
	return server.Serve(headListener{l})
}

// serveScanned rejects ambiguous requests.
func (a *API) serveScanned(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || r.ProtoMajor != 1 {
		a.ServeHTTP(w, r)
		return
	}
	sound, last := c.countRequest()
	if last {
		w.Header().Set("Connection", "close")
	}
	if !sound {
		a.writeUnreadable(w, r)
		return
	}
	a.ServeHTTP(w, r)
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// headListener scans the request heads on the connections of another listener.
type headListener struct{ net.Listener }

// Accept implements net.Listener.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// maxLine is how much of a line is scanned: enough for the two headers.
const maxLine = 128

// conn is a connection whose request heads are scanned.
type conn struct {
	net.Conn

	mu       sync.Mutex
	seen     int   // complete heads
	answered int   // requests that reached the handler
	last     int   // number of the request after which the scan ended; 0 while scanning
	both     bool  // the last request has both headers
	skip     int64 // remaining bytes of a body
	line     []byte
	inHead   bool  // after the request line
	length   int64 // Content-Length of the current head; -1 if missing
	chunked  bool
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scanBytes(p[:n])
	return n, err
}

// countRequest counts a request that reached the handler. It reports whether its head was scanned and
// is unambiguous, and whether it must be the last of the connection.
func (c *conn) countRequest() (sound, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered++
	switch {
	case c.answered > c.seen, c.last > 0 && c.answered > c.last:
		return false, true
	case c.answered == c.last:
		return !c.both, true
	default:
		return true, false
	}
}

// scanBytes scans the next bytes of the connection.
func (c *conn) scanBytes(data []byte) {
	for len(data) > 0 && c.last == 0 {
		if c.skip > 0 {
			n := min(c.skip, int64(len(data)))
			c.skip -= n
			data = data[n:]
			continue
		}
		end := bytes.IndexByte(data, '\n')
		part := data
		if end >= 0 {
			part = data[:end]
		}
		c.line = append(c.line, part[:min(len(part), maxLine-len(c.line))]...)
		if end < 0 {
			return
		}
		data = data[end+1:]
		c.endLine()
	}
}

// endLine processes a complete line of a head.
func (c *conn) endLine() {
	line := bytes.TrimSuffix(c.line, []byte("\r"))
	c.line = c.line[:0]
	switch {
	case !c.inHead:
		c.inHead, c.length, c.chunked = true, -1, false
	case len(line) == 0:
		c.endHead()
	default:
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			c.chunked = true
		case bytes.EqualFold(name, []byte("Content-Length")):
			c.length = 0
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil && n > 0 {
				c.length = n
			} else if err != nil {
				c.chunked = true // the end of the body is unknown, so no request may follow
			}
		}
	}
}

func (c *conn) endHead() {
	c.seen++
	c.inHead = false
	if c.chunked {
		c.last, c.both = c.seen, c.length >= 0
		c.line = nil
		return
	}
	c.skip = max(c.length, 0)
}

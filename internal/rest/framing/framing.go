// Package framing refuses requests whose end a proxy in front of the service may see
// elsewhere than the service does, so that nobody smuggles a request past the proxy
// (rules: http#requests).
//
// A request with Content-Length and Transfer-Encoding is refused, as RFC 9112 (6.3) allows.
// net/http obeys the second and removes the first before a handler sees it, so the heads of
// requests are looked at while they are read from the connection. After a request with
// Transfer-Encoding the connection is closed: where its body ends, and a further head would
// begin, nobody has to find out then.
//
// Invariant: a request that a handler sees on a connection either was the next whose head
// was looked at, or is refused. Whatever is not understood ends the looking, and so the
// connection.
package framing

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Listener looks at the heads of the requests that come in by the connections of another.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

type connKey struct{}

// Context is the ConnContext of a server that serves a Listener.
func Context(ctx context.Context, c net.Conn) context.Context {
	if looked, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, looked)
	}
	return ctx
}

// Handler calls refuse for a request that is ambiguous, and next for others. The server must
// have DisableGeneralOptionsHandler set, so that it sees all requests.
func Handler(next http.Handler, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*conn)
		if !ok || r.ProtoMajor != 1 {
			next.ServeHTTP(w, r)
			return
		}
		sound, last := c.handled()
		if last {
			w.Header().Set("Connection", "close")
		}
		if !sound {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxLine is how much of a line is looked at: enough for the two headers.
const maxLine = 128

// conn is a connection whose heads are looked at.
type conn struct {
	net.Conn

	mu       sync.Mutex
	seen     int   // heads that were read to their end
	answered int   // requests that came to the handler
	last     int   // the request after which there is no looking; 0 while there is
	both     bool  // that request has both headers
	skip     int64 // bytes of a body that are still to come
	line     []byte
	inHead   bool  // after the request line
	length   int64 // of the head's body; -1 without the header
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

// handled counts a request that came to the handler, and reports whether its head was
// looked at and is sound, and whether it is the last of the connection.
func (c *conn) handled() (sound, last bool) {
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

// scanBytes goes over the next bytes of the connection.
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

// endLine takes in a line of a head.
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
				c.chunked = true // where the body ends is not known: nothing follows it
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

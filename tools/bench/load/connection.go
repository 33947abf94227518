//go:build linux

package load

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// connection is the connection of a caller.
type connection struct {
	Caller
	of     *group
	fd     int
	sentAt time.Time
	in     []byte
}

func dial(address netip.AddrPort) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.Connect(fd, &syscall.SockaddrInet4{Addr: address.Addr().As4(), Port: int(address.Port())}),
		syscall.SetNonblock(fd, true),
	)
	if err != nil {
		return 0, errors.Join(err, syscall.Close(fd))
	}
	return fd, nil
}

func (c *connection) send(at time.Time) error {
	c.sentAt = at
	for request := c.Next(); len(request) > 0; {
		n, err := syscall.Write(c.fd, request)
		if err != nil && !errors.Is(err, syscall.EAGAIN) {
			return fmt.Errorf("send: %w", err)
		}
		request = request[max(n, 0):]
	}
	return nil
}

var (
	headerEnd = []byte("\r\n\r\n")
	lengthKey = []byte("\r\nContent-Length: ")
	lastChunk = []byte("\r\n0\r\n\r\n")
)

// read reads available data. status is 0 until the response is complete. The body of a chunked
// response still contains the chunk sizes.
func (c *connection) read() (status int, body []byte, err error) {
	for {
		if len(c.in) == cap(c.in) {
			c.in = slices.Grow(c.in, cap(c.in))
		}
		room := c.in[len(c.in):cap(c.in)]
		n, err := syscall.Read(c.fd, room)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil, nil
		case err != nil:
			return 0, nil, fmt.Errorf("receive: %w", err)
		case n == 0:
			return 0, nil, errors.New("the connection was closed")
		}
		c.in = c.in[:len(c.in)+n]
		end := bytes.Index(c.in, headerEnd)
		if end >= 0 && c.complete(end) {
			status, err := strconv.Atoi(string(c.in[len("HTTP/1.1 "):][:3]))
			return status, c.in[end+len(headerEnd):], err
		}
		if n < len(room) {
			return 0, nil, nil
		}
	}
}

// complete reports whether the response has been received completely. end is the end of its header.
func (c *connection) complete(end int) bool {
	header := c.in[:end+2]
	if i := bytes.Index(header, lengthKey); i >= 0 {
		value := header[i+len(lengthKey):]
		length, err := strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
		return err == nil && len(c.in) >= end+len(headerEnd)+length
	}
	return bytes.HasSuffix(c.in, lastChunk)
}

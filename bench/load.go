//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenantry/tenantry/internal/clock"
)

// warmUp is how long a load runs before it is counted.
const warmUp = 500 * time.Millisecond

// drainTime is how long the last answers are waited for.
const drainTime = 30 * time.Second

// caller makes the requests of one connection, one after the other.
type caller struct {
	// next returns the bytes of the next request; they are sent before it is
	// called again.
	next func() []byte
	// answered is shown the body of each answer, and its error ends the load; nil
	// where the status says it all.
	answered func(body []byte) error
}

// result is what a load came to.
type result struct {
	elapsed   time.Duration
	statuses  map[int]int
	latencies []uint32 // of the answers with the wanted status, in microseconds, sorted
}

// rate is the answers with the wanted status per second.
func (r result) rate() float64 { return float64(len(r.latencies)) / r.elapsed.Seconds() }

// quantile is a latency in milliseconds.
func (r result) quantile(q float64) float64 {
	if len(r.latencies) == 0 {
		return 0
	}
	return float64(r.latencies[int(q*float64(len(r.latencies)-1))]) / 1000
}

// others are the answers with another status than the wanted one.
func (r result) others(want int) int {
	n := 0
	for status, count := range r.statuses {
		if status != want {
			n += count
		}
	}
	return n
}

// connection is a caller's own.
type connection struct {
	caller
	fd     int
	sentAt time.Time
	in     []byte
}

// load sends requests over one connection per caller, each the next as soon as
// the last is answered, for d. One goroutine asks the kernel which connections
// can be read, so that the load takes as little of the machine as it can.
func load(address netip.AddrPort, d time.Duration, want int, callers []caller) (r result, err error) {
	now := clock.System().Now
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unix.Close(epoll)) }()
	connections := map[int32]*connection{}
	defer func() {
		for fd := range connections {
			err = errors.Join(err, unix.Close(int(fd)))
		}
	}()
	for _, caller := range callers {
		fd, err := dial(address)
		if err != nil {
			return r, err
		}
		connections[int32(fd)] = &connection{caller: caller, fd: fd, in: make([]byte, 0, 64<<10)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return r, err
		}
	}
	r = result{statuses: map[int]int{}, elapsed: d, latencies: make([]uint32, 0, 1<<16)}
	begin := now()
	from, until := begin.Add(warmUp), begin.Add(warmUp+d)
	for _, c := range connections {
		if err := c.send(begin); err != nil {
			return r, err
		}
	}
	events := make([]unix.EpollEvent, len(callers))
	for waiting := len(callers); waiting > 0; {
		n, err := unix.EpollWait(epoll, events, 1000)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return r, err
		}
		at := now()
		if at.Sub(until) > drainTime {
			return r, fmt.Errorf("%d requests were not answered within %s", waiting, drainTime)
		}
		for _, event := range events[:max(n, 0)] {
			c := connections[event.Fd]
			status, body, err := c.read()
			if err != nil {
				return r, err
			}
			if status == 0 {
				continue // not whole yet
			}
			if at.After(from) && at.Before(until) {
				r.statuses[status]++
				if status == want {
					r.latencies = append(r.latencies, uint32(at.Sub(c.sentAt).Microseconds()))
				}
			}
			if c.answered != nil {
				if err := c.answered(body); err != nil {
					return r, err
				}
			}
			c.in = c.in[:0]
			if at.After(until) {
				waiting--
				continue
			}
			if err := c.send(at); err != nil {
				return r, err
			}
		}
	}
	slices.Sort(r.latencies)
	return r, nil
}

func dial(address netip.AddrPort) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.Connect(fd, &unix.SockaddrInet4{Addr: address.Addr().As4(), Port: int(address.Port())}),
		unix.SetNonblock(fd, true),
	)
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

func (c *connection) send(at time.Time) error {
	c.sentAt = at
	for request := c.next(); len(request) > 0; {
		n, err := unix.Write(c.fd, request)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
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

// read reads what has come; status is 0 while the answer is not whole. Of an
// answer in chunks the body is shown with their sizes in between.
func (c *connection) read() (status int, body []byte, err error) {
	for {
		if len(c.in) == cap(c.in) {
			c.in = slices.Grow(c.in, cap(c.in))
		}
		room := c.in[len(c.in):cap(c.in)]
		n, err := unix.Read(c.fd, room)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return 0, nil, nil
		case err != nil:
			return 0, nil, fmt.Errorf("receive: %w", err)
		case n == 0:
			return 0, nil, errors.New("the connection was closed")
		}
		c.in = c.in[:len(c.in)+n]
		end := bytes.Index(c.in, headerEnd)
		if end >= 0 && c.whole(end) {
			status, err := strconv.Atoi(string(c.in[len("HTTP/1.1 "):][:3]))
			return status, c.in[end+len(headerEnd):], err
		}
		if n < len(room) {
			return 0, nil, nil
		}
	}
}

// whole tells whether the answer whose header ends at end has come in full.
func (c *connection) whole(end int) bool {
	header := c.in[:end+2]
	if i := bytes.Index(header, lengthKey); i >= 0 {
		value := header[i+len(lengthKey):]
		length, err := strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
		return err == nil && len(c.in) >= end+len(headerEnd)+length
	}
	return bytes.HasSuffix(c.in, lastChunk)
}

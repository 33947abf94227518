//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// warmUp is how long a load runs before it is counted.
const warmUp = 500 * time.Millisecond

// drainTime is how long the load waits for the last answers.
const drainTime = 30 * time.Second

// caller makes the requests of one connection, one after the other.
type caller struct {
	// next returns the bytes of the next request; they are sent before it is
	// called again.
	next func() []byte
	// answered gets the body of each answer, and its error ends the load; nil where
	// the status is enough.
	answered func(body []byte) error
}

// result is what a load measured.
type result struct {
	elapsed   time.Duration
	statuses  map[int]int
	latencies []uint32 // of the answers with the wanted status, in microseconds, sorted
}

// rate returns the answers with the wanted status per second.
func (r result) rate() float64 { return float64(len(r.latencies)) / r.elapsed.Seconds() }

// quantile returns a latency in milliseconds.
func (r result) quantile(q float64) float64 {
	if len(r.latencies) == 0 {
		return 0
	}
	return float64(r.latencies[int(q*float64(len(r.latencies)-1))]) / 1000
}

// others returns how many answers had another status than the wanted one.
func (r result) others(want int) int {
	n := 0
	for status, count := range r.statuses {
		if status != want {
			n += count
		}
	}
	return n
}

// connection is the connection of one caller.
type connection struct {
	caller
	fd     int
	sentAt time.Time
	in     []byte
}

// loader is a load while it runs. One goroutine asks the kernel which connections
// can be read, so that the load takes as little of the machine as it can.
type loader struct {
	epoll       int
	connections map[int32]*connection // by file descriptor
	want        int
	from, until time.Time // answers count between them
	result      result
}

// load sends requests over one connection per caller for d, each as soon as the one
// before is answered, and counts the answers whose status is want.
func load(address netip.AddrPort, d time.Duration, want int, callers []caller) (r result, err error) {
	l := &loader{
		connections: map[int32]*connection{}, want: want,
		result: result{statuses: map[int]int{}, elapsed: d, latencies: make([]uint32, 0, 1<<16)},
	}
	if l.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for _, caller := range callers {
		if err := l.connect(address, caller); err != nil {
			return r, err
		}
	}
	begin := clock.System().Now()
	l.from, l.until = begin.Add(warmUp), begin.Add(warmUp+d)
	for _, c := range l.connections {
		if err := c.send(begin); err != nil {
			return r, err
		}
	}
	if err := l.drive(); err != nil {
		return r, err
	}
	slices.Sort(l.result.latencies)
	return l.result, nil
}

func (l *loader) connect(address netip.AddrPort, caller caller) error {
	fd, err := dial(address)
	if err != nil {
		return err
	}
	l.connections[int32(fd)] = &connection{caller: caller, fd: fd, in: make([]byte, 0, 64<<10)}
	return syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

func (l *loader) close() error {
	err := syscall.Close(l.epoll)
	for fd := range l.connections {
		err = errors.Join(err, syscall.Close(int(fd)))
	}
	return err
}

// drive reads answers and sends the next requests until the time is over and every
// connection has its last answer.
func (l *loader) drive() error {
	events := make([]syscall.EpollEvent, len(l.connections))
	for waiting := len(l.connections); waiting > 0; {
		n, err := syscall.EpollWait(l.epoll, events, 1000)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		at := clock.System().Now()
		if at.Sub(l.until) > drainTime {
			return fmt.Errorf("%d requests were not answered within %s", waiting, drainTime)
		}
		for _, event := range events[:max(n, 0)] {
			answered, err := l.receive(l.connections[event.Fd], at)
			if err != nil {
				return err
			}
			if answered && at.After(l.until) {
				waiting--
			}
		}
	}
	return nil
}

// receive reads what has come for a connection, and reports whether that completes
// an answer. If it does, the answer is counted and the next request is sent, unless
// the time is over.
func (l *loader) receive(c *connection, at time.Time) (bool, error) {
	status, body, err := c.read()
	if err != nil || status == 0 {
		return false, err
	}
	if at.After(l.from) && at.Before(l.until) {
		l.result.statuses[status]++
		if status == l.want {
			l.result.latencies = append(l.result.latencies, uint32(at.Sub(c.sentAt).Microseconds()))
		}
	}
	if c.answered != nil {
		if err := c.answered(body); err != nil {
			return false, err
		}
	}
	c.in = c.in[:0]
	if at.After(l.until) {
		return true, nil
	}
	return true, c.send(at)
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
	for request := c.next(); len(request) > 0; {
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

// read reads what has come; status is 0 while the answer is not complete. The body
// of an answer in chunks still has their sizes in between.
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

// complete reports whether the answer whose header ends at end has come in full.
func (c *connection) complete(end int) bool {
	header := c.in[:end+2]
	if i := bytes.Index(header, lengthKey); i >= 0 {
		value := header[i+len(lengthKey):]
		length, err := strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
		return err == nil && len(c.in) >= end+len(headerEnd)+length
	}
	return bytes.HasSuffix(c.in, lastChunk)
}

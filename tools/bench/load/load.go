//go:build linux

// Package load sends requests to a server over many connections and counts the responses. A single
// goroutine polls the connections with epoll, so that the load generator uses as little of the
// machine as possible.
package load

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// WarmUp is how long a load runs before responses are counted.
const WarmUp = 500 * time.Millisecond

// drainTime is how long the load waits for the last responses.
const drainTime = 30 * time.Second

// Caller creates the requests of one connection, one at a time.
type Caller struct {
	// Next returns the bytes of the next request. They are sent before Next is called again.
	Next func() []byte
	// Answered is called with the body of each response. If it returns an error, the load ends.
	// Answered can be nil.
	Answered func(body []byte) error
}

// Work is the load of a group of connections.
type Work struct {
	Callers []Caller
	Want    int // the expected status
	// Rate is the maximum number of requests per second, over all connections. 0 means that each
	// request is sent after the previous response. The rate is an average: late requests are sent
	// as soon as a connection is idle.
	Rate float64
}

// Result is the measurement of one Work.
type Result struct {
	Want      int
	Elapsed   time.Duration
	Statuses  map[int]int
	Latencies []uint32 // of responses with the expected status, in microseconds, sorted
}

// Rate returns the number of responses with the expected status per second.
func (r Result) Rate() float64 { return float64(len(r.Latencies)) / r.Elapsed.Seconds() }

// Quantile returns a latency quantile in milliseconds.
func (r Result) Quantile(q float64) float64 {
	if len(r.Latencies) == 0 {
		return 0
	}
	return float64(r.Latencies[int(q*float64(len(r.Latencies)-1))]) / 1000
}

// OtherStatuses returns the number of responses with an unexpected status.
func (r Result) OtherStatuses() int {
	n := 0
	for status, count := range r.Statuses {
		if status != r.Want {
			n += count
		}
	}
	return n
}

// group is a running Work.
type group struct {
	Work
	result Result
	idle   []*connection // waiting for the next request; always empty without a rate
	begin  time.Time
	sent   int
}

// nextDue returns the time of the next request.
func (g *group) nextDue() time.Time {
	return g.begin.Add(time.Duration(float64(g.sent) / g.Rate * float64(time.Second)))
}

// loader is a running load.
type loader struct {
	epoll       int
	connections map[int32]*connection // by file descriptor
	groups      []*group
	unanswered  int
	from, until time.Time // the interval in which responses are counted
}

// Run runs all works concurrently for d and returns their results.
func Run(address netip.AddrPort, d time.Duration, works ...Work) (results []Result, err error) {
	l := &loader{connections: map[int32]*connection{}}
	if l.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for _, w := range works {
		g := &group{Work: w, result: Result{Want: w.Want, Elapsed: d, Statuses: map[int]int{}, Latencies: make([]uint32, 0, 1<<16)}}
		l.groups = append(l.groups, g)
		for _, caller := range w.Callers {
			if err := l.connect(address, g, caller); err != nil {
				return nil, err
			}
		}
	}
	begin := clock.System().Now()
	l.from, l.until = begin.Add(WarmUp), begin.Add(WarmUp+d)
	for _, g := range l.groups {
		g.begin = begin
	}
	for _, c := range l.connections {
		if err := l.sendNext(c, begin); err != nil {
			return nil, err
		}
	}
	if err := l.drive(); err != nil {
		return nil, err
	}
	for _, g := range l.groups {
		slices.Sort(g.result.Latencies)
		results = append(results, g.result)
	}
	return results, nil
}

func (l *loader) connect(address netip.AddrPort, g *group, caller Caller) error {
	fd, err := dial(address)
	if err != nil {
		return err
	}
	l.connections[int32(fd)] = &connection{Caller: caller, of: g, fd: fd, in: make([]byte, 0, 64<<10)}
	return syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

func (l *loader) close() error {
	err := syscall.Close(l.epoll)
	for fd := range l.connections {
		err = errors.Join(err, syscall.Close(int(fd)))
	}
	return err
}

// drive sends requests and reads responses until the time is over and all responses have arrived.
func (l *loader) drive() error {
	events := make([]syscall.EpollEvent, len(l.connections))
	at := l.from.Add(-WarmUp)
	for !at.After(l.until) || l.unanswered > 0 {
		n, err := syscall.EpollWait(l.epoll, events, l.waitMillis(at))
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		at = clock.System().Now()
		if at.Sub(l.until) > drainTime {
			return fmt.Errorf("%d requests were not answered within %s", l.unanswered, drainTime)
		}
		for _, event := range events[:max(n, 0)] {
			if err := l.readAnswer(l.connections[event.Fd], at); err != nil {
				return err
			}
		}
		if err := l.sendDue(at); err != nil {
			return err
		}
	}
	return nil
}

// waitMillis returns the time until the next request is due, in milliseconds.
func (l *loader) waitMillis(at time.Time) int {
	wait := time.Second
	for _, g := range l.groups {
		if len(g.idle) > 0 {
			wait = min(wait, g.nextDue().Sub(at))
		}
	}
	return int(max(0, (wait+time.Millisecond-1)/time.Millisecond))
}

// sendDue sends due requests on idle connections.
func (l *loader) sendDue(at time.Time) error {
	for _, g := range l.groups {
		for len(g.idle) > 0 && !at.After(l.until) && !g.nextDue().After(at) {
			c := g.idle[0]
			g.idle = g.idle[1:]
			if err := l.send(c, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAnswer reads available data of a connection. When the response is complete, it counts the
// response and continues with the next request.
func (l *loader) readAnswer(c *connection, at time.Time) error {
	status, body, err := c.read()
	if err != nil || status == 0 {
		return err
	}
	l.unanswered--
	if at.After(l.from) && at.Before(l.until) {
		r := &c.of.result
		r.Statuses[status]++
		if status == r.Want {
			r.Latencies = append(r.Latencies, uint32(at.Sub(c.sentAt).Microseconds()))
		}
	}
	if c.Answered != nil {
		if err := c.Answered(body); err != nil {
			return err
		}
	}
	c.in = c.in[:0]
	return l.sendNext(c, at)
}

// sendNext sends the next request of a connection, or marks the connection as idle if the rate is
// limited. It does nothing after the end of the load.
func (l *loader) sendNext(c *connection, at time.Time) error {
	switch {
	case at.After(l.until):
		return nil
	case c.of.Rate > 0:
		c.of.idle = append(c.of.idle, c)
		return nil
	default:
		return l.send(c, at)
	}
}

func (l *loader) send(c *connection, at time.Time) error {
	l.unanswered++
	c.of.sent++
	return c.send(at)
}

package requestlog

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// maxOfTenant and maxOfProcess limit the requests that are stored per second.
	maxOfTenant  = 50
	maxOfProcess = 500
	// maxFull is the number of seconds whose requests wait to be stored. maxClosed is the number of
	// seconds whose gaps wait.
	maxFull   = 10
	maxClosed = 600
)

// everyTenant stands for all tenants in a gap.
var everyTenant = uuid.Max

// gap is a time range in which requests are missing.
type gap struct {
	tenant       uuid.UUID // Nil for requests without a tenant
	began, ended time.Time
}

// buffer collects requests by second. Within a second it keeps a limited number of requests, failed
// ones first, and remembers the times of the others as gaps.
type buffer struct {
	dropped func(n int)

	mu      sync.Mutex
	current *second
	closed  []*second // oldest first
}

// second holds the requests of one second.
type second struct {
	number  int64 // seconds since 1970
	tenants map[uuid.UUID]*share
	size    int
	// succeeded counts the successful requests, which can be dropped to make room for failed
	// requests.
	succeeded int
}

// share holds the requests of one tenant.
type share struct {
	succeeded, failed []entry
	gap               *gap
}

// add adds a request to the second in which it was answered. If the second is full, it drops this
// request or a successful request. complete fills in the entry if it is kept.
func (b *buffer) add(number int64, e entry, complete func(*entry)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && b.current.number < number {
		b.close()
	}
	if b.current == nil {
		b.current = &second{number: number, tenants: map[uuid.UUID]*share{}}
	}
	if !b.current.add(e, complete) {
		b.dropped(1)
	}
}

// add reports whether there was room for the request.
func (s *second) add(e entry, complete func(*entry)) bool {
	mine := s.tenants[e.tenant]
	if mine == nil {
		mine = &share{}
		s.tenants[e.tenant] = mine
	}
	isFull := e.tenant != uuid.Nil && len(mine.succeeded)+len(mine.failed) >= maxOfTenant
	hasRoom := !isFull && s.size < maxOfProcess
	if !hasRoom {
		victim := mine
		if !isFull && len(mine.succeeded) == 0 && s.succeeded > 0 && e.isFailed() {
			victim = s.findSucceeded()
		}
		if !e.isFailed() || len(victim.succeeded) == 0 {
			mine.miss(e)
			return false
		}
		victim.dropLast()
		s.size, s.succeeded = s.size-1, s.succeeded-1
	}
	complete(&e)
	if e.isFailed() {
		mine.failed = append(mine.failed, e)
	} else {
		mine.succeeded = append(mine.succeeded, e)
		s.succeeded++
	}
	s.size++
	return hasRoom
}

// findSucceeded returns a share with a successful request, which must exist.
func (s *second) findSucceeded() *share {
	for _, one := range s.tenants {
		if len(one.succeeded) > 0 {
			return one
		}
	}
	panic("requestlog: no request succeeded")
}

// dropLast drops the last successful request.
func (s *share) dropLast() {
	last := len(s.succeeded) - 1
	s.miss(s.succeeded[last])
	s.succeeded = s.succeeded[:last]
}

// miss extends the gap by a request.
func (s *share) miss(e entry) {
	switch {
	case s.gap == nil:
		s.gap = &gap{tenant: e.tenant, began: e.at, ended: e.at}
	case e.at.Before(s.gap.began):
		s.gap.began = e.at
	case e.at.After(s.gap.ended):
		s.gap.ended = e.at
	}
}

// close ends the current second. If more than maxFull seconds wait, it drops the requests of the
// oldest.
func (b *buffer) close() {
	b.closed = append(b.closed, b.current)
	b.current = nil
	if n := len(b.closed) - maxFull; n > 0 {
		b.dropped(b.closed[n-1].drop())
	}
	b.closed = b.closed[max(0, len(b.closed)-maxClosed):]
}

// drop drops all requests and returns their number.
func (s *second) drop() (n int) {
	n = s.size
	for _, one := range s.tenants {
		for _, list := range [][]entry{one.succeeded, one.failed} {
			for _, e := range list {
				one.miss(e)
			}
		}
		one.succeeded, one.failed = nil, nil
	}
	s.size, s.succeeded = 0, 0
	return n
}

// take removes and returns the seconds before the given one.
func (b *buffer) take(before int64) []*second {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && b.current.number < before {
		b.close()
	}
	taken := b.closed
	b.closed = nil
	return taken
}

// putBack returns seconds that could not be stored, without their requests.
func (b *buffer) putBack(taken []*second) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range taken {
		b.dropped(s.drop())
	}
	all := slices.Concat(taken, b.closed)
	b.closed = all[max(0, len(all)-maxClosed):]
}

// contents returns the requests and gaps of seconds.
func contents(all []*second) (entries []entry, gaps []gap) {
	for _, s := range all {
		var missing []gap
		for _, one := range s.tenants {
			entries = append(append(entries, one.succeeded...), one.failed...)
			if one.gap != nil {
				missing = append(missing, *one.gap)
			}
		}
		gaps = append(gaps, joinGaps(missing)...)
	}
	return entries, gaps
}

// joinGaps replaces the gaps of a second with one gap of all tenants if there are too many to store.
func joinGaps(gaps []gap) []gap {
	if len(gaps) <= maxOfProcess {
		return gaps
	}
	all := gap{tenant: everyTenant, began: gaps[0].began, ended: gaps[0].ended}
	for _, g := range gaps {
		if g.began.Before(all.began) {
			all.began = g.began
		}
		if g.ended.After(all.ended) {
			all.ended = g.ended
		}
	}
	return []gap{all}
}

package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/gather"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// memory has what the ledger has read, and left, of the tenants that record: what each batch
// would read again. Only SQLite tells when it is not true any more (docs/adr/0032), so on
// PostgreSQL nothing is remembered.
//
// Invariant: what is remembered of a tenant is what the transaction that looks at it would read.
// It is only used where its stamp holds within that transaction, and only replaced after a
// commit, by what that has left.
type memory struct {
	db      *sqldb.DB
	tenants *gather.Shelf[uuid.UUID, remembered] // nil remembers nothing
}

// remembered is what is known of a tenant. It is not changed.
type remembered struct {
	allowance Allowance
	meters    map[string]*meterRules // active ones, by code
	streams   map[uuid.UUID]keptStream
	covers    Period // all counters of the streams that overlap it are known
	stamp     sqldb.Stamp
}

// keptStream is what is known of a stream.
type keptStream struct {
	streamState
	counters []Counter
}

// The bounds of what is remembered: in all, and of one stream, whose older periods are rarely
// asked for.
const (
	memoryBytes  = 8 << 20
	keptCounters = 8
)

// Where counters are remembered those of some more time are read than was asked for: until then
// no period can begin that is not known, and a little before events come that waited.
const (
	covered = time.Hour
	waited  = time.Minute
)

func newMemory(db *sqldb.DB) memory {
	if !db.Keeps() {
		return memory{db: db}
	}
	return memory{db, gather.NewShelf(memoryBytes, func(_ uuid.UUID, r remembered) int {
		size := 256 + r.stamp.Size() + 64*len(r.allowance.Limits) + 32*len(r.meters)
		for _, s := range r.streams {
			size += 192 + 128*len(s.counters)
		}
		return size
	})}
}

// recollection is what is remembered of the tenants of a batch, and what is yet to be read.
type recollection struct {
	memory *memory
	notes  *sqldb.Notes // of what is read of the others
	known  map[uuid.UUID]remembered
	partly map[uuid.UUID]remembered // of whom something is true, but something else is needed
	asked  []*submission            // of the tenants that are not known
	covers Period                   // of the counters that are read
}

// recall looks for the tenants of submissions. A tenant is known where all is that its
// submissions need.
func (m *memory) recall(submissions []*submission) *recollection {
	r := &recollection{memory: m, asked: submissions}
	if m.tenants == nil {
		return r
	}
	r.known, r.partly = make(map[uuid.UUID]remembered, len(submissions)), map[uuid.UUID]remembered{}
	for _, s := range submissions {
		one, looked := r.known[s.tenantID]
		if !looked {
			one, _ = m.tenants.Get(s.tenantID, func(one remembered) bool { return one.stamp.HoldsWithin() })
			r.known[s.tenantID] = one
		}
		if !one.has(s) {
			r.partly[s.tenantID] = one
		}
	}
	r.asked = nil
	for _, s := range submissions {
		if _, lacks := r.partly[s.tenantID]; lacks {
			r.asked = append(r.asked, s)
			delete(r.known, s.tenantID)
		}
	}
	return r
}

// has reports whether all is known that a submission needs.
func (one remembered) has(s *submission) bool {
	m := one.meters[s.MeterCode]
	if m == nil || !one.covers.Contains(s.at) {
		return false
	}
	_, ok := one.streams[m.ID]
	return ok
}

// note notes what is read with the context that it returns, and returns of which time the
// counters are to be read for those that are recorded for a time.
func (r *recollection) note(ctx context.Context, recorded Period) (context.Context, Period) {
	if r.memory.tenants == nil {
		return ctx, recorded
	}
	ctx, r.notes = r.memory.db.Note(ctx)
	r.covers = Period{Start: recorded.Start.Add(-waited), End: recorded.End.Add(covered)}
	return ctx, r.covers
}

// addTo adds what is known to what was read.
func (r *recollection) addTo(read *reading) {
	for id, one := range r.known {
		read.allowances[id] = one.allowance
		maps.Copy(read.meters, one.meters)
	}
}

// of returns the stream of a key, if its tenant is known. The counters are the caller's to change.
func (r *recollection) of(key StreamKey) (streamState, []*Counter, bool) {
	one, known := r.known[key.TenantID]
	if !known {
		return streamState{}, nil, false
	}
	kept := one.streams[key.MeterID]
	counters := make([]*Counter, len(kept.counters))
	for i, c := range kept.counters {
		counters[i] = &c
	}
	return kept.streamState, counters, true
}

// keep remembers what the transaction of ctx leaves of the streams of a batch, once it has
// committed.
func (r *recollection) keep(ctx context.Context, streams []*stream) {
	if r.memory.tenants == nil {
		return
	}
	if r.notes == nil { // nothing was read
		_, r.notes = r.memory.db.Note(ctx)
	}
	r.memory.db.AfterCommit(ctx, func() {
		for first, s := range streams { // those of one tenant follow each other
			if id := s.key.TenantID; first == 0 || streams[first-1].key.TenantID != id {
				end := slices.IndexFunc(streams[first:], func(s *stream) bool { return s.key.TenantID != id })
				r.keepTenant(id, streams[first:][:cmp.Or(max(end, 0), len(streams)-first)])
			}
		}
	})
}

// keepTenant remembers what was left of a tenant. Streams that had no part in the batch are as
// they were.
func (r *recollection) keepTenant(id uuid.UUID, streams []*stream) {
	allowance := streams[0].allowance
	if allowance.Billing != nil && len(allowance.Billing.Former) > 0 {
		return // counts in windows that were interrupted, which are read by themselves
	}
	before, known := r.known[id]
	left := remembered{allowance: allowance, covers: before.covers}
	if known {
		left.stamp = r.notes.Renew(before.stamp)
	} else {
		before, left.covers = r.partly[id], r.covers
		if len(before.streams) > 0 {
			left.covers = r.covers.Within(before.covers)
		}
		left.stamp = r.notes.Stamp(rowsOf(id)...)
	}
	left.meters, left.streams = before.meters, make(map[uuid.UUID]keptStream, len(before.streams))
	maps.Copy(left.streams, before.streams)
	for _, s := range streams {
		if len(s.counters) > keptCounters {
			return
		}
		kept := keptStream{s.streamState, make([]Counter, 0, len(s.counters))}
		for _, c := range s.counters {
			if !c.absent || c.changed { // what is not stored is counted again
				kept.counters = append(kept.counters, Counter{Period: c.Period, Value: c.Value, LastRecordedAt: c.LastRecordedAt})
			}
		}
		left.streams[s.key.MeterID] = kept
	}
	if !known {
		left.meters = make(map[string]*meterRules, len(before.meters)+len(streams))
		maps.Copy(left.meters, before.meters)
		for _, s := range streams {
			left.meters[s.meter.Code] = &meterRules{Meter: s.meter, billable: s.billable}
		}
	}
	r.memory.tenants.Put(id, left)
}

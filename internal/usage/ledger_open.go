package usage

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// open reads the meters and the terms that submissions are judged by, locks their streams
// in order, and reads what is judged under these locks. What is remembered is not read again.
//
// All that goes to the database at once, so the streams are those that the meters' codes
// had the last time. Where that is wrong, as with a new meter or a stream without a row,
// the streams are locked, and their counters read, once more.
//
// Invariant: counters are read by a statement that begins when the locks of their streams
// are held, so they are what the last transaction on each stream has left. At READ
// COMMITTED a statement sees what was committed before it begins, also when it was sent
// together with those before. On SQLite, where things are remembered, the transaction itself
// is the lock.
func (l *ledger) open(ctx context.Context, submissions []*submission, verdicts []verdict) ([]*stream, *recollection, error) {
	recalled := l.memory.recall(submissions)
	if err := l.check(ctx, recalled); err != nil {
		return nil, nil, err
	}
	noted, read, err := l.read(ctx, recalled)
	if err != nil {
		return nil, nil, err
	}
	recalled.addTo(read)
	streams := streamsOf(submissions, verdicts, read.meters, read.allowances)
	var keys []StreamKey // of those that are not known
	for _, s := range streams {
		if state, counters, known := recalled.of(s.key); known {
			read.states[s.key], read.counters[s.key] = state, counters
		} else {
			keys = append(keys, s.key)
		}
	}
	if !slices.Equal(keys, read.guessed) || len(read.states) < len(streams) {
		l.guess.learn(read.codes, read.meters)
		if err := l.readAgain(noted, keys, read); err != nil {
			return nil, nil, err
		}
	}
	_, latest := timesOf(submissions)
	return streams, recalled, l.complete(ctx, streams, latest, read.states, read.counters)
}

// reading is what a batch is judged by.
type reading struct {
	codes      map[string]bool // of the meters that were asked for
	meters     map[string]*meterRules
	allowances map[uuid.UUID]Allowance
	guessed    []StreamKey // the streams that were asked for
	covers     Period      // the time of whose counters
	states     map[StreamKey]streamState
	counters   map[StreamKey][]*Counter
}

// read reads what is not known, with a context that notes it.
func (l *ledger) read(ctx context.Context, recalled *recollection) (noted context.Context, read *reading, err error) {
	read = &reading{codes: map[string]bool{}, meters: map[string]*meterRules{}, allowances: map[uuid.UUID]Allowance{}}
	if len(recalled.asked) == 0 {
		read.states, read.counters = map[StreamKey]streamState{}, map[StreamKey][]*Counter{}
		return ctx, read, nil
	}
	tenants := map[uuid.UUID]bool{}
	for _, s := range recalled.asked {
		tenants[s.tenantID], read.codes[s.MeterCode] = true, true
	}
	earliest, latest := timesOf(recalled.asked)
	noted, read.covers = recalled.note(ctx, Period{Start: earliest, End: latest})
	terms, allowances := l.plans.Allowances(slices.Collect(maps.Keys(tenants)))
	queries := slices.Concat(metersForRecording(slices.Sorted(maps.Keys(read.codes)), read.meters), terms)
	read.guessed = l.guess.streams(recalled.asked)
	read.states, read.counters = make(map[StreamKey]streamState, len(read.guessed)), make(map[StreamKey][]*Counter, len(read.guessed))
	if len(read.guessed) > 0 {
		queries = append(queries, l.store.lockQuery(read.guessed, read.states), l.store.countersQuery(read.guessed, read.covers, read.counters))
	}
	if err := l.store.db.Each(noted, queries...); err != nil {
		return nil, nil, err
	}
	read.allowances, err = allowances(noted)
	return noted, read, err
}

// readAgain locks streams that were not all guessed, and reads their counters.
func (l *ledger) readAgain(ctx context.Context, keys []StreamKey, read *reading) error {
	if len(keys) == 0 {
		return nil
	}
	states, err := l.store.lockStreams(ctx, keys)
	if err != nil {
		return err
	}
	counters, err := l.store.counters(ctx, keys, read.covers)
	if err != nil {
		return err
	}
	maps.Copy(read.states, states)
	for _, k := range keys {
		read.counters[k] = counters[k]
	}
	return nil
}

// timesOf returns the first and the last time that submissions are recorded for.
func timesOf(submissions []*submission) (earliest, latest time.Time) {
	byTime := func(a, b *submission) int { return a.at.Compare(b.at) }
	return slices.MinFunc(submissions, byTime).at, slices.MaxFunc(submissions, byTime).at
}

// guess remembers which meters had codes when it last learned, and no rules. It is only
// used to ask for what is then compared with the truth. A meter that is not active, or was
// deleted, is left out, so at most as many codes are remembered as there are meters.
type guess struct {
	mu     sync.Mutex
	meters map[string]uuid.UUID
}

// streams guesses the streams of submissions, in the order of locking.
func (g *guess) streams(submissions []*submission) []StreamKey {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := make([]StreamKey, 0, len(submissions))
	for _, r := range submissions {
		if id, known := g.meters[r.MeterCode]; known {
			keys = append(keys, StreamKey{TenantID: r.tenantID, MeterID: id})
		}
	}
	slices.SortFunc(keys, StreamKey.Compare)
	return slices.Compact(keys)
}

// learn notes what was found for all codes that were asked for.
func (g *guess) learn(codes map[string]bool, found map[string]*meterRules) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.meters == nil {
		g.meters = map[string]uuid.UUID{}
	}
	for code := range codes {
		if m := found[code]; m != nil && m.Active {
			g.meters[code] = m.ID
		} else {
			delete(g.meters, code)
		}
	}
}

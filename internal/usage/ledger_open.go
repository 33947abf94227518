package usage

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// open reads the meters and the terms that submissions are judged by, locks their streams
// in order, and reads what is judged under these locks.
//
// All that goes to the database at once, so the streams are those that the meters' codes
// had the last time. Where that is wrong, as with a new meter or a stream without a row,
// the streams are locked, and their counters read, once more.
//
// Invariant: counters are read by a statement that begins when the locks of their streams
// are held, so they are what the last transaction on each stream has left. At READ
// COMMITTED a statement sees what was committed before it begins, also when it was sent
// together with those before.
func (l *ledger) open(ctx context.Context, submissions []*submission, verdicts []verdict) ([]*stream, error) {
	tenants, codes := map[uuid.UUID]bool{}, map[string]bool{}
	earliest, latest := submissions[0].at, submissions[0].at
	for _, r := range submissions {
		tenants[r.tenantID], codes[r.MeterCode] = true, true
		if r.at.Before(earliest) {
			earliest = r.at
		}
		if r.at.After(latest) {
			latest = r.at
		}
	}
	meters := map[string]*meterRules{}
	terms, allowances := l.plans.Allowances(slices.Collect(maps.Keys(tenants)))
	queries := slices.Concat(metersForRecording(slices.Sorted(maps.Keys(codes)), meters), terms)
	guessed := l.guess.streams(submissions)
	states, counters := make(map[StreamKey]streamState, len(guessed)), make(map[StreamKey][]*Counter, len(guessed))
	if len(guessed) > 0 {
		queries = append(queries, lockQuery(guessed, states), countersQuery(guessed, earliest, latest, counters))
	}
	if err := l.store.db.Each(ctx, queries...); err != nil {
		return nil, err
	}
	allowed, err := allowances(ctx)
	if err != nil {
		return nil, err
	}
	streams := streamsOf(submissions, verdicts, meters, allowed)
	if len(streams) == 0 {
		l.guess.learn(codes, meters)
		return nil, nil
	}
	keys := make([]StreamKey, len(streams))
	for i, s := range streams {
		keys[i] = s.key
	}
	if !slices.Equal(keys, guessed) || len(states) < len(keys) {
		l.guess.learn(codes, meters)
		if states, err = l.store.lockStreams(ctx, keys); err != nil {
			return nil, err
		}
		if counters, err = l.store.counters(ctx, keys, earliest, latest); err != nil {
			return nil, err
		}
	}
	return streams, l.complete(ctx, streams, latest, states, counters)
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

//go:build checkkept

package usage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/google/uuid"
)

// check reads what is remembered again, and ends the process if the transaction would read
// something else.
func (l *ledger) check(ctx context.Context, recalled *recollection) error {
	for id, one := range recalled.known {
		read, err := l.again(ctx, id, one)
		if err != nil {
			return err
		}
		one.stamp, one.covers = read.stamp, read.covers
		if was, is := describe(one), describe(read); was != is {
			fmt.Fprintf(os.Stderr, "usage: remembered of %s:\n%s\nread now:\n%s\n", id, was, is)
			os.Exit(2)
		}
	}
	return nil
}

// again reads what is remembered of a tenant.
func (l *ledger) again(ctx context.Context, id uuid.UUID, one remembered) (remembered, error) {
	meters := map[string]*meterRules{}
	keys := make([]StreamKey, 0, len(one.streams))
	for meter := range one.streams {
		keys = append(keys, StreamKey{TenantID: id, MeterID: meter})
	}
	slices.SortFunc(keys, StreamKey.Compare)
	states, counters := map[StreamKey]streamState{}, map[StreamKey][]*Counter{}
	queries, allowances := l.plans.Allowances([]uuid.UUID{id})
	queries = slices.Concat(queries, metersForRecording(slices.Sorted(maps.Keys(one.meters)), meters))
	queries = append(queries, l.store.lockQuery(keys, states), l.store.countersQuery(keys, one.covers, counters))
	if err := l.store.db.Each(ctx, queries...); err != nil {
		return remembered{}, err
	}
	allowed, err := allowances(ctx)
	read := remembered{allowance: allowed[id], meters: meters, streams: map[uuid.UUID]keptStream{}}
	for _, k := range keys {
		kept := keptStream{streamState: states[k]}
		for _, c := range counters[k] {
			kept.counters = append(kept.counters, *c)
		}
		read.streams[k.MeterID] = kept
	}
	return read, err
}

// describe writes what is remembered so that equal things read alike.
func describe(one remembered) string {
	all := []any{one.allowance}
	for _, code := range slices.Sorted(maps.Keys(one.meters)) {
		all = append(all, one.meters[code].Meter, one.meters[code].billable)
	}
	for _, id := range slices.SortedFunc(maps.Keys(one.streams), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
		s := one.streams[id]
		// What is known of other times is true as well, but was not read again.
		s.counters = slices.DeleteFunc(append([]Counter{}, s.counters...), func(c Counter) bool {
			return !c.Period.End.After(one.covers.Start) || c.Period.Start.After(one.covers.End)
		})
		slices.SortFunc(s.counters, func(a, b Counter) int { return cmp.Compare(fmt.Sprint(a.Period), fmt.Sprint(b.Period)) })
		all = append(all, id, s.pruned, s.summedBefore, s.counters)
	}
	text, err := json.Marshal(all)
	return fmt.Sprint(string(text), err)
}

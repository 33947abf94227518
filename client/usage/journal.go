package usage

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// journal is a write-ahead log of accepted events in a file. A line ({"event": …}) is appended when
// an event is accepted, and another ({"done": […]}) when it is settled, that is, stored or refused
// by the service. The first line is durable before accept returns. If the second line is lost, the
// event is sent again but counts once. Concurrent callers of accept share one fsync (group commit).
type journal struct {
	path string
	lock *os.File // held while the journal is open

	syncing sync.Mutex // held during an fsync or a replacement of the file; locked before mu

	mu      sync.Mutex
	file    *os.File
	size    int64                   // size of the file
	base    int64                   // size of the file after the last rewrite
	pending map[string]pendingEvent // by id, accepted and not settled
	last    uint64                  // number of the last accepted event
	group   *commit                 // the group of the next fsync, or nil
	broken  error                   // set after a failed fsync; then no events are accepted
}

// pendingEvent is an accepted event with its sequence number.
type pendingEvent struct {
	event  Event
	number uint64
}

// commit is an fsync that several callers wait for.
type commit struct {
	done chan struct{}
	err  error
}

// record is a line of the file.
type record struct {
	Event *Event   `json:"event,omitempty"`
	Done  []string `json:"done,omitempty"`
}

// compactAt is the growth of the file, in bytes, after which it is rewritten with only the pending
// events.
const compactAt = 4 << 20

// id identifies an event. Keys are unique per tenant and meter.
func (e Event) id() string { return e.Tenant + "\x00" + e.Meter + "\x00" + e.Key }

// openJournal opens a journal and returns its pending events, in order.
func openJournal(path string) (_ *journal, kept []Event, err error) {
	lock, err := openLocked(path + ".lock")
	if err != nil {
		return nil, nil, fmt.Errorf("usage: open journal %s (it can be in use by another recorder): %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = unlock(lock)
		}
	}()
	kept, err = readJournal(path)
	if err != nil {
		return nil, nil, fmt.Errorf("usage: journal %s: %w", path, err)
	}
	j := &journal{path: path, lock: lock, pending: map[string]pendingEvent{}}
	for _, e := range kept {
		j.add(e)
	}
	if err := j.rewrite(); err != nil {
		return nil, nil, fmt.Errorf("usage: journal: %w", err)
	}
	return j, kept, nil
}

// readJournal returns the accepted but unsettled events of a file. An incomplete last line was
// never accepted and is ignored. Any other unreadable line is an error, so that no event is lost
// silently.
func readJournal(path string) ([]Event, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	var order []string
	pending := map[string]Event{}
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if r.Event != nil {
			order = append(order, r.Event.id())
			pending[r.Event.id()] = *r.Event
		}
		for _, id := range r.Done {
			delete(pending, id)
		}
	}
	var kept []Event
	for _, id := range order {
		if e, ok := pending[id]; ok {
			kept = append(kept, e)
			delete(pending, id)
		}
	}
	return kept, nil
}

// add records an accepted event. The caller holds the lock or has exclusive access.
func (j *journal) add(e Event) {
	j.last++
	j.pending[e.id()] = pendingEvent{e, j.last}
}

// rewrite replaces the file with a file that contains only the pending events. The caller holds
// both locks or has exclusive access.
func (j *journal) rewrite() (err error) {
	waiting := slices.SortedFunc(maps.Values(j.pending), func(a, b pendingEvent) int { return cmp.Compare(a.number, b.number) })
	var text bytes.Buffer
	for _, p := range waiting {
		if err := json.NewEncoder(&text).Encode(record{Event: &p.event}); err != nil {
			return err
		}
	}
	if err := writeDurably(j.path+".new", text.Bytes()); err != nil {
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // the new file is complete; some systems cannot replace an open file
		j.file = nil
	}
	if err := os.Rename(j.path+".new", j.path); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(j.path)); err != nil {
		return err
	}
	if j.file, err = os.OpenFile(j.path, os.O_WRONLY, 0); err != nil {
		return err
	}
	j.size, j.base = int64(text.Len()), int64(text.Len())
	return nil
}

// writeDurably writes a new file and syncs it.
func writeDurably(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// append appends a line. The caller holds the lock.
func (j *journal) append(r record) error {
	if j.broken != nil {
		return j.broken
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("usage: journal: %w", err)
	}
	if _, err := j.file.WriteAt(append(text, '\n'), j.size); err != nil {
		err = fmt.Errorf("usage: journal: %w", err)
		if cut := j.file.Truncate(j.size); cut != nil { // a part of the line remains
			j.broken = err
		}
		return err
	}
	j.size += int64(len(text)) + 1
	return nil
}

// accept stores an event durably.
func (j *journal) accept(e Event) error {
	j.mu.Lock()
	if err := j.append(record{Event: &e}); err != nil {
		j.mu.Unlock()
		return err
	}
	j.add(e)
	group := j.group
	leads := group == nil
	if leads {
		group = &commit{done: make(chan struct{})}
		j.group = group
	}
	j.mu.Unlock()
	if leads {
		j.sync(group)
	}
	<-group.done
	return group.err
}

// sync commits a group. No other caller joins the group after the fsync has started.
func (j *journal) sync(group *commit) {
	j.syncing.Lock() // other callers join the group while waiting for the lock
	defer j.syncing.Unlock()
	j.mu.Lock()
	j.group = nil
	file, err := j.file, j.broken
	j.mu.Unlock()
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		group.err = j.fail(err)
	}
	close(group.done)
}

// fail makes the journal reject all further events: after a failed fsync, the contents of the disk
// are unknown.
func (j *journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = fmt.Errorf("usage: journal: %w", err)
	}
	return j.broken
}

// settle records that events no longer have to be sent.
func (j *journal) settle(items []item) error {
	if len(items) == 0 {
		return nil
	}
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.event.id()
	}
	j.mu.Lock()
	for _, id := range ids {
		delete(j.pending, id)
	}
	err := j.append(record{Done: ids})
	large := j.size > compactAt+2*j.base
	j.mu.Unlock()
	if err != nil || !large {
		return err
	}
	return j.compact()
}

// compact rewrites the file.
func (j *journal) compact() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	if err := j.rewrite(); err != nil {
		j.broken = fmt.Errorf("usage: journal: %w", err)
	}
	return j.broken
}

// close compacts and closes the file.
func (j *journal) close() error {
	err := j.compact()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, unlock(j.lock))
}

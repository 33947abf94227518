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

// journal keeps accepted events in a file: a line is added when an event is accepted ({"event":
// …}), and another when it is settled ({"done": […]}). The first is on the disk before accept
// returns. The second may be lost, which only has the event sent again. Callers of accept that
// come at the same time share one fsync.
type journal struct {
	path string
	lock *os.File // is held while the journal is in use

	syncing sync.Mutex // is taken before mu by who brings the file to the disk, or replaces it

	mu      sync.Mutex
	file    *os.File
	size    int64              // of the file
	base    int64              // of the file when it was written anew
	pending map[string]pending // by id, accepted and not settled
	last    uint64             // number of the last accepted event
	group   *commit            // what the next fsync covers, or nil
	broken  error              // after a failed fsync nothing is accepted
}

// pending is an accepted event with its place in the order.
type pending struct {
	event  Event
	number uint64
}

// commit is one fsync, which several callers wait for.
type commit struct {
	done chan struct{}
	err  error
}

// record is a line of the file.
type record struct {
	Event *Event   `json:"event,omitempty"`
	Done  []string `json:"done,omitempty"`
}

// compactAt is by how much the file grows before it is written anew with what is pending.
const compactAt = 4 << 20

// id tells an event from all others; keys are unique for a tenant and a meter.
func (e Event) id() string { return e.Tenant + "\x00" + e.Meter + "\x00" + e.Key }

// openJournal opens a journal, and returns the events that it still has, in their order.
func openJournal(path string) (_ *journal, kept []Event, err error) {
	lock, err := openLocked(path + ".lock")
	if err != nil {
		return nil, nil, fmt.Errorf("usage: journal %s: it cannot be opened, or another recorder has it: %w", path, err)
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
	j := &journal{path: path, lock: lock, pending: map[string]pending{}}
	for _, e := range kept {
		j.add(e)
	}
	if err := j.rewrite(); err != nil {
		return nil, nil, fmt.Errorf("usage: journal: %w", err)
	}
	return j, kept, nil
}

// readJournal returns what a file has accepted and not settled. A last line that is not whole was
// never accepted; any other line that cannot be read is an error, so that nothing is lost quietly.
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

// add notes an accepted event. The caller holds the lock, or is alone.
func (j *journal) add(e Event) {
	j.last++
	j.pending[e.id()] = pending{e, j.last}
}

// rewrite replaces the file by one that has what is pending alone. The caller holds both locks,
// or is alone.
func (j *journal) rewrite() (err error) {
	waiting := slices.SortedFunc(maps.Values(j.pending), func(a, b pending) int { return cmp.Compare(a.number, b.number) })
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
		_ = j.file.Close() // all that counts is in the new one; an open file cannot be replaced everywhere
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

// writeDurably writes a new file, and brings it to the disk.
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

// append adds a line. The caller holds the lock.
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
		if cut := j.file.Truncate(j.size); cut != nil { // a part of the line stays
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

// sync brings the file to the disk for a group, which nobody joins any more when it begins.
func (j *journal) sync(group *commit) {
	j.syncing.Lock() // meanwhile others join the group
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

// fail has the journal accept nothing more: after a failed fsync nobody knows what is on the disk.
func (j *journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = fmt.Errorf("usage: journal: %w", err)
	}
	return j.broken
}

// settle notes that events need not be sent any more.
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

// compact writes the file anew.
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

// close leaves a file that has what is pending alone.
func (j *journal) close() error {
	err := j.compact()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, unlock(j.lock))
}

package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// fileSize is the maximum number of events per file, so that a file can be written, read back and
// deleted within a few seconds.
const fileSize = 50_000

// The states of a file. The initial state is "writing".
const (
	archiveWritten = "written" // complete on disk; its events are being deleted
	archiveDone    = "done"    // its events are deleted
)

// archiveFile identifies a file by the UTC day of its events and a number, since a day can have
// several files.
type archiveFile struct {
	day  string // 2026-01-31
	part int32
}

func (f archiveFile) name() string { return fmt.Sprintf("usage-%s-%04d.jsonl.gz", f.day, f.part) }

// period returns the day of the file.
func (f archiveFile) period() (usage.Period, error) {
	start, err := time.Parse(time.DateOnly, f.day)
	if err != nil {
		return usage.Period{}, fmt.Errorf("archive %s: %w", f.name(), err)
	}
	return usage.Period{Start: start, End: start.AddDate(0, 0, 1)}, nil
}

// archive writes at most r.fileSize events of a day to a new file, and then deletes these events.
//
// Invariant: an event is deleted only when a complete file that contains it is on disk under its
// final name. The file itself determines which events are deleted. An interruption at any point
// neither loses an event nor writes an event twice: a file with its final name is complete, and its
// events are deleted before the next file is begun. A file without its final name is written again.
func (r *Pruner) archive(ctx context.Context, start time.Time, cutoff time.Time) error {
	f := archiveFile{day: start.Format(time.DateOnly)}
	last, err := r.store.lastArchivePart(ctx, f.day)
	if err != nil {
		return err
	}
	f.part = last + 1
	if err := r.store.insertArchive(ctx, f, r.deps.Clock.Now()); err != nil {
		return err
	}
	return r.finish(ctx, f, cutoff)
}

// finishArchives completes the files that were begun.
func (r *Pruner) finishArchives(ctx context.Context) error {
	files, err := r.store.unfinishedArchives(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		p, err := f.period()
		if err != nil {
			return err
		}
		if f.state == archiveWritten {
			if _, err := os.Stat(r.path(f.archiveFile)); err != nil {
				return fmt.Errorf("events of %s are kept because their archive %s is unreadable: %w", f.day, f.name(), err)
			}
		}
		if err := r.finish(ctx, f.archiveFile, p.End); err != nil {
			return err
		}
	}
	return nil
}

func (r *Pruner) path(f archiveFile) string { return filepath.Join(r.deps.Archive, f.name()) }

// finish writes a file unless it exists, and deletes the events in it.
func (r *Pruner) finish(ctx context.Context, f archiveFile, cutoff time.Time) error {
	if _, err := os.Stat(r.path(f)); errors.Is(err, fs.ErrNotExist) {
		n, err := r.writeArchive(ctx, f)
		if err != nil {
			return err
		}
		if n == 0 {
			return r.store.deleteArchive(ctx, f)
		}
	} else if err != nil {
		return fmt.Errorf("find archive: %w", err)
	}
	if err := dbfile.SyncFolder(filepath.Dir(r.path(f))); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := r.store.setArchiveState(ctx, f, archiveWritten, r.deps.Clock.Now()); err != nil {
		return err
	}
	if err := r.deleteArchived(ctx, f, cutoff); err != nil {
		return err
	}
	r.deps.Log.InfoContext(ctx, "usage events archived and deleted", "file", r.path(f))
	return r.store.setArchiveState(ctx, f, archiveDone, r.deps.Clock.Now())
}

// writeArchive writes events of a day to a file and returns their number. Without events it
// creates no file.
func (r *Pruner) writeArchive(ctx context.Context, f archiveFile) (n int, err error) {
	p, err := f.period()
	if err != nil {
		return 0, err
	}
	codes, err := r.store.meterCodes(ctx)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(r.deps.Archive, 0o700); err != nil {
		return 0, fmt.Errorf("make archive folder: %w", err)
	}
	out, err := createLines(r.path(f))
	if err != nil {
		return 0, err
	}
	defer out.discard()
	for done := (usage.StreamKey{}); n < r.fileSize; {
		streams, err := r.store.streamsWithEvents(ctx, done, p, 100)
		if err != nil {
			return 0, err
		}
		streams = slices.DeleteFunc(streams, func(k usage.StreamKey) bool { return k == done })
		for _, k := range streams {
			events, err := r.store.oldestEvents(ctx, k, p, int32(r.fileSize-n))
			if err != nil {
				return 0, err
			}
			for _, e := range events {
				if err := out.write(lineOf(e, codes[k.MeterID])); err != nil {
					return 0, err
				}
			}
			if n += len(events); n == r.fileSize {
				break
			}
			done = k
		}
		if len(streams) == 0 {
			break
		}
	}
	if n == 0 {
		return 0, nil
	}
	return n, out.commit()
}

// deleteArchived deletes the events in a file.
func (r *Pruner) deleteArchived(ctx context.Context, f archiveFile, cutoff time.Time) error {
	events := make([]event, 0, chunkSize)
	err := readLines(r.path(f), func(text []byte) error {
		var line archiveLine
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("read line of %s: %w", f.name(), err)
		}
		events = append(events, line.event())
		if len(events) < chunkSize {
			return nil
		}
		err := r.deleteEvents(ctx, events, cutoff)
		events = events[:0]
		return err
	})
	if err != nil || len(events) == 0 {
		return err
	}
	return r.deleteEvents(ctx, events, cutoff)
}

// archiveLine is an event in a file.
type archiveLine struct {
	ID             uuid.UUID      `json:"id"`
	TenantID       uuid.UUID      `json:"tenant_id"`
	MeterID        uuid.UUID      `json:"meter_id"`
	MeterCode      string         `json:"meter_code"`
	Quantity       money.Quantity `json:"quantity"`
	IdempotencyKey *string        `json:"idempotency_key"`
	RecordedAt     time.Time      `json:"recorded_at"`
	Metadata       sqldb.JSON     `json:"metadata"`
	StoredAt       time.Time      `json:"stored_at"`
	Granted        money.Quantity `json:"granted,omitzero"`
}

func lineOf(e event, code string) archiveLine {
	return archiveLine{
		ID: e.id, TenantID: e.stream.TenantID, MeterID: e.stream.MeterID, MeterCode: code, Quantity: e.quantity,
		IdempotencyKey: e.idempotencyKey, RecordedAt: e.recordedAt.UTC(), Metadata: e.metadata, StoredAt: e.storedAt.UTC(), Granted: e.granted,
	}
}

// event returns the fields that are needed to delete the event.
func (l archiveLine) event() event {
	return event{
		stream: usage.StreamKey{TenantID: l.TenantID, MeterID: l.MeterID}, id: l.ID, idempotencyKey: l.IdempotencyKey,
		recordedAt: l.RecordedAt, storedAt: l.StoredAt,
	}
}

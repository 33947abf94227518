package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// archivePart is how many events a file has at most, so that it is written, read
// back and deleted in a few seconds.
const archivePart = 50_000

// The states of a file.
const (
	archiveWritten = "written"
	archiveDone    = "done"
)

// archiveFile names a file: the days of UTC that events were recorded for, each
// in parts.
type archiveFile struct {
	day  string // 2026-01-31
	part int32
}

func (f archiveFile) name() string { return fmt.Sprintf("usage-%s-%04d.jsonl.gz", f.day, f.part) }

// period is the day of the file.
func (f archiveFile) period() (Period, error) {
	start, err := time.Parse(time.DateOnly, f.day)
	if err != nil {
		return Period{}, fmt.Errorf("usage: archive %s: %w", f.name(), err)
	}
	return Period{start, start.AddDate(0, 0, 1)}, nil
}

// archive writes the events of a day to a new file, at most archivePart of them,
// and deletes those that are in it.
//
// What holds: an event is deleted only when a file with it is on the disk whole,
// under its own name, and the file itself says which are. So whenever this is
// interrupted, going on loses no event and writes none twice: a file that has
// its name is whole, and its events are deleted before any other file is begun;
// one that has not is written anew.
func (r *Retention) archive(ctx context.Context, start time.Time, cutoff time.Time) error {
	f := archiveFile{day: start.Format(time.DateOnly)}
	last, err := r.store.q(ctx).LastArchivePart(ctx, f.day)
	if err != nil {
		return fmt.Errorf("usage: last part of an archive: %w", err)
	}
	f.part = last + 1
	err = r.store.q(ctx).InsertArchive(ctx, usagesql.InsertArchiveParams{Day: f.day, Part: f.part, CreatedAt: r.deps.Clock.Now()})
	if err != nil {
		return fmt.Errorf("usage: begin archive: %w", err)
	}
	return r.finish(ctx, f, cutoff)
}

// finishArchives goes on with files that were begun.
func (r *Retention) finishArchives(ctx context.Context) error {
	rows, err := r.store.q(ctx).UnfinishedArchives(ctx)
	if err != nil {
		return fmt.Errorf("usage: unfinished archives: %w", err)
	}
	for _, row := range rows {
		f := archiveFile{row.Day, row.Part}
		p, err := f.period()
		if err != nil {
			return err
		}
		if row.State == archiveWritten {
			if _, err := os.Stat(r.path(f)); err != nil {
				return fmt.Errorf("usage: events of %s are in %s, which cannot be read, and are not deleted until it can: %w", f.day, f.name(), err)
			}
		}
		if err := r.finish(ctx, f, p.End); err != nil {
			return err
		}
	}
	return nil
}

func (r *Retention) path(f archiveFile) string { return filepath.Join(r.deps.Archive, f.name()) }

// finish writes a file unless it has been, and deletes the events that are in it.
func (r *Retention) finish(ctx context.Context, f archiveFile, cutoff time.Time) error {
	if _, err := os.Stat(r.path(f)); errors.Is(err, fs.ErrNotExist) {
		n, err := r.writeArchive(ctx, f)
		if err != nil {
			return err
		}
		if n == 0 {
			return r.store.q(ctx).DeleteArchive(ctx, usagesql.DeleteArchiveParams{Day: f.day, Part: f.part})
		}
	} else if err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	if err := syncFolder(r.path(f)); err != nil {
		return err
	}
	if err := r.setState(ctx, f, archiveWritten); err != nil {
		return err
	}
	if err := r.stripArchive(ctx, f, cutoff); err != nil {
		return err
	}
	r.deps.Log.InfoContext(ctx, "usage events were written to a file and deleted", "file", r.path(f))
	return r.setState(ctx, f, archiveDone)
}

func (r *Retention) setState(ctx context.Context, f archiveFile, state string) error {
	err := r.store.q(ctx).SetArchiveState(ctx, usagesql.SetArchiveStateParams{Day: f.day, Part: f.part, State: state, UpdatedAt: r.deps.Clock.Now()})
	if err != nil {
		return fmt.Errorf("usage: archive is %s: %w", state, err)
	}
	return nil
}

// writeArchive writes events of a day and returns how many.
func (r *Retention) writeArchive(ctx context.Context, f archiveFile) (n int, err error) {
	p, err := f.period()
	if err != nil {
		return 0, err
	}
	codes, err := r.store.meterCodes(ctx)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(r.deps.Archive, 0o750); err != nil {
		return 0, fmt.Errorf("usage: archive: %w", err)
	}
	out, err := createLines(r.path(f))
	if err != nil {
		return 0, err
	}
	defer out.discard()
	for after := (streamKey{}); n < archivePart; {
		streams, err := r.streamsWithEvents(ctx, after, p, 100)
		if err != nil {
			return 0, err
		}
		for _, k := range streams {
			events, err := r.eventsOf(ctx, k, p, int32(archivePart-n))
			if err != nil {
				return 0, err
			}
			for _, e := range events {
				if err := out.write(lineOf(e, codes[e.MeterID])); err != nil {
					return 0, err
				}
			}
			if n += len(events); n == archivePart {
				break
			}
			after = k
		}
		if len(streams) == 0 {
			break
		}
	}
	if n == 0 {
		return 0, nil
	}
	return n, out.keep()
}

// stripArchive deletes the events that are in a file.
func (r *Retention) stripArchive(ctx context.Context, f archiveFile, cutoff time.Time) error {
	events := make([]usagesql.UsageEvent, 0, pruneTogether)
	err := readLines(r.path(f), func(text []byte) error {
		var line archiveLine
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("usage: %s: %w", f.name(), err)
		}
		events = append(events, line.event())
		if len(events) < pruneTogether {
			return nil
		}
		err := r.strip(ctx, events, cutoff)
		events = events[:0]
		return err
	})
	if err != nil || len(events) == 0 {
		return err
	}
	return r.strip(ctx, events, cutoff)
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
}

func lineOf(e usagesql.UsageEvent, code string) archiveLine {
	return archiveLine{
		ID: e.ID, TenantID: e.TenantID, MeterID: e.MeterID, MeterCode: code, Quantity: money.Quantity(e.Quantity),
		IdempotencyKey: e.IdempotencyKey, RecordedAt: e.RecordedAt.UTC(), Metadata: e.Metadata, StoredAt: e.CreatedAt.UTC(),
	}
}

// event is what deleting needs of it.
func (l archiveLine) event() usagesql.UsageEvent {
	return usagesql.UsageEvent{
		TenantID: l.TenantID, ID: l.ID, MeterID: l.MeterID, IdempotencyKey: l.IdempotencyKey, RecordedAt: l.RecordedAt, CreatedAt: l.StoredAt,
	}
}

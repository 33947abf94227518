package retention

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

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/months"
)

// lastLine is where a file ends: at an event in the order of files.
type lastLine struct {
	stream usage.StreamKey
	at     time.Time
	id     uuid.UUID
}

// archiveDay writes the events of a day, of a month that is detached, to files. It goes on after
// the last file that is complete.
func (r *Pruner) archiveDay(ctx context.Context, m months.Month, day string) error {
	last, err := r.completeFiles(ctx, m, day)
	for n := r.fileSize; n == r.fileSize && err == nil; {
		f := archiveFile{day: day}
		if f.part, err = r.store.lastArchivePart(ctx, day); err != nil {
			return err
		}
		f.part++
		if err := r.store.insertArchive(ctx, f, m.String(), r.deps.Clock.Now()); err != nil {
			return err
		}
		if n, err = r.writeArchive(ctx, f, detachedMonth{r.store, m.Detached(), last}); err != nil {
			return err
		}
		if n == 0 {
			return r.store.deleteArchive(ctx, f)
		}
		if err := r.keepOfMonth(ctx, f); err != nil {
			return err
		}
		last, err = r.lastLine(f)
	}
	return err
}

// completeFiles returns where the files end that a day has already. One that was begun and has
// no name yet is forgotten: it is written again.
func (r *Pruner) completeFiles(ctx context.Context, m months.Month, day string) (last lastLine, err error) {
	files, err := r.store.archivesOfMonth(ctx, day, m.String())
	if err != nil || len(files) == 0 {
		return last, err
	}
	f := files[len(files)-1] // the others are done
	if f.state != archiveDone {
		_, err := os.Stat(r.path(f.archiveFile))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := r.store.deleteArchive(ctx, f.archiveFile); err != nil || len(files) == 1 {
				return last, err
			}
			f = files[len(files)-2]
		case err != nil:
			return last, fmt.Errorf("find archive: %w", err)
		default:
			if err := r.keepOfMonth(ctx, f.archiveFile); err != nil {
				return last, err
			}
		}
	}
	return r.lastLine(f.archiveFile)
}

// keepOfMonth has the name of a file on the disk too.
func (r *Pruner) keepOfMonth(ctx context.Context, f archiveFile) error {
	if err := dbfile.SyncFolder(filepath.Dir(r.path(f))); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	r.deps.Log.InfoContext(ctx, "usage events were written to a file", "file", r.path(f))
	return r.store.setArchiveState(ctx, f, archiveDone, r.deps.Clock.Now())
}

// lastLine reads which event a file ends with.
func (r *Pruner) lastLine(f archiveFile) (last lastLine, err error) {
	err = readLines(r.path(f), func(text []byte) error {
		var line archiveLine
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("read line of %s: %w", f.name(), err)
		}
		last = lastLine{usage.StreamKey{TenantID: line.TenantID, MeterID: line.MeterID}, line.RecordedAt, line.ID}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("events of %s are not deleted until it can be read which are in their last file: %w", f.day, err)
	}
	return last, err
}

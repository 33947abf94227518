package retention

import (
	"context"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Exports for tests.
type (
	ArchiveLine = archiveLine
	ArchiveFile = archiveFile
)

func NewArchiveFile(day string, part int32) ArchiveFile { return archiveFile{day, part} }

func ReadLines(path string, read func(line []byte) error) error { return readLines(path, read) }

func (r *Pruner) Path(f ArchiveFile) string { return r.path(f) }

func (r *Pruner) WriteArchive(ctx context.Context, f ArchiveFile) (int, error) {
	return r.writeArchive(ctx, f)
}

// NewRecounterWithBatch returns a Recounter that surveys the given number of streams together.
func NewRecounterWithBatch(db *sqldb.DB, c clock.Clock, streams int32) *Recounter {
	r := NewRecounter(db, c)
	r.atOnce = streams
	return r
}

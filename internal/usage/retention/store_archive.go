package retention

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// archiveRow is an unfinished file.
type archiveRow struct {
	archiveFile
	state string
}

// unfinishedArchives lists the unfinished files, earliest first.
func (s store) unfinishedArchives(ctx context.Context) ([]archiveRow, error) {
	rows, err := s.q(ctx).UnfinishedArchives(ctx)
	files := make([]archiveRow, len(rows))
	for i, row := range rows {
		files[i] = archiveRow{archiveFile{row.Day, row.Part}, row.State}
	}
	return files, sqldb.Wrap(err, "list unfinished archives")
}

// lastArchivePart returns the number of a day's last file, or 0.
func (s store) lastArchivePart(ctx context.Context, day string) (int32, error) {
	last, err := s.q(ctx).LastArchivePart(ctx, day)
	return last, sqldb.Wrap(err, "read last part of an archive")
}

// insertArchive inserts a new file.
func (s store) insertArchive(ctx context.Context, f archiveFile, now time.Time) error {
	err := s.q(ctx).InsertArchive(ctx, retentionsql.InsertArchiveParams{Day: f.day, Part: f.part, CreatedAt: now})
	return sqldb.Wrap(err, "begin archive")
}

func (s store) setArchiveState(ctx context.Context, f archiveFile, state string, now time.Time) error {
	err := s.q(ctx).SetArchiveState(ctx, retentionsql.SetArchiveStateParams{Day: f.day, Part: f.part, State: state, UpdatedAt: now})
	return sqldb.Wrap(err, "set archive to "+state)
}

func (s store) deleteArchive(ctx context.Context, f archiveFile) error {
	err := s.q(ctx).DeleteArchive(ctx, retentionsql.DeleteArchiveParams{Day: f.day, Part: f.part})
	return sqldb.Wrap(err, "delete archive")
}

// meterCodes returns the codes of all meters, including deleted ones.
func (s store) meterCodes(ctx context.Context) (map[uuid.UUID]string, error) {
	rows, err := s.q(ctx).MeterCodes(ctx)
	codes := make(map[uuid.UUID]string, len(rows))
	for _, row := range rows {
		codes[row.ID] = row.Code
	}
	return codes, sqldb.Wrap(err, "list meter codes")
}

package importer

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/importer/importersql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *importersql.Queries { return importersql.New(s.db.Conn(ctx)) }

// importedLine is the stored record of an imported line.
type importedLine struct {
	kind, key  string // hashOf hashes the key before it is stored
	resourceID string
	digest     string
	made       bool
}

// findImported returns the stored record of a line and reports whether there is one.
func (s store) findImported(ctx context.Context, kind, key string) (importedLine, bool, error) {
	row, err := s.q(ctx).Imported(ctx, importersql.ImportedParams{Kind: kind, KeyHash: hashOf(kind, key)})
	if errors.Is(err, sqldb.ErrNoRows) {
		return importedLine{}, false, nil
	}
	return importedLine{resourceID: row.ResourceID, digest: row.Digest, made: row.IsMade}, err == nil, sqldb.Wrap(err, "read import")
}

// isImported reports whether an import created the resource.
func (s store) isImported(ctx context.Context, kind, resourceID string) (bool, error) {
	n, err := s.q(ctx).CountMade(ctx, importersql.CountMadeParams{Kind: kind, ResourceID: resourceID})
	return n > 0, sqldb.Wrap(err, "read import")
}

func (s store) put(ctx context.Context, i importedLine, now time.Time) error {
	err := s.q(ctx).PutImported(ctx, importersql.PutImportedParams{
		Kind: i.kind, KeyHash: hashOf(i.kind, i.key), ResourceID: i.resourceID, Digest: i.digest, IsMade: i.made, ImportedAt: now,
	})
	return sqldb.Wrap(err, "store import")
}

func (s store) slugTaken(ctx context.Context, slug string) (bool, error) {
	n, err := s.q(ctx).CountSlug(ctx, slug)
	return n > 0, sqldb.Wrap(err, "find slug")
}

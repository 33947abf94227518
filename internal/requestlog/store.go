package requestlog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/requestlog/requestlogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *requestlogsql.Queries {
	return requestlogsql.New(s.db.Conn(ctx))
}

// columns are the columns of a request without its id.
const columns = "tenant_id, is_hidden, at, method, route, path, status, duration_ms, code, api_key_id, user_id, subject_id, subject_reason, ip"

// insert stores requests in their order.
func (s store) insert(ctx context.Context, entries []entry) error {
	types := []string{
		"bigint", "uuid", "boolean", "timestamptz", "text", "text", "text", "integer", "bigint", "text", "uuid", "bigint", "bigint", "text", "text",
	}
	rows := make([]any, 0, len(types)*len(entries))
	for i, e := range entries {
		rows = append(rows, int64(i), orNull(e.tenant), e.isHidden, e.at, e.method, e.route, e.path, e.status, e.took.Milliseconds(), e.code,
			e.key, e.user, e.subject, e.reason, e.ip)
	}
	values, args := sqldb.InsertDistinct(s.db, rows, types...)
	_, err := s.db.Conn(ctx).ExecContext(ctx, `
INSERT INTO request_logs (`+columns+`)
SELECT v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, v.column9, v.column10, v.column11, v.column12, v.column13, v.column14, v.column15
FROM (`+values+`) AS v ORDER BY v.column1`, args...)
	return sqldb.Wrap(err, "insert into request log")
}

// insertGaps stores gaps.
func (s store) insertGaps(ctx context.Context, gaps []gap) error {
	if len(gaps) == 0 {
		return nil
	}
	rows := make([]any, 0, 4*len(gaps))
	for i, g := range gaps {
		rows = append(rows, int64(i), orNull(g.tenant), g.began, g.ended)
	}
	values, args := sqldb.InsertDistinct(s.db, rows, "bigint", "uuid", "timestamptz", "timestamptz")
	_, err := s.db.Conn(ctx).ExecContext(ctx, `
INSERT INTO request_log_gaps (tenant_id, began_at, ended_at)
SELECT v.column2, v.column3, v.column4 FROM (`+values+`) AS v`, args...)
	return sqldb.Wrap(err, "insert gaps of request log")
}

func orNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// deleteOld deletes requests of a time range, oldest first, and returns their times.
func (s store) deleteOld(ctx context.Context, from, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldRequests(ctx, requestlogsql.DeleteOldRequestsParams{Earliest: from, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old requests")
}

// deleteOldGaps is like deleteOld, for gaps.
func (s store) deleteOldGaps(ctx context.Context, from, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldGaps(ctx, requestlogsql.DeleteOldGapsParams{Earliest: from, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old gaps of request log")
}

// purge deletes the requests and gaps of a tenant.
func (s store) purge(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.q(ctx).PurgeTenant(ctx, tenantID); err != nil {
		return sqldb.Wrap(err, "purge request log")
	}
	return sqldb.Wrap(s.q(ctx).PurgeGaps(ctx, tenantID), "purge gaps of request log")
}

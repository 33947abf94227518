package timeline

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/timeline/timelinesql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *timelinesql.Queries { return timelinesql.New(s.db.Conn(ctx)) }

// exists returns errNoTenant if the tenant does not exist. A deleted tenant exists until it is
// purged.
func (s store) exists(ctx context.Context, tenant uuid.UUID) error {
	n, err := s.q(ctx).CountTenants(ctx, tenant)
	if err == nil && n == 0 {
		return errNoTenant
	}
	return sqldb.Wrap(err, "find tenant")
}

// entries returns up to most entries after the cursor, from all sources of the kind ("" for any).
func (s store) entries(ctx context.Context, tenant *uuid.UUID, kind Kind, after cursor, most int32) ([]entry, error) {
	var all []entry
	for i, from := range sources {
		if kind != "" && kind != from.kind {
			continue
		}
		found, err := from.read(s, ctx, tenant, after.at, after.keyIn(i), most)
		if err != nil {
			return nil, sqldb.Wrap(err, "list "+string(from.kind)+" of time line")
		}
		for _, e := range found {
			e.source = i
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return a.compare(b.cursor) })
	return all[:min(len(all), int(most))], nil
}

func (s store) changes(ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error) {
	var rows []timelinesql.ChangesBeforeRow
	var err error
	if tenant == nil {
		rows, err = s.q(ctx).ChangesBefore(ctx, timelinesql.ChangesBeforeParams{At: at, ID: below.number, Most: most})
	} else {
		var own []timelinesql.ChangesOfTenantBeforeRow
		own, err = s.q(ctx).ChangesOfTenantBefore(ctx, timelinesql.ChangesOfTenantBeforeParams{TenantID: *tenant, At: at, ID: below.number, Most: most})
		for _, r := range own {
			rows = append(rows, timelinesql.ChangesBeforeRow(r))
		}
	}
	found := make([]entry, len(rows))
	for i, r := range rows {
		found[i] = entry{cursor: cursor{at: r.CreatedAt, id: key{number: r.ID}}, action: r.Action, tenant: r.TenantID, change: &change{
			actor: r.ActorID, subject: r.SubjectID, reason: r.SubjectReason, key: r.ApiKeyID, resource: r.Resource, resourceID: r.ResourceID, before: r.Before, after: r.After,
		}}
	}
	return found, err
}

// names holds the current names of the records on a page. Deleted records are missing.
type names struct {
	users         map[int64]string
	tenants, keys map[uuid.UUID]string
}

// names loads the names for a page, with one query per table.
func (s store) names(ctx context.Context, page []entry) (names, error) {
	users, tenants, keys := map[int64]string{}, map[uuid.UUID]string{}, map[uuid.UUID]string{}
	for _, e := range page {
		collectID(tenants, e.tenant)
		c := e.change
		if c == nil {
			continue
		}
		collectID(users, c.actor)
		collectID(users, c.subject)
		collectID(keys, c.key)
		collectID(users, c.userID())
		collectID(tenants, c.idOf("tenant"))
		collectID(keys, c.idOf("api_key"))
	}
	err := lookUp(ctx, s.db, "SELECT id, name FROM users WHERE deleted_at IS NULL AND id IN", users)
	if err == nil {
		err = lookUp(ctx, s.db, "SELECT id, name FROM tenants WHERE id IN", tenants)
	}
	if err == nil {
		err = lookUp(ctx, s.db, "SELECT id, name FROM api_keys WHERE id IN", keys)
	}
	return names{users, tenants, keys}, sqldb.Wrap(err, "read names of timeline")
}

func collectID[ID comparable](in map[ID]string, id *ID) {
	if id != nil {
		in[*id] = ""
	}
}

// lookUp replaces the values of found with the names that the query returns for its keys, and
// removes keys without a row. The list of IDs is appended to the query.
func lookUp[ID comparable](ctx context.Context, db *sqldb.DB, query string, found map[ID]string) error {
	if len(found) == 0 {
		return nil
	}
	var places []string
	var ids []any
	for id := range found {
		ids = append(ids, id)
		places = append(places, "$"+strconv.Itoa(len(ids)))
	}
	clear(found)
	rows, err := db.Conn(ctx).QueryContext(ctx, query+" ("+strings.Join(places, ", ")+")", ids...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err below returns the error
	for rows.Next() {
		var id ID
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		found[id] = name
	}
	return rows.Err()
}

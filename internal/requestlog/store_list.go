package requestlog

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/requestlog/requestlogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// row is a stored request.
type row struct {
	entry
	id       int64
	tenantID *uuid.UUID
}

// list returns up to most requests of a selection, newest first.
func (s store) list(ctx context.Context, sel selection, most int32) ([]row, error) {
	statement := listStatement(sel, most)
	rows, err := s.db.Conn(ctx).QueryContext(ctx, statement.Text, statement.Args...)
	if err != nil {
		return nil, sqldb.Wrap(err, "list requests")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var list []row
	for rows.Next() {
		var r row
		var milliseconds int64
		err := rows.Scan(&r.id, &r.tenantID, &r.isHidden, &r.at, &r.method, &r.route, &r.path, &r.status, &milliseconds, &r.code,
			&r.key, &r.user, &r.subject, &r.reason, &r.ip)
		if err != nil {
			return nil, sqldb.Wrap(err, "list requests")
		}
		r.took = time.Duration(milliseconds) * time.Millisecond
		list = append(list, r)
	}
	return list, sqldb.Wrap(rows.Err(), "list requests")
}

// listStatement returns the statement of list. The statement reads an index backward from the
// cursor, so its rows need no sorting. Failed requests have separate indexes, which the database
// uses only for a condition with a constant.
func listStatement(sel selection, most int32) page.Statement {
	var where []string
	var args []any
	arg := func(value any, kind string) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args)) + "::" + kind
	}
	if sel.tenant != nil {
		where = append(where, "r.tenant_id = "+arg(*sel.tenant, "uuid"), "NOT r.is_hidden")
	}
	where = append(where, "(r.at, r.id) < ("+arg(sel.after.at, "timestamptz")+", "+arg(sel.after.id, "bigint")+")")
	if in := sel.statuses; in != (statuses{}) {
		if in.from >= 400 {
			where = append(where, "r.status >= 400")
		}
		where = append(where, "r.status >= "+arg(in.from, "integer"), "r.status <= "+arg(in.to, "integer"))
	}
	statement := sel.query.FilteredStatement(page.Select{
		Columns: "r.id, r." + strings.ReplaceAll(columns, ", ", ", r."), From: "request_logs r", Where: strings.Join(where, " AND "), Args: args,
	})
	statement.Text += fmt.Sprintf(" ORDER BY r.at DESC, r.id DESC LIMIT $%d", len(statement.Args)+1)
	statement.Args = append(statement.Args, most)
	return statement
}

// gapSlack exceeds the length of a gap.
const gapSlack = time.Minute

// hasGap reports whether requests of a tenant, or of any tenant for nil, are missing between two
// times.
func (s store) hasGap(ctx context.Context, tenant *uuid.UUID, earliest, latest time.Time) (found bool, err error) {
	bound := latest.Add(gapSlack)
	if tenant == nil {
		found, err = s.q(ctx).HasGap(ctx, requestlogsql.HasGapParams{Earliest: earliest, Bound: bound, Latest: latest})
	} else {
		found, err = s.q(ctx).HasGapOfTenant(ctx, requestlogsql.HasGapOfTenantParams{
			TenantID: *tenant, EveryTenant: everyTenant, Earliest: earliest, Bound: bound, Latest: latest,
		})
	}
	return found, sqldb.Wrap(err, "find gaps of request log")
}

// names holds the current names of the records on a page. Deleted records are missing.
type names struct {
	users         map[int64]string
	tenants, keys map[uuid.UUID]string
}

// names loads the names for a page, with one query per table.
func (s store) names(ctx context.Context, list []row) (n names, err error) {
	var users []int64
	var tenants, keys []uuid.UUID
	for _, r := range list {
		users = appendID(appendID(users, r.user), r.subject)
		tenants, keys = appendID(tenants, r.tenantID), appendID(keys, r.key)
	}
	if n.users, err = namesOf(ctx, s.db, "SELECT id, name FROM users WHERE deleted_at IS NULL AND id ", "bigint", users); err != nil {
		return n, err
	}
	if n.tenants, err = namesOf(ctx, s.db, "SELECT id, name FROM tenants WHERE id ", "uuid", tenants); err != nil {
		return n, err
	}
	n.keys, err = namesOf(ctx, s.db, "SELECT id, name FROM api_keys WHERE id ", "uuid", keys)
	return n, err
}

func appendID[ID any](ids []ID, id *ID) []ID {
	if id == nil {
		return ids
	}
	return append(ids, *id)
}

// namesOf returns names by ID. query ends before the condition on the ID.
func namesOf[ID comparable](ctx context.Context, db *sqldb.DB, query, kind string, ids []ID) (map[ID]string, error) {
	found := map[ID]string{}
	if len(ids) == 0 {
		return found, nil
	}
	condition, args := sqldb.InCondition(db, 1, kind, ids)
	rows, err := db.Conn(ctx).QueryContext(ctx, query+condition, args...)
	if err != nil {
		return nil, sqldb.Wrap(err, "read names of requests")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var id ID
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, sqldb.Wrap(err, "read names of requests")
		}
		found[id] = name
	}
	return found, sqldb.Wrap(rows.Err(), "read names of requests")
}

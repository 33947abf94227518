package kernel

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// kind is a Kind without its type parameter. The queries are methods of kind, because the compiler
// would repeat methods of Kind for each type.
type kind struct{ Name, Prefix, Label, Path string }

// find decodes the object with the id into o.
func (k kind) find(ctx context.Context, q Querier, id string, o any) error {
	var doc []byte
	err := q.QueryRowContext(ctx, `SELECT doc FROM stripe_objects WHERE kind = ? AND id = ?`, k.Name, id).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", k.Name, id, err)
	}
	return k.decode(doc, o)
}

func (k kind) decode(doc []byte, o any) error {
	if err := json.Unmarshal(doc, o); err != nil {
		return fmt.Errorf("decode %s: %w", k.Name, err)
	}
	return nil
}

func (k kind) findWhere(ctx context.Context, q Querier, condition string, args ...any) ([][]byte, error) {
	docs, err := docs(ctx, q, `SELECT doc FROM stripe_objects WHERE kind = ? AND `+condition+` ORDER BY seq`, append([]any{k.Name}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read %ss: %w", k.Name, err)
	}
	return docs, nil
}

func (k kind) findNewest(ctx context.Context, q Querier, limit int, before, condition string, args ...any) (found [][]byte, more bool, err error) {
	query := `SELECT doc FROM stripe_objects WHERE kind = ? AND ` + condition
	args = append([]any{k.Name}, args...)
	if before != "" {
		query += ` AND seq < (SELECT seq FROM stripe_objects WHERE kind = ? AND id = ?)`
		args = append(args, k.Name, before)
	}
	found, err = docs(ctx, q, query+` ORDER BY seq DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, false, fmt.Errorf("read %ss: %w", k.Name, err)
	}
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	return found, more, nil
}

func (k kind) remove(ctx context.Context, q Querier, id string) error {
	if _, err := q.ExecContext(ctx, `DELETE FROM stripe_objects WHERE kind = ? AND id = ?`, k.Name, id); err != nil {
		return fmt.Errorf("remove %s %s: %w", k.Name, id, err)
	}
	return nil
}

// page returns the documents of one page, newest first, and whether more follow.
func (k kind) page(ctx context.Context, c *Call, f Filter) (found [][]byte, more bool, err error) {
	f.readCreated(c.Params)
	at := readCursor(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, false, err
	}
	order := "DESC"
	switch {
	case at.after != "":
		seq, err := k.seq(ctx, c.Q, at.after, "starting_after")
		if err != nil {
			return nil, false, err
		}
		f.AddCondition(`seq < ?`, seq)
	case at.before != "":
		seq, err := k.seq(ctx, c.Q, at.before, "ending_before")
		if err != nil {
			return nil, false, err
		}
		f.AddCondition(`seq > ?`, seq)
		order = "ASC" // nearest to the cursor first; reversed below
	}
	query := `SELECT doc FROM stripe_objects WHERE kind = ?` + f.sql + ` ORDER BY seq ` + order + ` LIMIT ?`
	found, err = docs(ctx, c.Q, query, append(append([]any{k.Name}, f.args...), at.limit+1)...)
	if err != nil {
		return nil, false, fmt.Errorf("list %ss: %w", k.Name, err)
	}
	if more = int64(len(found)) > at.limit; more {
		found = found[:at.limit]
	}
	if order == "ASC" {
		slices.Reverse(found)
	}
	return found, more, nil
}

// seq returns the position of an object in creation order.
func (k kind) seq(ctx context.Context, q Querier, id, param string) (int64, error) {
	var seq int64
	err := q.QueryRowContext(ctx, `SELECT seq FROM stripe_objects WHERE kind = ? AND id = ?`, k.Name, id).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, form.NewMissing(k.Label, id, param)
	}
	return seq, err
}

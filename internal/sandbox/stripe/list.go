package stripe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

// filter collects the conditions of a list.
type filter struct {
	sql  string
	args []any
}

func (f *filter) and(condition string, args ...any) {
	f.sql += " AND " + condition
	f.args = append(f.args, args...)
}

// equals lets pass the objects whose field at path is the text of the
// parameter, if that was given.
func (f *filter) equals(p *form.Params, key, path string) {
	if value, ok := p.Filled(key); ok {
		f.and(`doc ->> '`+path+`' = ?`, value)
	}
}

// holds is equals for a boolean field.
func (f *filter) holds(p *form.Params, key, path string) {
	if p.Has(key) {
		var value bool
		p.Boolean(key, &value)
		f.and(`doc ->> '`+path+`' = ?`, value)
	}
}

// among is equals for a field that may be one of several.
func (f *filter) among(path string, values []string) {
	if len(values) == 0 {
		return
	}
	marks, args := "?", []any{values[0]}
	for _, value := range values[1:] {
		marks, args = marks+", ?", append(args, value)
	}
	f.and(`doc ->> '`+path+`' IN (`+marks+`)`, args...)
}

// created reads the parameter created: a moment, or a range of gt, gte, lt, lte.
func (f *filter) created(p *form.Params) {
	if p.Plain("created") {
		var at int64
		p.Integer("created", 0, 1<<40, &at)
		f.and(`created = ?`, at)
		return
	}
	given := p.Hash("created")
	if given == nil {
		return
	}
	for _, bound := range [][2]string{{"gt", ">"}, {"gte", ">="}, {"lt", "<"}, {"lte", "<="}} {
		if given.Has(bound[0]) {
			var at int64
			given.Integer(bound[0], 0, 1<<40, &at)
			f.and(`created `+bound[1]+` ?`, at)
		}
	}
}

// cursor is where a page begins and how long it is.
type cursor struct {
	limit         int64
	after, before string
}

func readCursor(p *form.Params) cursor {
	c := cursor{limit: 10}
	p.Integer("limit", 1, 100, &c.limit)
	p.Text("starting_after", &c.after)
	p.Text("ending_before", &c.before)
	if c.after != "" && c.before != "" {
		p.Fail("ending_before", "", "Received both starting_after and ending_before; only one of them can be used.")
	}
	return c
}

// page answers a list request: newest first, one page long. It reads the
// parameters that all lists share and ends the reading of parameters.
func (k kind[T]) page(ctx context.Context, c *call, f filter) (any, error) {
	f.created(c.params)
	at := readCursor(c.params)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	order := "DESC"
	switch {
	case at.after != "":
		seq, err := k.seq(ctx, c.q, at.after, "starting_after")
		if err != nil {
			return nil, err
		}
		f.and(`seq < ?`, seq)
	case at.before != "":
		seq, err := k.seq(ctx, c.q, at.before, "ending_before")
		if err != nil {
			return nil, err
		}
		f.and(`seq > ?`, seq)
		order = "ASC" // the page next to the cursor, turned round below
	}
	query := `SELECT doc FROM stripe_objects WHERE kind = ?` + f.sql + ` ORDER BY seq ` + order + ` LIMIT ?`
	found, err := docs(ctx, c.q, query, append(append([]any{k.name}, f.args...), at.limit+1)...)
	if err != nil {
		return nil, fmt.Errorf("list %ss: %w", k.name, err)
	}
	more := int64(len(found)) > at.limit
	if more {
		found = found[:at.limit]
	}
	if order == "ASC" {
		slices.Reverse(found)
	}
	data, err := k.decodeAll(found)
	if err != nil {
		return nil, err
	}
	page := form.NewList(k.path, data)
	page.HasMore = more
	return page, nil
}

func (k kind[T]) seq(ctx context.Context, q querier, id, param string) (int64, error) {
	var seq int64
	err := q.QueryRowContext(ctx, `SELECT seq FROM stripe_objects WHERE kind = ? AND id = ?`, k.name, id).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, form.Missing(k.label, id, param)
	}
	return seq, err
}

// slicePage answers a list request about objects nested in another one, in
// their own order.
func slicePage[T object](c *call, url, label string, all []T) (any, error) {
	at := readCursor(c.params)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	limit := int(at.limit)
	place := func(id, param string) (int, error) {
		i := slices.IndexFunc(all, func(o T) bool { return o.head().ID == id })
		if i < 0 {
			return 0, form.Missing(label, id, param)
		}
		return i, nil
	}
	more := false
	switch {
	case at.before != "":
		end, err := place(at.before, "ending_before")
		if err != nil {
			return nil, err
		}
		more = end > limit
		all = all[max(0, end-limit):end]
	case at.after != "":
		i, err := place(at.after, "starting_after")
		if err != nil {
			return nil, err
		}
		all = all[i+1:]
	}
	if len(all) > limit {
		all, more = all[:limit], true
	}
	page := form.NewList(url, all)
	page.HasMore = more
	return page, nil
}

package kernel

import (
	"context"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// Filter collects the conditions of a list. The zero Filter has no conditions.
type Filter struct {
	sql  string
	args []any
}

// AddCondition adds an SQL condition on the columns of stripe_objects.
func (f *Filter) AddCondition(condition string, args ...any) {
	f.sql += " AND " + condition
	f.args = append(f.args, args...)
}

// AddEqual selects the objects whose field at path equals the parameter, if it was given.
func (f *Filter) AddEqual(p *form.Params, key, path string) {
	if value, ok := p.ReadFilled(key); ok {
		f.AddCondition(`doc ->> '`+path+`' = ?`, value)
	}
}

// AddOneOf is like AddEqual, but it refuses a parameter that is not one of the values.
func (f *Filter) AddOneOf(p *form.Params, key, path string, values ...string) {
	var value string
	if p.Choice(key, &value, values...); value != "" {
		f.AddCondition(`doc ->> '`+path+`' = ?`, value)
	}
}

// AddBool is like AddEqual for a boolean field.
func (f *Filter) AddBool(p *form.Params, key, path string) {
	if p.Has(key) {
		var value bool
		p.Boolean(key, &value)
		f.AddCondition(`doc ->> '`+path+`' = ?`, value)
	}
}

// OnClock selects the objects of the test clock in the parameter test_clock. If the parameter is
// missing and hide is true, it excludes the objects of all test clocks.
func (f *Filter) OnClock(p *form.Params, hide bool) {
	if p.Has("test_clock") {
		f.AddEqual(p, "test_clock", "$.test_clock")
	} else if hide {
		f.AddCondition(`doc ->> '$.test_clock' IS NULL`)
	}
}

// AddIn selects the objects whose field at path is one of the values. It does nothing if values is
// empty.
func (f *Filter) AddIn(path string, values []string) {
	if len(values) == 0 {
		return
	}
	marks, args := "?", []any{values[0]}
	for _, value := range values[1:] {
		marks, args = marks+", ?", append(args, value)
	}
	f.AddCondition(`doc ->> '`+path+`' IN (`+marks+`)`, args...)
}

// readCreated reads the parameter created: a time, or a range with gt, gte, lt and lte.
func (f *Filter) readCreated(p *form.Params) {
	if p.IsPlain("created") {
		var at int64
		p.Integer("created", 0, 1<<40, &at)
		f.AddCondition(`created = ?`, at)
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
			f.AddCondition(`created `+bound[1]+` ?`, at)
		}
	}
}

// cursor is the position and length of a page.
type cursor struct {
	limit         int64
	after, before string
}

// readCursor reads the pagination parameters.
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

// Page returns one page of objects, newest first. It reads the parameters that all lists share and
// then calls CheckUnread.
func (k Kind[T]) Page(ctx context.Context, c *Call, f Filter) (any, error) {
	found, more, err := kind(k).page(ctx, c, f)
	if err != nil {
		return nil, err
	}
	data, err := k.decodeAll(found)
	if err != nil {
		return nil, err
	}
	page := form.NewList(k.Path, data)
	page.HasMore = more
	return page, nil
}

// SlicePage returns one page of objects that are nested in another object, in their own order.
func SlicePage[T Object](c *Call, url, label string, all []T) (any, error) {
	at := readCursor(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	limit := int(at.limit)
	place := func(id, param string) (int, error) {
		i := slices.IndexFunc(all, func(o T) bool { return o.Head().ID == id })
		if i < 0 {
			return 0, form.NewMissing(label, id, param)
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

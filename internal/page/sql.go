package page

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Select is the part of a list's SQL that does not depend on the request.
type Select struct {
	Columns string
	From    string // tables and joins, without FROM
	// Join has additional joins that only Columns uses, each to at most one row. They run only for
	// the entries of the page. From must then be a single table with an alias.
	Join  string
	Where string // condition with the parameters $1… of Args; can be empty
	Args  []any
	// Count returns the total number of entries if it is known without counting. Nil counts them.
	Count func(ctx context.Context) (int64, error)
}

// Statement is SQL with its arguments.
type Statement struct {
	Text string
	Args []any
}

// maxOffset is beyond the end of any list. It prevents integer overflows in the databases.
const maxOffset = 1 << 40

// List returns the statement that selects the entries of the page.
func (q Query) List(sel Select) Statement {
	columns := sel.Columns + q.exportColumns()
	if q.from != nil {
		b := builder{args: slices.Clone(sel.Args)}
		sel.From = q.from(b.arg)
		sel.Args = b.args
	}
	if sel.Join == "" {
		b := q.build("SELECT "+columns, sel)
		q.writePage(b)
		return b.statement()
	}
	if q.isUnindexed() {
		return q.listByKey(columns, sel)
	}
	alias := sel.From[strings.LastIndex(sel.From, " ")+1:]
	b := q.build("SELECT "+columns+" FROM (SELECT "+alias+".*", sel)
	q.writePage(b)
	b.text.WriteString(") " + alias + " " + sel.Join)
	q.writeOrder(b)
	return b.statement()
}

// isUnindexed reports whether no index has the order.
func (q Query) isUnindexed() bool {
	return slices.ContainsFunc(q.orders, func(o order) bool { return o.unindexed })
}

// listByKey returns the statement of List that first selects the unique column of the page's rows.
func (q Query) listByKey(columns string, sel Select) Statement {
	key := q.orders[len(q.orders)-1].expr
	b := q.build("SELECT "+columns+" FROM "+sel.From+" "+sel.Join+" WHERE "+key+" IN (SELECT "+key, sel)
	q.writePage(b)
	b.text.WriteString(")")
	q.writeOrder(b)
	return b.statement()
}

// PrefixEnd is appended to a prefix to get a text greater than all texts with the prefix, because no
// text of the service contains the last code point of Unicode.
const PrefixEnd = "\U0010ffff"

func (q Query) writeOrder(b *builder) {
	b.text.WriteString(" ORDER BY ")
	for i, o := range q.orders {
		if i > 0 {
			b.text.WriteString(", ")
		}
		b.text.WriteString(o.expr)
		if o.desc {
			b.text.WriteString(" DESC")
		}
		if o.nullable {
			b.text.WriteString(" NULLS LAST")
		}
	}
}

func (q Query) writePage(b *builder) {
	q.writeOrder(b)
	if q.export != nil {
		b.text.WriteString(" LIMIT " + b.arg(q.exportPart()))
		return
	}
	b.text.WriteString(" LIMIT " + b.arg(q.perPage) + " OFFSET " + b.arg(q.offset()))
}

// Sum returns the statement that selects columns of the entries of all pages, such as sums, by group.
func (q Query) Sum(sel Select, columns, group string) Statement {
	b := q.build("SELECT "+columns, sel)
	b.text.WriteString(" GROUP BY " + group + " ORDER BY " + group)
	return b.statement()
}

// Count returns the statement that counts the entries of all pages.
func (q Query) Count(sel Select) Statement {
	return q.build("SELECT count(*)", sel).statement()
}

func (q Query) offset() int64 {
	if q.page-1 > maxOffset/q.perPage {
		return maxOffset
	}
	return (q.page - 1) * q.perPage
}

func (q Query) build(head string, sel Select) *builder {
	b := &builder{args: append([]any(nil), sel.Args...)}
	b.text.WriteString(head + " FROM " + sel.From)
	joiner := " WHERE "
	if sel.Where != "" {
		b.text.WriteString(joiner + "(" + sel.Where + ")")
		joiner = " AND "
	}
	for _, c := range q.conditions {
		b.text.WriteString(joiner + "(" + b.condition(c) + ")")
		joiner = " AND "
	}
	if after := q.afterLastRow(b); after != "" {
		b.text.WriteString(joiner + after)
	}
	return b
}

// builder builds a statement. User input becomes an argument, and only text of the program becomes
// SQL.
type builder struct {
	text strings.Builder
	args []any
}

func (b *builder) statement() Statement { return Statement{Text: b.text.String(), Args: b.args} }

func (b *builder) arg(value any) string {
	b.args = append(b.args, value)
	return "$" + strconv.Itoa(len(b.args))
}

// condition returns the comparison of a condition.
func (b *builder) condition(c condition) string {
	if c.filter.Condition != nil {
		return c.filter.Condition(c.value, b.arg)
	}
	return strings.Join(b.comparisons(c), " OR ")
}

// comparisons returns the comparison of each expression of a condition with its value.
func (b *builder) comparisons(c condition) []string {
	var compare func(expr string) string
	switch c.filter.Kind {
	case PartialMatch:
		compare = b.contains(c.value.(string))
	case AnyOf:
		var places []string
		for _, one := range c.value.([]string) {
			places = append(places, b.arg(one))
		}
		compare = func(expr string) string { return expr + " IN (" + strings.Join(places, ", ") + ")" }
	case Prefix:
		from, to := b.arg(c.value), b.arg(c.value.(string)+PrefixEnd)
		compare = func(expr string) string { return expr + " >= " + from + " AND " + expr + " < " + to }
	case DateFrom, DayFrom:
		compare = b.operator(">=", c.value)
	case DateTo, DayTo:
		compare = b.operator("<=", c.value)
	default:
		compare = b.operator("=", c.value)
	}
	out := make([]string, len(c.filter.Exprs))
	for i, expr := range c.filter.Exprs {
		out[i] = compare("(" + expr + ")")
	}
	return out
}

func (b *builder) operator(op string, value any) func(expr string) string {
	arg := b.arg(value)
	return func(expr string) string { return expr + " " + op + " " + arg }
}

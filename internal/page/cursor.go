package page

import "time"

// FilteredStatement returns the statement that selects the entries of all pages, without an order.
// It is for lists with a cursor.
func (q Query) FilteredStatement(sel Select) Statement {
	return q.build("SELECT "+sel.Columns, sel).statement()
}

// Time returns the value of a DateFrom or DateTo parameter. If the parameter is absent, Time
// returns otherwise.
func (q Query) Time(name string, otherwise time.Time) time.Time {
	for _, c := range q.conditions {
		if at, ok := c.value.(time.Time); ok && c.path == name {
			return at
		}
	}
	return otherwise
}

package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
)

// Tenants is the filter of a list of tenants (alias t) by words of the name, slug, external ID,
// verified domains and members' emails, and by the beginning of the ID.
func Tenants() page.Filter {
	return page.Filter{Kind: page.Words, Condition: func(value any, arg func(any) string) string {
		return tenants.condition(value.(string), byRarity, arg)
	}}
}

// Users is the filter of a list of users (alias u) by words of the name, email and ID.
func Users() page.Filter {
	return page.Filter{Kind: page.Words, Condition: func(value any, arg func(any) string) string {
		return users.condition(value.(string), byRarity, arg)
	}}
}

// People is the filter of a list by words of the name, email and ID of a user. columns are
// expressions of user IDs. A row matches if one of these users matches.
func People(columns ...string) page.Filter {
	return page.Filter{Kind: page.Words, Condition: func(value any, arg func(any) string) string {
		each := make([]string, len(columns))
		for i, column := range columns {
			found := target{id: column, of: users.of, has: func(in func(string) string) string {
				return "EXISTS (SELECT 1 FROM user_words w WHERE w.user_id = " + column + " AND " + in("w.word") + ")"
			}}
			each[i] = found.condition(value.(string), byRarity, arg)
		}
		return "(" + strings.Join(each, " OR ") + ")"
	}}
}

// Members is like People for one column, but finds only users who are members of the tenant of the
// row. tenant is the expression of the tenant ID.
func Members(column, tenant string) page.Filter {
	people := People(column)
	return page.Filter{Kind: page.Words, Condition: func(value any, arg func(any) string) string {
		return people.Condition(value, arg) + " AND EXISTS (SELECT 1 FROM memberships m WHERE m.tenant_id = " + tenant + " AND m.user_id = " + column + ")"
	}}
}

// target is a table whose rows are found by words.
type target struct {
	id string // the expression of the ID
	// of returns a query for the IDs of the rows that have a word in a range, in the column id.
	// inRange returns the condition that a column is in the range.
	of func(inRange func(column string) string) string
	// has returns the condition that a row has such a word.
	has func(inRange func(column string) string) string
	// ids returns a query for the IDs in a range of IDs; nil if IDs are not UUIDs.
	ids func(inRange func(column string) string) string
}

var tenants = target{
	id: "t.id",
	of: func(in func(string) string) string {
		return `SELECT w.id FROM search_words w WHERE w.kind = 'tenant' AND ` + in("w.word") + `
UNION ALL SELECT d.tenant_id FROM search_words w JOIN tenant_domains d ON d.id = w.id AND d.status = 'verified' WHERE w.kind = 'domain' AND ` + in("w.word") + `
UNION ALL SELECT m.tenant_id FROM user_words w JOIN memberships m ON m.user_id = w.user_id WHERE w.field = 'email' AND ` + in("w.word")
	},
	has: func(in func(string) string) string {
		return `(EXISTS (SELECT 1 FROM search_words w WHERE w.kind = 'tenant' AND w.id = t.id AND ` + in("w.word") + `)
OR EXISTS (SELECT 1 FROM memberships m JOIN user_words w ON w.user_id = m.user_id WHERE m.tenant_id = t.id AND w.field = 'email' AND ` + in("w.word") + `)
OR EXISTS (SELECT 1 FROM tenant_domains d JOIN search_words w ON w.kind = 'domain' AND w.id = d.id WHERE d.tenant_id = t.id AND d.status = 'verified' AND ` + in("w.word") + `))`
	},
	ids: func(in func(string) string) string { return "SELECT i.id FROM tenants i WHERE " + in("i.id") },
}

var users = target{
	id: "u.id",
	of: func(in func(string) string) string {
		return "SELECT w.user_id AS id FROM user_words w WHERE " + in("w.word")
	},
	has: func(in func(string) string) string {
		return "EXISTS (SELECT 1 FROM user_words w WHERE w.user_id = u.id AND " + in("w.word") + ")"
	},
}

// condition returns the condition that every word of a query is the beginning of a word of the
// object. rarestFirst sorts words.
func (t target) condition(query string, rarestFirst func([]string) []string, arg func(any) string) string {
	var all, others []string
	for _, chunk := range rarestFirst(strings.Fields(query)) {
		terms := rarestFirst(Terms(chunk))
		from, to, isID := idRange(chunk)
		isID = isID && t.ids != nil
		var each []string
		for _, term := range terms {
			if len(each) > 0 || len(all) > 0 { // few rows are left
				if !isID {
					others = append(others, term)
					continue
				}
				if len(terms) > 1 {
					each = append(each, t.has(beginsWith(term, arg)))
					continue
				}
			}
			found := t.of(beginsWith(term, arg))
			if isID && len(terms) == 1 {
				found += " UNION ALL " + t.ids(inRange(arg(from), arg(to)))
			}
			each = append(each, t.id+" IN ("+found+")")
		}
		if len(each) == 0 {
			continue // only separators, or words in others
		}
		both := strings.Join(each, " AND ")
		if isID && len(terms) > 1 {
			both = "(" + both + " OR " + inRange(arg(from), arg(to))(t.id) + ")"
		}
		all = append(all, both)
	}
	return cmp.Or(strings.Join(append(all, eachOf(others, t.has, arg)...), " AND "), "1 = 0") // a query without a letter or digit
}

// singleTests is the number of words that are tested one by one. Planning a statement with many
// subqueries takes PostgreSQL seconds, so one subquery tests the other words.
const singleTests = 8

// eachOf returns the conditions that a row has a word for each term. has is like target.has.
func eachOf(terms []string, has func(inRange func(column string) string) string, arg func(any) string) []string {
	var conditions, ranges []string
	for i, term := range terms {
		if i < singleTests {
			conditions = append(conditions, has(beginsWith(term, arg)))
			continue
		}
		ranges = append(ranges, "SELECT "+arg(term)+"::text AS low, "+arg(term+page.PrefixEnd)+"::text AS high")
	}
	if len(ranges) > 0 {
		inRange := func(column string) string { return column + " >= r.low AND " + column + " < r.high" }
		conditions = append(conditions, "NOT EXISTS (SELECT 1 FROM ("+strings.Join(ranges, " UNION ALL ")+") AS r WHERE NOT "+has(inRange)+")")
	}
	return conditions
}

// maxMatches is the number of matches of a word that a search tries first.
const maxMatches = 10_000

// earlyMatchCondition returns the condition that a row is among the first matches of a query of one
// word, so that a frequent word is found without reading all its matches. It returns "" for other
// queries.
func (t target) earlyMatchCondition(query string, arg func(any) string) string {
	terms := Terms(query)
	if _, _, isID := idRange(strings.TrimSpace(query)); isID || len(terms) != 1 {
		return ""
	}
	return t.id + " IN (SELECT f.id FROM (" + t.of(beginsWith(terms[0], arg)) + ") AS f LIMIT " + arg(maxMatches) + ")"
}

// hasAll returns the condition that a row has all words of a query.
func (t target) hasAll(query string, arg func(any) string) string {
	return cmp.Or(strings.Join(eachOf(Terms(query), t.has, arg), " AND "), "1 = 0") // a query without a letter or digit
}

// beginsWith returns the condition that a column begins with a term.
func beginsWith(term string, arg func(any) string) func(column string) string {
	low, high := arg(term), arg(term+page.PrefixEnd)
	return func(column string) string { return column + " >= " + low + " AND " + column + " < " + high }
}

// byRarity sorts words by estimated rarity: words with digits first, then longer words.
func byRarity(terms []string) []string {
	hasDigit := func(term string) bool { return strings.ContainsAny(term, "0123456789") }
	slices.SortStableFunc(terms, func(a, b string) int {
		if hasDigit(a) != hasDigit(b) {
			if hasDigit(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(b), len(a))
	})
	return terms
}

func inRange(low, high string) func(column string) string {
	return func(column string) string { return column + " BETWEEN " + low + " AND " + high }
}

// idRange returns the range of the UUIDs that begin with a text, and whether the text is the
// beginning of a UUID.
func idRange(text string) (from, to uuid.UUID, ok bool) {
	const lowest, highest = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"
	text = strings.ToLower(text)
	if len(text) > len(lowest) {
		return from, to, false
	}
	from, err := uuid.Parse(text + lowest[len(text):])
	if err != nil {
		return from, to, false
	}
	to, err = uuid.Parse(text + highest[len(text):])
	return from, to, err == nil
}

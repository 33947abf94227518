package distribution_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// In these patterns, a value is a parameter or, in handwritten statements, the name of a part, such
// as «among».
var (
	named = regexp.MustCompile(`(?i)\b(?:from|join|into|update)\s+([a-z_]+)`)
	// aliased matches the alias, or the keyword, after the name of a table.
	aliased = regexp.MustCompile(`(?i)^\s+(?:as\s+)?([a-z_]+)`)
	// givenTo matches a condition that limits a table to given tenants and names the table.
	givenTo = regexp.MustCompile(`(?i)\b([a-z_]+)\.tenant_id\s*(?:=\s*(?:\$|any\b|«)|«|in\s*\(?[$«])`)
	// given matches such a condition without the name of the table.
	given = regexp.MustCompile(`(?i)(?:^|[^.\w])(?:tenant_id\s*(?:=\s*(?:\$|any\b|«)|«|in\s*\(?[$«])|\(tenant_id, \w+\)\s*(?:in\s*\()?«)`)
	// listed matches a join with a list of rows to which distribution.AndTenants adds the condition
	// on the tenants.
	listed = regexp.MustCompile(`(?is)\b([a-z_]+)\.tenant_id = v\.column1\b.*«and»`)
	// same matches a condition that two tables have the same tenant.
	same = regexp.MustCompile(`(?i)\b([a-z_]+)\.tenant_id\s*=\s*([a-z_]+)\.tenant_id\b`)
	// materialized matches a named part of a statement that is executed on its own. A condition in
	// it limits no other part.
	materialized = regexp.MustCompile(`(?i)\b([a-z_]+)\s+as\s+materialized\b`)
	// inserted matches an INSERT that sets the tenant.
	inserted = regexp.MustCompile(`(?is)^\s*insert\s+into\s+(\w+)\s*\((?:[^)]*\btenant_id\b|«)`)
)

// tablesOf returns the distributed tables of a statement, and the distributed tables that the
// statement does not limit to given tenants.
func tablesOf(text string) (spread, unbound []string) {
	bound := map[string]bool{}
	tables := map[string]string{} // by alias
	for _, scope := range scopes(text) {
		var own []string
		for alias, table := range tablesIn(scope) {
			tables[alias] = table
			if distribution.Tables[table] == distribution.Distributed {
				spread = append(spread, table)
				own = append(own, alias, table)
			}
		}
		if given.MatchString(scope) && len(own) == 2 { // the only distributed table
			bound[own[0]], bound[own[1]] = true, true
		}
		if m := inserted.FindStringSubmatch(scope); m != nil {
			bound[m[1]] = true
		}
	}
	for _, m := range slices.Concat(givenTo.FindAllStringSubmatch(text, -1), listed.FindAllStringSubmatch(text, -1)) {
		bound[m[1]] = true
	}
	apart := map[string]bool{}
	for _, m := range materialized.FindAllStringSubmatch(text, -1) {
		apart[m[1]] = true
	}
	isBound := func(alias string) bool { // subqueries and other parts of the statement are checked on their own
		table := cmp.Or(tables[alias], alias)
		return bound[alias] || distribution.Tables[table] == "" && !apart[table]
	}
	for range tables { // joins can form a chain of tables
		for _, m := range same.FindAllStringSubmatch(text, -1) {
			if isBound(m[1]) || isBound(m[2]) {
				bound[m[1]], bound[m[2]] = true, true
			}
		}
	}
	for alias, table := range tables {
		if distribution.Tables[table] == distribution.Distributed && !bound[alias] && !bound[table] {
			unbound = append(unbound, table)
		}
	}
	slices.Sort(unbound)
	return spread, unbound
}

var keyword = regexp.MustCompile(`(?i)^(?:where|set|on|join|left|cross|order|group|limit|values|select|for|using|union|inner|returning|and|or)$`)

// tablesIn returns the tables of a query by alias, or by name if they have no alias.
func tablesIn(text string) map[string]string {
	tables := map[string]string{}
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		table := text[at[2]:at[3]]
		alias := table
		if m := aliased.FindStringSubmatch(text[at[1]:]); m != nil && !keyword.MatchString(m[1]) {
			alias = m[1]
		}
		tables[alias] = table
	}
	return tables
}

// localTables returns the local tables of a statement.
func localTables(text string) (local []string) {
	for _, table := range tablesIn(text) {
		if distribution.Tables[table] == distribution.Local {
			local = append(local, table)
		}
	}
	return local
}

var beginsSelect = regexp.MustCompile(`(?i)^\(\s*(?:select|with)\b`)

// scopes returns the queries of a statement, each without its subqueries. The queries of a UNION
// are separate.
func scopes(text string) (all []string) {
	var own strings.Builder
	for i := 0; i < len(text); i++ {
		if !beginsSelect.MatchString(text[i:]) {
			own.WriteByte(text[i])
			continue
		}
		inner := inParentheses(text[i:])
		all = append(all, scopes(inner)...)
		own.WriteString("()")
		i += len(inner) + 1
	}
	return append(all, union.Split(own.String(), -1)...)
}

// inParentheses returns the text between the opening parenthesis at the start of text and its
// closing parenthesis.
func inParentheses(text string) string {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[1:i]
			}
		}
	}
	return text[1:]
}

var union = regexp.MustCompile(`(?i)\b(?:union(?:\s+all)?|except)\b`)

// A condition limits the table that it names, or the only table of its query.
func TestTablesAreBound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"SELECT 1 FROM invoices WHERE tenant_id = $1":                                                                                             nil,
		"SELECT 1 FROM invoices i JOIN plans p ON p.id = i.plan_id WHERE p.tenant_id = $1":                                                        {"invoices"},
		"SELECT 1 FROM invoices i JOIN subscriptions s ON s.tenant_id = i.tenant_id WHERE i.tenant_id = $1":                                       nil,
		"SELECT 1 FROM invoices i JOIN subscriptions s ON s.id = i.subscription_id WHERE i.tenant_id = $1":                                        {"subscriptions"},
		"SELECT 1 FROM invoices WHERE id IN (SELECT invoice_id FROM invoice_lines WHERE tenant_id = $1)":                                          {"invoices"},
		"SELECT 1 FROM invoices i WHERE i.tenant_id = ANY($1) AND EXISTS (SELECT 1 FROM trials r WHERE r.tenant_id = i.tenant_id)":                nil,
		"SELECT 1 FROM plans JOIN invoices i ON i.plan_id = plans.id":                                                                             {"invoices"},
		"SELECT id FROM invoices WHERE tenant_id = $1 UNION ALL SELECT id FROM credit_notes":                                                      {"credit_notes"},
		"WITH e AS (SELECT tenant_id FROM invoices WHERE tenant_id = $1) SELECT 1 FROM e JOIN trials r ON r.tenant_id = e.tenant_id":              nil,
		"WITH e AS MATERIALIZED (SELECT tenant_id FROM invoices WHERE tenant_id = $1) SELECT 1 FROM e JOIN trials r ON r.tenant_id = e.tenant_id": {"trials"},
		"INSERT INTO trials (tenant_id, id) VALUES ($1, $2)":                                                                                      nil,
		"DELETE FROM trials WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE subscriptions.tenant_id = trials.tenant_id)":          {"subscriptions", "trials"},
	} {
		if _, got := tablesOf(text); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

package catalog

import (
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
)

// commonFilters returns the filters that all admin lists share. t is the table alias, and key is
// the column with the slug or code. The name and search filters match all locales.
func commonFilters(t, key string) map[string]page.Filter {
	names := localeExpressions(t + ".name")
	return map[string]page.Filter{
		"name":           {Kind: page.PartialMatch, Exprs: names},
		"search":         {Kind: page.PartialMatch, Exprs: append(append([]string{t + "." + key}, names...), localeExpressions(t+".description")...)},
		"is_active":      {Kind: page.Bool, Exprs: []string{t + ".is_active"}},
		"created_after":  {Kind: page.DateFrom, Exprs: []string{t + ".created_at"}},
		"created_before": {Kind: page.DateTo, Exprs: []string{t + ".created_at"}},
	}
}

// localeExpressions returns an SQL expression for each locale of a translatable column.
func localeExpressions(column string) []string {
	var exprs []string
	for _, locale := range i18n.Locales() {
		exprs = append(exprs, column+" ->> '"+locale+"'")
	}
	return exprs
}

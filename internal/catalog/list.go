package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
)

// commonFilters are the filters that all lists of the administration have: of a
// table with the alias t, whose records are told apart by key. A name and a
// search look into every locale.
func commonFilters(t, key string) map[string]page.Filter {
	names := inEveryLocale(t + ".name")
	return map[string]page.Filter{
		"name":           {Kind: page.Partial, Exprs: names},
		"search":         {Kind: page.Partial, Exprs: append(append([]string{t + "." + key}, names...), inEveryLocale(t+".description")...)},
		"is_active":      {Kind: page.Bool, Exprs: []string{t + ".is_active"}},
		"created_after":  {Kind: page.DateFrom, Exprs: []string{t + ".created_at"}},
		"created_before": {Kind: page.DateTo, Exprs: []string{t + ".created_at"}},
	}
}

// inEveryLocale lists the texts of a translatable column.
func inEveryLocale(column string) []string {
	var exprs []string
	for _, locale := range i18n.Locales() {
		exprs = append(exprs, column+" ->> '"+locale+"'")
	}
	return exprs
}

// among runs a query whose text ends with a list of ids, of which there must be
// one, and reads its rows with scan.
func (s store) among(ctx context.Context, query string, ids []uuid.UUID, scan func(page.Scanner) error) error {
	places, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		places[i], args[i] = "$"+strconv.Itoa(i+1)+"::uuid", id
	}
	rows, err := s.conn(ctx).QueryContext(ctx, fmt.Sprintf("%s (%s)", query, strings.Join(places, ", ")), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what went wrong
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

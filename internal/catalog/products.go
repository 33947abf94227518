package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
)

// ProductEntry is a product as the administration lists it.
type ProductEntry struct {
	Product
	PlansCount int64  // plans that are not deleted
	Plans      []Plan // only where they were asked for
}

// ProductList is what the administration's list of products can be asked for
// (spec: Admin catalog endpoints). A name and a search look into every locale.
func ProductList() page.Spec {
	names := inEveryLocale("p.name")
	return page.Spec{
		Filters: map[string]page.Filter{
			"name":           {Kind: page.Partial, Exprs: names},
			"search":         {Kind: page.Partial, Exprs: append(append([]string{"p.slug"}, names...), inEveryLocale("p.description")...)},
			"is_active":      {Kind: page.Bool, Exprs: []string{"p.is_active"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"p.created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"p.created_at"}},
		},
		Sorts:       map[string]string{"created_at": "p.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "p.id",
		Includes:    []string{"plans", "plansCount"},
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

func (s store) productPage(ctx context.Context, q page.Query) ([]ProductEntry, int64, error) {
	sel := page.Select{
		Columns: `p.id, p.slug, p.name, p.description, p.is_active, p.metadata, p.psp_product_id, p.created_at, p.updated_at,
			(SELECT count(*) FROM plans WHERE plans.product_id = p.id AND plans.deleted_at IS NULL)`,
		From:  "products p",
		Where: "p.deleted_at IS NULL",
	}
	return page.Fetch(ctx, s.conn(ctx), q, sel, func(row page.Scanner) (ProductEntry, error) {
		var (
			p     catalogsql.Product
			entry ProductEntry
		)
		err := row.Scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.IsActive, &p.Metadata, &p.PSPProductID,
			&p.CreatedAt, &p.UpdatedAt, &entry.PlansCount)
		if err != nil {
			return ProductEntry{}, err
		}
		entry.Product, err = productOf(p)
		return entry, err
	})
}

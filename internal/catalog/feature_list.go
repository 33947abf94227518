package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/page"
)

// FeatureList is what the administration's list of features can be asked for
// (spec: Admin catalog endpoints). Codes are sorted by their bytes.
func FeatureList() page.Spec {
	filters := commonFilters("f", "code")
	filters["code"] = page.Filter{Kind: page.Exact, Exprs: []string{"f.code"}}
	return page.Spec{
		Filters:     filters,
		Sorts:       map[string]string{"code": `f.code COLLATE "C"`, "created_at": "f.created_at"},
		DefaultSort: "code",
		Tiebreak:    "f.id",
	}
}

// Features lists the features that q asks for, and counts all that match; q is
// parsed by FeatureList.
func (s *Service) Features(ctx context.Context, q page.Query) (features []Feature, total int64, err error) {
	return page.Fetch(ctx, s.store.conn(ctx), q, page.Select{
		Columns: "f.id, f.code, f.name, f.description, f.is_active, f.is_system, f.metadata, f.created_at, f.updated_at",
		From:    "features f",
		Where:   "f.deleted_at IS NULL",
	}, func(row page.Scanner) (Feature, error) {
		var f catalogsql.Feature
		err := row.Scan(&f.ID, &f.Code, &f.Name, &f.Description, &f.IsActive, &f.IsSystem, &f.Metadata, &f.CreatedAt, &f.UpdatedAt)
		if err != nil {
			return Feature{}, err
		}
		return featureOf(f)
	})
}

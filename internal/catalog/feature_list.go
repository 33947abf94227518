package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
)

// FeatureList returns the filters and sort orders of the admin feature list
// (rules: catalog#features). Codes are sorted bytewise.
func (*HTTP) FeatureList() page.Spec {
	filters := commonFilters("f", "code")
	filters["code"] = page.Filter{Kind: page.ExactMatch, Exprs: []string{"f.code"}}
	return page.Spec{
		Filters:     filters,
		Sorts:       map[string]string{"code": `f.code COLLATE "C"`, "created_at": "f.created_at", "sort_order": "f.sort_order"},
		DefaultSort: "code",
		Tiebreak:    "f.id",
	}
}

// Features returns the page of features for q, which FeatureList parses, and the total number of
// matches.
func (s *Service) Features(ctx context.Context, q page.Query) (features []Feature, total int64, err error) {
	return s.store.featurePage(ctx, q)
}

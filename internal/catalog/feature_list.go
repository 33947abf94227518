package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
)

// FeatureList declares the filters and sorts of the administration's list of features
// (rules: catalog#features). Codes are sorted by their bytes.
func FeatureList() page.Spec {
	filters := commonFilters("f", "code")
	filters["code"] = page.Filter{Kind: page.ExactMatch, Exprs: []string{"f.code"}}
	return page.Spec{
		Filters:     filters,
		Sorts:       map[string]string{"code": `f.code COLLATE "C"`, "created_at": "f.created_at", "sort_order": "f.sort_order"},
		DefaultSort: "code",
		Tiebreak:    "f.id",
	}
}

// Features lists the features that q asks for, and counts all that match; FeatureList
// parses q.
func (s *Service) Features(ctx context.Context, q page.Query) (features []Feature, total int64, err error) {
	return s.store.featurePage(ctx, q)
}

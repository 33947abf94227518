package page_test

import (
	"fmt"
	"net/url"

	"github.com/tenantry/tenantry/internal/page"
)

// A list declares the parameters that callers can use. Parse checks a query string against them.
func ExampleSpec_Parse() {
	spec := page.Spec{
		Filters:     map[string]page.Filter{"status": {Kind: page.ExactMatch, Exprs: []string{"status"}}},
		Sorts:       map[string]string{"name": "name"},
		DefaultSort: "name",
		Tiebreak:    "id",
	}
	query, err := spec.Parse(url.Values{"filter[status]": {"active"}, "page": {"2"}, "per_page": {"10"}})
	fmt.Println(query.HasFilter(), err)

	list := page.New(query, "https://app.example.com/api/v1/members", []string{"Ada"}, 16)
	fmt.Println(list.Meta.CurrentPage, list.Meta.LastPage, list.Meta.Total)

	_, err = spec.Parse(url.Values{"filter[color]": {"red"}})
	fmt.Println(err != nil)
	// Output:
	// true <nil>
	// 2 2 16
	// true
}

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// The limits for the operator's lists and searches. mostOfList is the limit for a first page and
// for a search. mostOfFilter is the limit for a page with a filter or another order, including its
// totals.
const (
	mostOfList   = 20 * time.Millisecond
	mostOfFilter = 100 * time.Millisecond
)

// operatorLists are the lists across tenants.
var operatorLists = []string{"tenants", "invoices", "credit-notes", "subscriptions", "users", "webhook-deliveries"}

// parameter is a query parameter in the API description.
type parameter struct {
	Ref    string `json:"$ref"`
	Name   string `json:"name"`
	Schema rule   `json:"schema"`
}

// rule is the schema of a parameter.
type rule struct {
	Ref   string   `json:"$ref"`
	Type  any      `json:"type"`
	Enum  []string `json:"enum"`
	Items *rule    `json:"items"`
}

// apiDescription is the part of /openapi.json that names the requests.
type apiDescription struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Parameters map[string]parameter `json:"parameters"`
		Schemas    map[string]rule      `json:"schemas"`
	} `json:"components"`
}

// listOperatorRoutes returns the paths of the operator's lists with each filter and each order, and of
// the search.
func (d *apiDescription) listOperatorRoutes(w *filled) (paths []string, err error) {
	for _, name := range operatorLists {
		path := "/api/v1/admin/" + name
		var op struct {
			Parameters []parameter `json:"parameters"`
		}
		if err := json.Unmarshal(d.Paths[path]["get"], &op); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, p := range op.Parameters {
			if p.Ref != "" {
				p = d.Components.Parameters[lastPart(p.Ref)]
			}
			values := d.valuesOf(p, w)
			if len(values) == 0 {
				return nil, fmt.Errorf("%s: no value for %s", path, p.Name)
			}
			for _, value := range values {
				if value != "" {
					paths = append(paths, path+"?"+p.Name+"="+url.QueryEscape(value))
				}
			}
		}
	}
	for _, words := range searches {
		paths = append(paths, "/api/v1/admin/search?q="+url.QueryEscape(words))
	}
	return paths, nil
}

// searches are texts that match all tenants, many tenants or one tenant.
var searches = []string{"tenant", "tenant 19", "filled", "user-9", "user-999@filled.test", "F-00", "gmbh tenant"}

// valuesOf returns values of a parameter. An empty value means that the parameter is omitted.
func (d *apiDescription) valuesOf(p parameter, w *filled) []string {
	now := clock.System().Now().UTC()
	switch p.Name {
	case "page":
		return []string{"100"}
	case "per_page", "format", "bom", "search", "filter[deleted]", "include":
		return []string{""}
	case "filter[search]":
		return searches
	case "filter[tenant]":
		return []string{w.large.tenant.String(), w.small.tenant.String()}
	case "filter[plan]":
		return []string{w.plan}
	case "filter[endpoint]":
		for _, o := range w.objects {
			if o.below == "/api/v1/admin/" && o.name == "{endpoint}" {
				return []string{o.id}
			}
		}
	case "filter[issued_from]":
		return []string{now.AddDate(0, 0, -90).Format(time.DateOnly)}
	case "filter[issued_to]":
		return []string{now.Format(time.DateOnly)}
	case "filter[trial_ends_before]", "filter[renews_before]", "filter[created_before]":
		return []string{now.AddDate(0, 2, 0).Format(time.RFC3339)}
	case "filter[created_after]":
		return []string{now.AddDate(0, -6, 0).Format(time.RFC3339)}
	}
	if fixed := fixedValues[p.Name]; fixed != nil {
		return fixed
	}
	return d.valuesOfRule(p.Schema)
}

// fixedValues are values of parameters with free text.
var fixedValues = map[string][]string{
	"filter[currency]": {"EUR", "EUR,USD"}, "filter[country]": {"DE"}, "filter[number]": {"F-00"}, "filter[external_id]": {"none"},
	"filter[email]": {"user-999@filled.test"}, "filter[name]": {"Tenant"}, "filter[slug]": {"tenant-9"}, "filter[type]": {"invoice.paid"},
}

// valuesOfRule returns the values of a boolean or an enum.
func (d *apiDescription) valuesOfRule(r rule) []string {
	switch {
	case r.Ref != "":
		return d.valuesOfRule(d.Components.Schemas[lastPart(r.Ref)])
	case r.Items != nil:
		return d.valuesOfRule(*r.Items)
	case r.Type == "boolean":
		return []string{strconv.FormatBool(true), strconv.FormatBool(false)}
	}
	return r.Enum
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// limitOf returns the limit of a route of the operator's lists and searches, or 0.
func limitOf(name string) time.Duration {
	path, query, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "GET /api/v1/admin/"), "GET /api/v1/tenant/{tenantId}/"), "?")
	switch isList := slices.Contains(operatorLists, path); {
	case path == "search", isList && (query == "" || strings.HasPrefix(query, "filter[search]=") || strings.HasPrefix(query, "search=")):
		return mostOfList
	case isList:
		return mostOfFilter
	}
	return 0
}

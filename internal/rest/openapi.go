package rest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/authz"
)

func humaConfig(cfg Config) huma.Config {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Tenantry",
			Version: cfg.Version,
			Description: "Self-hosted backend for multi-tenant subscription software. " +
				"Every route states its guards (x-guards), its permission (x-permission), its rate-limit group (x-rate-limit), " +
				"and the scope of API keys that opens it, if one does (x-api-key-scope).",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: cfg.PublicURL}},
		Components: &huma.Components{
			Schemas: newRegistry(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "The accessToken of login, register or refresh."},
				"apiKey": {
					Type: "http", Scheme: "bearer", BearerFormat: authz.KeyPrefix + "...",
					Description: "The secret of an API key with the scope of the route (x-api-key-scope).",
				},
			},
		},
	}
	format := jsonFormat()
	return huma.Config{
		OpenAPI:       doc,
		Formats:       map[string]huma.Format{"application/json": format},
		DefaultFormat: "application/json",
	}
}

// describe returns the part of the OpenAPI operation that the route table knows.
// Validation is off in huma, because bind has done it before.
func (a *API) describe(op *operation) huma.Operation {
	r := op.route
	a.ops[r.ID()] = op
	doc := huma.Operation{
		OperationID:        r.ID(),
		Method:             r.Method,
		Path:               r.Path,
		Summary:            r.Summary,
		Tags:               []string{r.tag()},
		DefaultStatus:      op.status,
		SkipValidateBody:   true,
		SkipValidateParams: true,
		MaxBodyBytes:       -1,
		Extensions:         map[string]any{"x-scope": string(r.Scope)},
	}
	if guards := r.Guards(); len(guards) > 0 {
		doc.Security = []map[string][]string{{"bearer": {}}}
		doc.Extensions["x-guards"] = guards
	}
	if r.KeyScope != "" {
		doc.Security = append(doc.Security, map[string][]string{"apiKey": {}})
		doc.Extensions["x-api-key-scope"] = r.KeyScope
	}
	if r.Permission != "" {
		doc.Extensions["x-permission"] = r.Permission
	}
	if r.Rate != "" {
		doc.Extensions["x-rate-limit"] = r.Rate
	}
	doc.Responses = map[string]*huma.Response{
		"500": errorResponse("Internal error"),
		"503": errorResponse("Busy: try again later"),
	}
	return doc
}

// completeDoc adds to the document what is known only after the handler's types:
// parameters that guards read, and the refusals.
func (a *API) completeDoc(op *operation) {
	doc := docOf(a.huma.OpenAPI(), op.route)
	for _, match := range pathNames.FindAllStringSubmatch(op.route.Path, -1) {
		declared := slices.ContainsFunc(doc.Parameters, func(p *huma.Param) bool { return p.In == "path" && p.Name == match[1] })
		if !declared {
			doc.Parameters = append(doc.Parameters, &huma.Param{
				Name: match[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString},
			})
		}
	}
	if op.list != nil {
		a.describeList(doc, *op.list)
	}
	for status, description := range refusals(op) {
		doc.Responses[status] = errorResponse(description)
	}
}

func errorResponse(description string) *huma.Response {
	return &huma.Response{
		Description: description,
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + errorSchemaName}}},
	}
}

var pathNames = regexp.MustCompile(`\{(\w+)}`)

// docOf finds a route's operation in the document.
func docOf(doc *huma.OpenAPI, r Route) *huma.Operation {
	item := doc.Paths[r.Path]
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[r.Method]
}

// refusals returns the statuses that a route can refuse with, as far as they follow
// from the route table. The rules of its domain may add codes.
func refusals(op *operation) map[string]string {
	r := op.route
	statuses := map[string]string{}
	if len(r.Scope.Guards()) > 0 {
		statuses["401"] = "Not authenticated"
	}
	if slices.Contains([]Scope{Member, Tenant, Admin, Billing}, r.Scope) {
		statuses["403"] = "Not allowed"
	}
	if op.list != nil {
		statuses["400"] = "A filter, sort or include that the list does not have"
	}
	if r.Scope == Member || r.Scope == Tenant || op.body != nil {
		statuses["400"] = "Malformed, or without the tenant that it needs (see code)"
	}
	if r.Rate != "" {
		statuses["429"] = "Rate limited, or a quota would be exceeded"
	}
	if strings.Contains(r.Path, "{") {
		statuses["404"] = "Not found"
	}
	if op.body != nil {
		statuses["413"] = "The body is larger than 1 MiB"
		statuses["415"] = "The content type is not JSON"
	}
	if op.body != nil || op.list != nil || len(op.query) > 0 || r.Method != http.MethodGet {
		statuses["422"] = "Invalid, or refused by a rule (see code)"
	}
	return statuses
}

func errorSchema() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject,
		Properties: map[string]*huma.Schema{
			"message": {Type: huma.TypeString, Description: "In errors: text for people, in the locale of Accept-Language. In successes: a translation key."},
			"code":    {Type: huma.TypeString, Description: "For programs: stable and never localized. Absent where none is defined."},
			"errors": {
				Type:        huma.TypeObject,
				Description: "Validation only: the messages of each broken field, by dotted path.",
				AdditionalProperties: &huma.Schema{
					Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
				},
			},
		},
		Required:             []string{"message"},
		AdditionalProperties: true,
	}
}

package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

func humaConfig(cfg Config) huma.Config {
	session := browser{secure: cfg.HTTPS, domain: cfg.CookieDomain}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Tenantry",
			Version:     cfg.Version,
			Description: cfg.Book.About,
			Contact:     &huma.Contact{Name: "Tenantry", URL: "https://github.com/tenantry/tenantry"},
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: cfg.PublicURL}},
		Components: &huma.Components{
			Schemas: newRegistry(cfg.Book.Names),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "The `accessToken` of login, register or refresh."},
				"apiKey": {
					Type: "http", Scheme: "bearer", BearerFormat: authz.KeyPrefix + "...",
					Description: "The secret of an API key with the scope of the route (`x-api-key-scope`).",
				},
				"session": {
					Type: "apiKey", In: "cookie", Name: session.sessionCookie(),
					Description: "The cookie of cookie mode: how a frontend on a first-party origin logs in. `GET /csrf-cookie` sets it, " +
						"logging in replaces it. A request with `Authorization` is never in cookie mode.",
				},
				"csrf": {
					Type: "apiKey", In: "header", Name: "X-XSRF-TOKEN",
					Description: "The value of the cookie `" + csrfCookie + "`, as it is or URL-encoded, also accepted as `X-CSRF-TOKEN`. " +
						"In cookie mode every request that changes something needs it, those that need no login included; else the answer is 419. " +
						"It changes with the session, so it is read from the cookie each time.",
				},
			},
		},
	}
	return huma.Config{
		OpenAPI:       doc,
		Formats:       map[string]huma.Format{"application/json": {Marshal: encode, Unmarshal: shape.Unmarshal}},
		DefaultFormat: "application/json",
	}
}

// describe returns the part of the OpenAPI operation that huma needs. What is answered
// besides successes follows from the whole table and is added later, by package reference.
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
		doc.Extensions["x-guards"] = guards
	}
	for name, value := range map[string]string{"x-api-key-scope": r.KeyScope, "x-permission": r.Permission, "x-rate-limit": r.Rate} {
		if value != "" {
			doc.Extensions[name] = value
		}
	}
	// They keep huma from adding a default answer.
	doc.Responses = map[string]*huma.Response{"500": {}, "503": {}}
	return doc
}

// completed adds to the document what follows from the whole table.
func (a *API) completed() *huma.OpenAPI {
	a.addEvents(a.cfg.Events)
	ops := make([]reference.Operation, 0, len(a.routes)+1)
	for _, r := range a.routes {
		op := a.ops[r.ID()]
		described := reference.Operation{
			Entry: r.Entry, Method: r.Method, Path: r.Path, Scope: string(r.Scope), Permission: r.Permission, Rate: r.Rate,
			KeyScope: r.KeyScope, Input: op.input, List: op.list,
		}
		for _, guard := range r.Guards() {
			described.Guards = append(described.Guards, string(guard))
		}
		ops = append(ops, described)
	}
	doc := a.huma.OpenAPI()
	a.cfg.Book.Complete(doc, ops)
	return doc
}

// success describes an answer that is a file or nothing.
func success(status int, content map[string]*huma.MediaType, headers ...string) *huma.Response {
	response := &huma.Response{Description: http.StatusText(status), Content: content, Headers: map[string]*huma.Param{}}
	for _, name := range headers {
		response.Headers[name] = reference.Header(name)
	}
	return response
}

package rest

import "github.com/tenantry/tenantry/internal/page"

// Lists describes a list in the reference: pages, and the filters, sorts and includes
// of its spec. It enforces nothing: the handler parses the query by the same spec.
func Lists(spec page.Spec) Option { return func(o *operation) { o.list = &spec } }

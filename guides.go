// Package tenantry has the texts that the program carries: the guides and the files that they link to.
package tenantry

import "embed"

// Texts are the guides in Markdown, with their pictures and samples, by their paths in the repository.
//
//go:embed docs/*.md docs/rules/*.md docs/adr/*.md docs/images docs/invoices CHANGELOG.md SECURITY.md deploy/README.md
var Texts embed.FS

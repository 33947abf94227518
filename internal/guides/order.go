package guides

// section is a section of the navigation.
type section struct {
	Title   string
	entries []entry
}

// entry is a page in the navigation: a file of the repository, its name in the navigation, and its
// description. An entry without a file is omitted.
type entry struct {
	file, Title, About string
}

// order is the navigation. Every page of docs is listed here, is in one of the folders, or is in
// leftOut.
var order = []section{
	{"Begin", []entry{
		{"docs/quick-start.md", "Quick start", "From nothing to a paid subscription and a full quota, in ten minutes with curl."},
		{"docs/concepts.md", "Concepts", "Tenants, plans, meters and the way of a request, in pictures."},
		{"docs/sandbox.md", "The sandbox", "Pay with test cards, read mails and move the clock, all on your machine."},
	}},
	{"Build", []entry{
		{"docs/frontend.md", "A frontend of your own", "Cookies or tokens, the pages that mails lead to, delegated login."},
		{"docs/elements.md", "Web components", "Pricing, team, billing and usage for your own pages."},
		{"docs/typescript.md", "TypeScript client", "The client for browsers and Node.js."},
		{"docs/go-client.md", "Go client", "The client for Go programs."},
		{"docs/backend.md", "Integrate your backend", "Create tenants with your own IDs, find and change them, and retry safely."},
		{"docs/metering.md", "Metering", "Record usage from a backend, exactly once, and ask before you serve."},
		{"docs/roles.md", "Roles and permissions", "Who may do what, roles of a tenant's own, invitations."},
		{"docs/webhooks.md", "Webhooks", "Have your program told what happens, and check the signature."},
		{"docs/api-keys.md", "API keys", "Keys for your backend and for your customers' programs."},
		{"docs/localisation.md", "Languages", "Texts, mails and invoices in English, French, Spanish and Italian."},
		{"docs/testing.md", "Testing", "Run the real service in the tests of your product."},
		{"docs/mcp.md", "Assistants (MCP)", "Let an assistant look up tenants, usage and invoices."},
	}},
	{"Sell", []entry{
		{"docs/stripe.md", "Connect Stripe", "What an account at Stripe needs, step by step."},
		{"docs/catalog.md", "The catalog as a file", "Products, plans, prices and meters in one YAML file."},
		{"docs/subscriptions.md", "Subscriptions", "How the service and the payment provider stay in agreement."},
		{"docs/invoices.md", "Invoices and tax", "The provider's invoices or your own, tax, and data for programs."},
		{"docs/self-service.md", "Self-service", "What people do with their own account and organization."},
	}},
	{"Run", []entry{
		{"docs/going-live.md", "Going live", "The list to go through before the first customer."},
		{"docs/identity-providers.md", "Identity providers", "Log in with Google, Microsoft, GitHub or your own issuer."},
		{"docs/mail.md", "Mail and brand", "Your name, your logo and your words."},
		{"deploy/README.md", "Deploying", "A systemd unit, an image, a chart, proxies and alerts."},
		{"docs/operations.md", "Operations", "Backups, what to watch, and what to do when something fails."},
		{"docs/scaling.md", "Scaling", "What one process does, what was measured, and what was not."},
		{"docs/performance.md", "Performance", "What it does in a second, beside what the machine can do at all."},
		{"docs/measurements.md", "Log of measurements", "What was tried for speed, and what it gained."},
		{"docs/metrics.md", "Metrics", "Every figure that the service has for Prometheus."},
		{"docs/security.md", "Security", "What is protected against whom, and the test that guards it."},
		{"docs/migrating.md", "Migrating", "Bring users, tenants and subscriptions from another system."},
		{"docs/upgrading.md", "Upgrading", "The next version, without a break, and the way back."},
	}},
	{"Look up", []entry{
		{"docs/errors.md", "Errors", "Every status and code, with what to do."},
		{"docs/rules/README.md", "Rules", "What the product does, one page a domain."},
		{"docs/glossary.md", "Glossary", "Words that could mean several things, and what they mean here."},
		{"CHANGELOG.md", "Changelog", "What is new in each version."},
		{"docs/adr/README.md", "Decisions", "Why it was built like this."},
		{"docs/dependencies.md", "Dependencies", "The libraries that it stands on, and why."},
		{"SECURITY.md", "Reporting a weakness", "How to tell us about a vulnerability."},
	}},
}

// folders contain pages that are ordered by name. The navigation shows them below the README of the
// folder, but only on pages of the folder.
var folders = []string{"docs/rules", "docs/adr"}

// leftOut holds pages for developers of the program, which are not on the site, and the reason.
var leftOut = map[string]string{
	"docs/words.md":     "how texts are written",
	"docs/releasing.md": "how a version is released",
}

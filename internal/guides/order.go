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
	{"Get started", []entry{
		{"docs/install.md", "Install", "From source, a release, an image or a chart, and which of these were tried."},
		{"docs/quick-start.md", "Quick start", "Create a paid subscription and reach a quota in ten minutes, with curl."},
		{"docs/concepts.md", "Concepts", "Tenants, plans, meters and the path of a request, in diagrams."},
		{"docs/sandbox.md", "The sandbox", "Pay with test cards, read emails and fast-forward time on your machine."},
	}},
	{"Evaluate", []entry{
		{"docs/pricing-models.md", "Pricing models", "Flat, per seat, usage, trials, packs and coupons, with an API call for each."},
		{"docs/comparison.md", "Comparison", "Stripe Billing with Clerk or Supabase, Autumn, Polar and Lago, with sources."},
		{"docs/data-protection.md", "Data protection", "Stored data, retention, export, deletion and sub-processors."},
		{"docs/roadmap.md", "Roadmap", "Missing features, and features left out on purpose."},
		{"docs/support.md", "Support", "Questions, bugs, supported versions and requirements."},
	}},
	{"Build", []entry{
		{"docs/frontend.md", "Custom frontend", "Cookies or tokens, pages for links in emails, delegated login."},
		{"docs/elements.md", "Web components", "Embed pricing, team, billing and usage in your pages."},
		{"docs/typescript.md", "TypeScript client", "Call the API from browsers and Node.js."},
		{"docs/go-client.md", "Go client", "Call the API from Go programs."},
		{"docs/backend.md", "Integrate your backend", "Create tenants with your own IDs, find and change them, and retry safely."},
		{"docs/verify-tokens.md", "Verify tokens", "Know the user, role, plan and features in your backend without a request."},
		{"docs/metering.md", "Metering", "Record usage from a backend exactly once, and check quotas before you serve a request."},
		{"docs/roles.md", "Roles and permissions", "Permissions, custom roles and invitations."},
		{"docs/webhooks.md", "Webhooks", "Receive events in your program and verify their signatures."},
		{"docs/api-keys.md", "API keys", "Authenticate your backend and your customers' programs."},
		{"docs/localisation.md", "Languages", "Texts, emails and invoices in English, French, Spanish and Italian."},
		{"docs/testing.md", "Testing", "Run the real service in the tests of your product."},
		{"docs/mcp.md", "Assistants (MCP)", "Let an assistant look up tenants, usage and invoices."},
	}},
	{"Sell", []entry{
		{"docs/stripe.md", "Connect Stripe", "Set up a Stripe account step by step."},
		{"docs/catalog.md", "The catalog as a file", "Manage products, plans, prices and meters in a YAML file."},
		{"docs/subscriptions.md", "Subscriptions", "How subscriptions stay in sync with the payment provider."},
		{"docs/invoices.md", "Invoices and tax", "Invoices from the provider or from Tenantry, tax and e-invoices."},
		{"docs/self-service.md", "Self-service", "What users can do with their account and organization."},
	}},
	{"Run", []entry{
		{"docs/going-live.md", "Going live", "A checklist before your first customer."},
		{"docs/second-factors.md", "Second factors", "Authenticator apps, passkeys and recovery codes, and how to require them."},
		{"docs/single-sign-on.md", "Single sign-on", "Let organizations verify their domains and connect their own issuer."},
		{"docs/identity-providers.md", "Identity providers", "Log in with Google, Microsoft, GitHub or your own issuer."},
		{"docs/mail.md", "Email and branding", "Your product name, logo and email texts."},
		{"deploy/README.md", "Deploying", "Deploy with systemd, Docker or Helm, with proxies and alerts."},
		{"docs/business.md", "Revenue analytics", "Recurring revenue, churn, retention, cohorts and exchange rates."},
		{"docs/operations.md", "Operations", "Backups, monitoring and troubleshooting."},
		{"docs/scaling.md", "Scaling", "Limits of one process, running several instances, and measurements."},
		{"docs/performance.md", "Performance", "Requests per second, compared with the limits of the machine."},
		{"docs/measurements.md", "Measurements", "Performance experiments and their results."},
		{"docs/metrics.md", "Metrics", "All Prometheus metrics of the service."},
		{"docs/security.md", "Security", "Threats, protections and the tests that verify them."},
		{"docs/migrating.md", "Migrating", "Import users, tenants and subscriptions from another system."},
		{"docs/upgrading.md", "Upgrading", "Zero-downtime upgrades and rollbacks."},
	}},
	{"Reference", []entry{
		{"docs/errors.md", "Errors", "All statuses and error codes, with recommended actions."},
		{"docs/rules/README.md", "Rules", "Detailed behavior, one page per domain."},
		{"docs/glossary.md", "Glossary", "Definitions of the terms in code and docs."},
		{"CHANGELOG.md", "Changelog", "Changes in each version."},
		{"docs/adr/README.md", "Decisions", "Architecture decision records."},
		{"docs/dependencies.md", "Dependencies", "Third-party libraries and why they are used."},
		{"SECURITY.md", "Reporting a vulnerability", "How to report a security issue."},
	}},
}

// folders contain pages that are ordered by name. The navigation shows them below the README of the
// folder, but only on pages of the folder.
var folders = []string{"docs/rules", "docs/adr"}

// leftOut holds pages for developers of the program, which are not on the site, and the reason.
var leftOut = map[string]string{
	"docs/words.md":     "describes how texts are written",
	"docs/releasing.md": "describes how a version is released",
}

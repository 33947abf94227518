// Package distribution defines where each table is stored if Citus distributes the database over
// several machines (docs/adr/0030). It is the source of deploy/citus/distribute.sql. On every
// PostgreSQL server, tests check the keys and references of distributed tables against it. SQLite,
// which is never distributed, has these keys without the tenant.
package distribution

// Class defines where the rows of a table are stored.
type Class string

// The classes.
const (
	// Distributed tables are split into shards by tenant_id. All rows of a tenant are on one
	// machine.
	Distributed Class = "distributed"
	// Reference tables are replicated to every machine, so that every shard can refer to them. A
	// change is applied on all machines, and changes of one table are serialized.
	Reference Class = "reference"
	// Local tables stay on the coordinator. Citus knows them, so that it can commit a transaction
	// on the coordinator and workers in two phases.
	Local Class = "local"
)

// Column is the distribution column.
const Column = "tenant_id"

// Tables holds the class of each table. A distributed table refers only to distributed and
// reference tables, and no other table refers to it.
var Tables = map[string]Class{
	// Data that tenants refer to. It rarely changes and is joined with everything.
	"currencies":   Reference,
	"discounts":    Reference,
	"entitlements": Reference,
	"features":     Reference,
	"meter_links":  Reference,
	"meter_prices": Reference,
	"meter_sales":  Reference,
	"meters":       Reference,
	"pack_prices":  Reference,
	"packs":        Reference,
	"plan_prices":  Reference,
	"plans":        Reference,
	"products":     Reference,
	"tenants":      Reference,

	// Joined with the catalog.
	"psp_price_states": Reference,

	// They map customers in the provider's notifications to tenants.
	"former_psp_customers": Reference,
	"psp_customers":        Reference,

	"usage_peaks": Reference,

	// Purchases, usage and payments. They grow with tenants and usage.
	"change_previews":       Distributed,
	"checkouts":             Distributed,
	"credit_entries":        Distributed,
	"credit_note_documents": Distributed,
	"credit_note_lines":     Distributed,
	"credit_notes":          Distributed,
	"discount_redemptions":  Distributed,
	"invoice_documents":     Distributed,
	"invoice_lines":         Distributed,
	"invoices":              Distributed,
	"pack_purchases":        Distributed,
	"payment_entries":       Distributed,
	"psp_invoice_lines":     Distributed,
	"psp_invoices":          Distributed,
	"psp_operations":        Distributed,
	"quota_refusals":        Distributed,
	"subscriptions":         Distributed,
	"trials":                Distributed,
	"entitlement_digests":   Distributed,
	"limit_overrides":       Distributed,
	"usage_alerts":          Distributed,
	"usage_counters":        Distributed,
	"usage_days":            Distributed,
	"usage_events":          Distributed,
	"usage_grants":          Distributed,
	"usage_hours":           Distributed,
	"usage_keys":            Distributed,
	"usage_refusals":        Distributed,
	"usage_reservations":    Distributed,
	"usage_streams":         Distributed,
	"waiting_items":         Distributed,

	// Identities. Emails, token hashes and the single membership of a user are unique across the
	// database. Every request joins these tables, which takes one query on one machine. The tables are
	// also the directory from tokens to tenants.
	"api_keys":            Local,
	"avatars":             Local,
	"credentials":         Local,
	"email_codes":         Local,
	"email_verifications": Local,
	"former_memberships":  Local,
	"invitations":         Local,
	"invited_addresses":   Local,
	"known_devices":       Local,
	"login_challenges":    Local,
	"memberships":         Local,
	"oauth_codes":         Local,
	"oauth_flows":         Local,
	"oauth_identities":    Local,
	"passkey_challenges":  Local,
	"passkeys":            Local,
	"password_resets":     Local,
	"push_subscriptions":  Local,
	"recovery_codes":      Local,
	"role_permissions":    Local,
	"roles":               Local,
	"sso_connections":     Local,
	"sso_identities":      Local,
	"tenant_domains":      Local,
	"user_totp":           Local,
	"user_words":          Local,
	"users":               Local,
	"wrong_passwords":     Local,

	// Queues, which are processed across tenants.
	"jobs":               Local,
	"psp_events":         Local,
	"psp_tenants":        Local,
	"usage_reports":      Local,
	"usage_told":         Local,
	"webhook_deliveries": Local,
	"webhook_endpoints":  Local,
	"webhook_events":     Local,
	"webhook_exchanges":  Local,
	"webhook_failures":   Local,

	// Tables with rows of both the platform and tenants, which administrators read by time or across
	// tenants.
	"audit_days":             Local,
	"audit_logs":             Local,
	"audit_tenants":          Local,
	"invoice_copies":         Local,
	"invoice_sums":           Local,
	"search_words":           Local,
	"impersonation_logs":     Local,
	"quota_refusal_days":     Local,
	"request_log_gaps":       Local,
	"request_logs":           Local,
	"subscription_days":      Local,
	"subscription_journal":   Local,
	"subscription_histories": Local,

	// Small tables that do not belong to tenants.
	"exchange_rates":         Local,
	"idempotency_keys":       Local,
	"imported":               Local,
	"installation":           Local,
	"credit_note_numbers":    Local,
	"invoice_numbers":        Local,
	"platform_keys":          Local,
	"psp_catalog_operations": Local,
	"psp_cursor":             Local,
	"signing_keys":           Local,
	"usage_archives":         Local,
	"usage_recounts":         Local,
	"webhook_platform":       Local,
}

// TenantKeys are the keys that end with the tenant. The columns before it are unique across the
// service, which PostgreSQL cannot enforce because Citus requires the tenant in every key. Each
// value is the reason why they are unique across tenants. A key that starts with the tenant is
// unique within the tenant.
var TenantKeys = map[string]string{
	"checkouts_pkey":                        "the id is a hash of the purchase, the tenant included",
	"checkouts_psp_session_id_key":          "the provider gives the id, to the checkout that asked",
	"credit_notes_number_key":               "the row of the year in credit_note_numbers is locked while a number is taken",
	"invoice_documents_pkey":                "the id of an invoice follows from the provider's, which belongs to one tenant",
	"discount_redemptions_pkey":             "the id is the id of a checkout or an operation",
	"invoice_lines_id_key":                  "the ID is derived from the ID of the invoice or of the provider's line",
	"invoice_lines_pkey":                    "the id of an invoice follows from the provider's, which belongs to one tenant",
	"invoices_number_key":                   "the row of the year in invoice_numbers is locked while a number is taken",
	"invoices_pkey":                         "the id of an invoice follows from the provider's, which belongs to one tenant",
	"invoices_psp_invoice_id_key":           "an invoice of the provider belongs to the tenant of its customer",
	"invoices_year_sequence_key":            "the row of the year in invoice_numbers is locked while a number is taken",
	"pack_purchases_pkey":                   "the id is a hash of the purchase, the tenant included",
	"pack_purchases_psp_session_id_key":     "the provider gives the id, to the checkout that asked",
	"payment_entries_pkey":                  "the coordinator gives the numbers",
	"psp_invoices_pkey":                     "an invoice of the provider belongs to the tenant of its customer",
	"psp_operations_pending_key":            "a subscription has one tenant",
	"psp_operations_pkey":                   "the id is random (UUIDv7)",
	"subscriptions_pkey":                    "the id is random (UUIDv7)",
	"subscriptions_psp_subscription_id_key": "a subscription of the provider belongs to the tenant of its customer",
	"usage_alerts_pkey":                     "the id is random (UUIDv7)",
	"usage_refusals_pkey":                   "the id is random (UUIDv7), or a hash of the reported figure, including the tenant",
}

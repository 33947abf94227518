package billing

// The collection methods of subscriptions and invoices.
const (
	ChargeAutomatically = "charge_automatically"
	SendInvoice         = "send_invoice"
)

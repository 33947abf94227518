package subscriptions

import "github.com/tenantry/tenantry/sandbox/stripe/kernel"

// Routes returns the endpoints for subscriptions, their schedules and items, and the endpoints that
// pay or end an invoice.
func Routes() []kernel.Route {
	return []kernel.Route{
		{Method: "POST", Pattern: "/v1/subscriptions", Run: createSubscription},
		{Method: "GET", Pattern: "/v1/subscriptions", Run: listSubscriptions},
		{Method: "GET", Pattern: "/v1/subscriptions/{id}", Run: getSubscription},
		{Method: "POST", Pattern: "/v1/subscriptions/{id}", Run: updateSubscription},
		{Method: "DELETE", Pattern: "/v1/subscriptions/{id}", Run: cancelSubscription},
		{Method: "POST", Pattern: "/v1/subscriptions/{id}/resume", Run: resumeSubscription},
		{Method: "DELETE", Pattern: "/v1/subscriptions/{id}/discount", Run: deleteDiscount},
		{Method: "POST", Pattern: "/v1/subscription_schedules", Run: createSchedule},
		{Method: "GET", Pattern: "/v1/subscription_schedules", Run: listSchedules},
		{Method: "GET", Pattern: "/v1/subscription_schedules/{id}", Run: getSchedule},
		{Method: "POST", Pattern: "/v1/subscription_schedules/{id}", Run: updateSchedule},
		{Method: "POST", Pattern: "/v1/subscription_schedules/{id}/release", Run: releaseSchedule},
		{Method: "POST", Pattern: "/v1/subscription_schedules/{id}/cancel", Run: cancelSchedule},
		{Method: "GET", Pattern: "/v1/subscription_items", Run: listItems},
		{Method: "GET", Pattern: "/v1/subscription_items/{id}", Run: getItem},
		{Method: "POST", Pattern: "/v1/invoices/create_preview", Run: previewInvoice},
		{Method: "DELETE", Pattern: "/v1/invoices/{id}", Run: deleteInvoice},
		{Method: "POST", Pattern: "/v1/invoices/{id}/finalize", Run: finalizeInvoice},
		{Method: "POST", Pattern: "/v1/invoices/{id}/pay", Run: payInvoice},
		{Method: "POST", Pattern: "/v1/invoices/{id}/void", Run: voidInvoice},
		{Method: "POST", Pattern: "/v1/invoices/{id}/mark_uncollectible", Run: markUncollectible},
	}
}

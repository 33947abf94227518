package kernel

// Route is an endpoint of the API.
type Route struct {
	Method, Pattern string
	Run             Endpoint
}

// Routes returns the endpoints for the account, events and webhook endpoints.
func Routes() []Route {
	return []Route{
		{"GET", "/v1/account", getAccount},
		{"GET", "/v1/events", listEvents},
		{"GET", "/v1/events/{id}", getEvent},
		{"GET", "/v2/core/events/{id}", getThinEvent},
		{"POST", "/v1/webhook_endpoints", createEndpoint},
		{"GET", "/v1/webhook_endpoints", listEndpoints},
		{"GET", "/v1/webhook_endpoints/{id}", getEndpoint},
		{"POST", "/v1/webhook_endpoints/{id}", updateEndpoint},
		{"DELETE", "/v1/webhook_endpoints/{id}", deleteEndpoint},
	}
}

package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// endpoints are the webhook endpoints. endpointSecrets are their signing secrets.
var (
	endpoints       = Kind[webhookEndpoint]{Name: "webhook_endpoint", Prefix: "we", Label: "webhook endpoint", Path: "/v1/webhook_endpoints"}
	endpointSecrets = Kind[endpointSecret]{Name: "sandbox.endpoint_secret"}
)

// webhookEndpoint is a URL that receives events.
type webhookEndpoint struct {
	Header
	APIVersion    *string           `json:"api_version"`
	Application   form.Null         `json:"application"`
	Description   *string           `json:"description"`
	EnabledEvents []string          `json:"enabled_events"`
	Metadata      map[string]string `json:"metadata"`
	Secret        string            `json:"secret,omitempty"` // returned only when the endpoint is created
	Status        string            `json:"status"`
	URL           string            `json:"url"`
}

// endpointSecret is a signing secret. It is stored under the endpoint's id.
type endpointSecret struct {
	Header
	Secret string `json:"secret"`
}

// The statuses of an endpoint.
const (
	endpointEnabled  = "enabled"
	endpointDisabled = "disabled"
)

// maxEndpoints is the maximum number of endpoints.
const maxEndpoints = 16

// configuredEndpoint is the id of the endpoint in the sandbox's configuration.
const configuredEndpoint = "we_sandbox"

// IsSubscribed reports whether events of the type are sent to the endpoint.
func (we webhookEndpoint) IsSubscribed(eventType string) bool {
	return we.Status == endpointEnabled && (slices.Contains(we.EnabledEvents, "*") || slices.Contains(we.EnabledEvents, eventType))
}

// configureEndpoint stores the endpoint in the configuration, which receives all events. If the
// configuration has no endpoint, it removes the endpoint of an earlier configuration.
func (e *Engine) configureEndpoint(ctx context.Context) error {
	return e.Write(ctx, func(ctx context.Context, st *Step) error {
		if e.cfg.WebhookURL == "" {
			return st.removeEndpoint(ctx, configuredEndpoint)
		}
		we, err := endpoints.Find(ctx, st.Q, configuredEndpoint)
		if errors.Is(err, ErrNotFound) {
			we, err = &webhookEndpoint{Header: endpoints.Start(st.Now), EnabledEvents: []string{"*"}, Metadata: map[string]string{}, Status: endpointEnabled}, nil
			we.ID = configuredEndpoint
		}
		if err != nil {
			return err
		}
		we.URL = e.cfg.WebhookURL
		return st.putEndpoint(ctx, *we, e.cfg.WebhookSecret)
	})
}

// putEndpoint stores an endpoint and its secret.
func (st *Step) putEndpoint(ctx context.Context, we webhookEndpoint, secret string) error {
	kept := endpointSecret{Header: Header{ID: we.ID, Object: endpointSecrets.Name, Created: we.Created}, Secret: secret}
	if err := Put(ctx, st.Q, kept); err != nil {
		return err
	}
	we.Secret = ""
	return Put(ctx, st.Q, we)
}

// removeEndpoint removes an endpoint and its queued deliveries.
func (st *Step) removeEndpoint(ctx context.Context, id string) error {
	if err := endpoints.Remove(ctx, st.Q, id); err != nil {
		return err
	}
	if err := endpointSecrets.Remove(ctx, st.Q, id); err != nil {
		return err
	}
	return st.dropDeliveries(ctx, id)
}

// dropDeliveries removes the queued deliveries of an endpoint.
func (st *Step) dropDeliveries(ctx context.Context, id string) error {
	if _, err := st.Q.ExecContext(ctx, `DELETE FROM stripe_deliveries WHERE endpoint = ?`, id); err != nil {
		return fmt.Errorf("drop deliveries: %w", err)
	}
	return nil
}

// receivers returns the endpoints that are subscribed to the event type, oldest first.
func receivers(ctx context.Context, q Querier, eventType string) ([]*webhookEndpoint, error) {
	all, err := endpoints.FindWhere(ctx, q, `doc ->> '$.status' = 'enabled'`)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(we *webhookEndpoint) bool { return !we.IsSubscribed(eventType) }), nil
}

// HasReceiver reports whether an enabled endpoint exists.
func (e *Engine) HasReceiver(ctx context.Context) (bool, error) {
	all, err := endpoints.FindWhere(ctx, e.cfg.DB, `doc ->> '$.status' = 'enabled'`)
	return len(all) > 0, err
}

// read reads the parameters that creating and updating an endpoint have in common.
func (we *webhookEndpoint) read(p *form.Params) {
	p.ReadClearable("description", &we.Description)
	p.Metadata(&we.Metadata)
	given := &we.URL
	p.URL("url", &given)
	if given == nil {
		p.ReadFilled("url") // the URL cannot be unset
	} else {
		we.URL = *given
	}
	if !p.Has("enabled_events") {
		return
	}
	we.EnabledEvents = p.Texts("enabled_events")
	if len(we.EnabledEvents) == 0 {
		p.Fail("enabled_events", "parameter_invalid_empty", "You must enable at least one event.")
	}
	for _, name := range we.EnabledEvents {
		if name != "*" && (!strings.Contains(name, ".") || strings.ContainsAny(name, " *")) {
			p.Fail("enabled_events", "", "Invalid enabled_events: %s is not the type of an event.", name)
		}
	}
}

// createEndpoint handles POST /v1/webhook_endpoints. Only this response contains the secret.
func createEndpoint(ctx context.Context, c *Call) (any, error) {
	we := webhookEndpoint{Header: endpoints.Start(c.Now), Status: endpointEnabled}
	p := c.Params
	p.Require("url", "enabled_events")
	we.read(p)
	if p.Has("api_version") {
		var version string
		p.Choice("api_version", &version, APIVersion)
		we.APIVersion = &version
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	var n int
	if err := c.Q.QueryRowContext(ctx, `SELECT count(*) FROM stripe_objects WHERE kind = ?`, endpoints.Name).Scan(&n); err != nil {
		return nil, fmt.Errorf("count endpoints: %w", err)
	}
	if n >= maxEndpoints {
		return nil, form.Refuse("", "", "You have reached the maximum of %d test webhook endpoints.", maxEndpoints)
	}
	secret := "whsec_" + form.RandomText(32, form.Alphanumeric)
	if err := c.putEndpoint(ctx, we, secret); err != nil {
		return nil, err
	}
	we.Secret = secret
	return we, nil
}

// getEndpoint handles GET /v1/webhook_endpoints/{id}.
func getEndpoint(ctx context.Context, c *Call) (any, error) { return Retrieve(ctx, c, endpoints) }

// listEndpoints handles GET /v1/webhook_endpoints.
func listEndpoints(ctx context.Context, c *Call) (any, error) {
	return endpoints.Page(ctx, c, Filter{})
}

// updateEndpoint handles POST /v1/webhook_endpoints/{id}. Disabling an endpoint drops its queued
// deliveries.
func updateEndpoint(ctx context.Context, c *Call) (any, error) {
	we, err := endpoints.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	we.read(c.Params)
	disabled := we.Status == endpointDisabled
	c.Params.Boolean("disabled", &disabled)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	we.Status = endpointEnabled
	if disabled {
		we.Status = endpointDisabled
		if err := c.dropDeliveries(ctx, we.ID); err != nil {
			return nil, err
		}
	}
	return we, Put(ctx, c.Q, we)
}

// deleteEndpoint handles DELETE /v1/webhook_endpoints/{id}.
func deleteEndpoint(ctx context.Context, c *Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	we, err := endpoints.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	gone := DeletedObject{ID: we.ID, Object: we.Object, Deleted: true}
	return gone, c.removeEndpoint(ctx, we.ID)
}

// DeletedObject is the response to the deletion of an object.
type DeletedObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// errUnsent means that an endpoint was removed before an event was delivered.
var errUnsent = errors.New("the endpoint is gone")

// address returns the URL and the signing secret of an endpoint. It returns errUnsent if the
// endpoint does not exist.
func (e *Engine) address(ctx context.Context, id string) (url, secret string, err error) {
	we, err := endpoints.Find(ctx, e.cfg.DB, id)
	if err == nil {
		var kept *endpointSecret
		if kept, err = endpointSecrets.Find(ctx, e.cfg.DB, id); err == nil {
			return we.URL, kept.Secret, nil
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = errUnsent
	}
	return "", "", err
}

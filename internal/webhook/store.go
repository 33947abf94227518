package webhook

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/webhook/webhooksql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *webhooksql.Queries { return webhooksql.New(s.db.Conn(ctx)) }

func (s store) insert(ctx context.Context, e Endpoint) error {
	text, err := e.secrets.encode()
	if err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).InsertEndpoint(ctx, webhooksql.InsertEndpointParams{
		ID: e.ID, TenantID: e.TenantID, URL: e.URL, Types: strings.Join(e.Types, ","), Description: e.Description,
		Secrets: text, CreatedAt: e.CreatedAt,
	}), "insert webhook endpoint")
}

// list returns the endpoints of a tenant, or the platform's for nil, newest first.
func (s store) list(ctx context.Context, tenantID *uuid.UUID) ([]Endpoint, error) {
	var rows []webhooksql.WebhookEndpoint
	var err error
	if tenantID == nil {
		rows, err = s.q(ctx).EndpointsOfPlatform(ctx)
	} else {
		rows, err = s.q(ctx).EndpointsOfTenant(ctx, *tenantID)
	}
	if err != nil {
		return nil, sqldb.Wrap(err, "list webhook endpoints")
	}
	return endpoints(rows)
}

// listAll returns every endpoint.
func (s store) listAll(ctx context.Context) ([]Endpoint, error) {
	rows, err := s.q(ctx).AllEndpoints(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list all webhook endpoints")
	}
	return endpoints(rows)
}

func endpoints(rows []webhooksql.WebhookEndpoint) ([]Endpoint, error) {
	list := make([]Endpoint, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = endpointOf(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func endpointOf(row webhooksql.WebhookEndpoint) (Endpoint, error) {
	kept, err := readSecrets(row.Secrets)
	return Endpoint{
		ID: row.ID, TenantID: row.TenantID, URL: row.URL, Types: strings.Split(row.Types, ","), Description: row.Description,
		Enabled: row.IsEnabled, DisabledReason: row.DisabledReason, CreatedAt: row.CreatedAt, LastDeliveryAt: row.LastDeliveryAt,
		secrets: kept, failingSince: row.FailingSince,
	}, err
}

// get returns an endpoint, or errNotFound.
func (s store) get(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Endpoint, error) {
	row, err := s.q(ctx).Endpoint(ctx, webhooksql.EndpointParams{ID: id, TenantID: tenantID})
	if err != nil {
		return Endpoint{}, sqldb.WrapAbsent(err, "read webhook endpoint", errNotFound)
	}
	return endpointOf(row)
}

// lock locks an endpoint against other changes and returns it, or errNotFound.
func (s store) lock(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Endpoint, error) {
	row, err := s.q(ctx).LockEndpoint(ctx, webhooksql.LockEndpointParams{ID: id, TenantID: tenantID})
	if err != nil {
		return Endpoint{}, sqldb.WrapAbsent(err, "lock webhook endpoint", errNotFound)
	}
	return endpointOf(row)
}

// lockPlatform locks the row that represents the platform.
func (s store) lockPlatform(ctx context.Context) error {
	_, err := s.q(ctx).LockPlatform(ctx)
	return sqldb.Wrap(err, "lock the platform's webhook endpoints")
}

func (s store) count(ctx context.Context, tenantID *uuid.UUID) (n int64, err error) {
	if tenantID == nil {
		n, err = s.q(ctx).CountPlatformEndpoints(ctx)
	} else {
		n, err = s.q(ctx).CountEndpoints(ctx, *tenantID)
	}
	return n, sqldb.Wrap(err, "count webhook endpoints")
}

func (s store) update(ctx context.Context, e Endpoint) error {
	text, err := e.secrets.encode()
	if err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).UpdateEndpoint(ctx, webhooksql.UpdateEndpointParams{
		ID: e.ID, URL: e.URL, Types: strings.Join(e.Types, ","), Description: e.Description, IsEnabled: e.Enabled,
		DisabledReason: e.DisabledReason, Secrets: text, FailingSince: e.failingSince, TenantID: e.TenantID,
	}), "change webhook endpoint")
}

// delete deletes an endpoint with its deliveries. It returns errNotFound if there is no such
// endpoint.
func (s store) delete(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) error {
	n, err := s.q(ctx).DeleteEndpoint(ctx, webhooksql.DeleteEndpointParams{ID: id, TenantID: tenantID})
	if err == nil && n == 0 {
		return errNotFound
	}
	return sqldb.Wrap(err, "delete webhook endpoint")
}

// listListeners returns the endpoints that can receive events of a tenant, or of the platform for
// nil. It protects them from deletion until the transaction of ctx ends.
func (s store) listListeners(ctx context.Context, tenantID *uuid.UUID) ([]listener, error) {
	rows, err := s.q(ctx).Listening(ctx, tenantID)
	all := make([]listener, len(rows))
	for i, row := range rows {
		all[i] = listener{id: row.ID, types: strings.Split(row.Types, ","), enabled: row.IsEnabled}
	}
	return all, sqldb.Wrap(err, "find subscribed webhook endpoints")
}

func (s store) insertEvent(ctx context.Context, id uuid.UUID, e hook.Event, body []byte, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertEvent(ctx, webhooksql.InsertEventParams{
		ID: id, TenantID: e.TenantID, Type: string(e.Type), Body: string(body), CreatedAt: now,
	}), "insert webhook event")
}

func (s store) insertDelivery(ctx context.Context, endpointID uuid.UUID, d Delivery) error {
	return sqldb.Wrap(s.q(ctx).InsertDelivery(ctx, webhooksql.InsertDeliveryParams{
		ID: d.ID, EndpointID: endpointID, EventID: d.EventID, Type: d.Type, Status: d.Status,
		NextAttemptAt: d.NextAttemptAt, CreatedAt: d.CreatedAt,
	}), "insert webhook delivery")
}

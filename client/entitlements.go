package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

const (
	// entitlementsFresh is how long entitlements are returned without a request.
	entitlementsFresh = time.Minute
	// entitlementsStale is the maximum age of entitlements that are returned during an outage.
	entitlementsStale = 24 * time.Hour
	// entitlementsTimeout is the timeout of a request. patience is the timeout if cached
	// entitlements can be returned instead.
	entitlementsTimeout = 30 * time.Second
	patience            = 5 * time.Second
	// maxTenants is the maximum number of tenants in the cache.
	maxTenants = 10_000
)

// CachedEntitlements returns the entitlements of a tenant, like ListEntitlements, from a cache in
// the client.
//
// Entitlements are cached for a minute. If the service is unreachable or responds with a 5xx
// status, entitlements that are up to 24 hours old are returned, but never after their valid_until
// if the response had one. Other errors are returned, and 401, 403 and 404 also remove the
// entitlements from the cache.
func (c *Client) CachedEntitlements(ctx context.Context, tenant string) ([]api.Entitlement, error) {
	e := c.entitlements
	e.mu.Lock()
	cached, isCached := e.tenants[tenant]
	now := time.Now()
	if isCached && now.Sub(cached.loaded) < entitlementsFresh && cached.isValid(now) {
		e.mu.Unlock()
		return slices.Clone(cached.list), nil
	}
	isUsable := isCached && now.Sub(cached.loaded) < entitlementsStale && cached.isValid(now)
	f := e.flights[tenant]
	if f == nil {
		f = e.start(ctx, c, tenant, isUsable)
	}
	e.mu.Unlock()
	loaded, err := f.wait(ctx)
	switch {
	case err == nil:
		return slices.Clone(loaded.list), nil
	case isUsable && isOutage(err) && cached.isValid(time.Now()):
		return slices.Clone(cached.list), nil
	default:
		return nil, err
	}
}

// entitlementCache holds the entitlements of tenants and the requests in progress.
type entitlementCache struct {
	mu      sync.Mutex
	tenants map[string]entitlements
	flights map[string]*flight[entitlements]
}

func newEntitlementCache() *entitlementCache {
	return &entitlementCache{tenants: map[string]entitlements{}, flights: map[string]*flight[entitlements]{}}
}

// entitlements are the entitlements of one tenant.
type entitlements struct {
	list   []api.Entitlement
	loaded time.Time  // when the request began
	until  *time.Time // the earliest valid_until of the response; nil if missing
}

func (e entitlements) isValid(now time.Time) bool { return e.until == nil || now.Before(*e.until) }

// start requests the entitlements of a tenant. The caller holds the lock. If cached entitlements
// are usable, start makes a single short attempt, so that an outage does not delay the caller for
// long.
func (e *entitlementCache) start(ctx context.Context, c *Client, tenant string, isUsable bool) *flight[entitlements] {
	timeout, calls := entitlementsTimeout, *c
	if isUsable {
		timeout, calls.attempts = patience, 1
	}
	load := func(ctx context.Context) (entitlements, error) { return calls.loadEntitlements(ctx, tenant) }
	f := startFlight(ctx, timeout, load, func(loaded entitlements, err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.flights, tenant)
		switch StatusOf(err) {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			delete(e.tenants, tenant)
		}
		if err == nil {
			e.put(tenant, loaded)
		}
	})
	e.flights[tenant] = f
	return f
}

// put stores entitlements. In a full cache they replace the entitlements of a random tenant.
func (e *entitlementCache) put(tenant string, loaded entitlements) {
	if _, isCached := e.tenants[tenant]; !isCached && len(e.tenants) >= maxTenants {
		for other := range e.tenants {
			delete(e.tenants, other)
			break
		}
	}
	e.tenants[tenant] = loaded
}

// isOutage reports whether a request failed because the service is unreachable or failing.
func isOutage(err error) bool {
	if status := StatusOf(err); status != 0 {
		return status >= http.StatusInternalServerError
	}
	return !errors.Is(err, context.Canceled)
}

// loadEntitlements requests the entitlements of a tenant.
func (c *Client) loadEntitlements(ctx context.Context, tenant string) (entitlements, error) {
	e := entitlements{loaded: time.Now(), list: []api.Entitlement{}}
	path := "/api/v1/tenant/" + url.PathEscape(tenant) + "/entitlements"
	resp, err := c.send(ctx, api.Request{Method: http.MethodGet, Path: path, Idempotent: true})
	if err != nil {
		return e, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := api.ReadBody(resp)
	if err != nil {
		return e, fmt.Errorf("tenantry: %w", err)
	}
	var body struct {
		Data []struct {
			api.Entitlement

			ValidUntil *time.Time `json:"valid_until"`
		} `json:"data"`
		ValidUntil *time.Time `json:"valid_until"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return e, fmt.Errorf("tenantry: read the entitlements: %w", err)
	}
	e.until = body.ValidUntil
	for _, row := range body.Data {
		e.list = append(e.list, row.Entitlement)
		if row.ValidUntil != nil && (e.until == nil || row.ValidUntil.Before(*e.until)) {
			e.until = row.ValidUntil
		}
	}
	return e, nil
}

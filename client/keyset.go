package client

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

const (
	// keysFresh is the age after which the key set is reloaded in the background. keysStale is the
	// maximum age of a key set that is used while reloading fails.
	keysFresh = 5 * time.Minute
	keysStale = 24 * time.Hour
	// keysPause is the minimum time between two requests, except before the first key set.
	keysPause   = time.Minute
	keysTimeout = 10 * time.Second
)

// keySet is the cached key set of the service.
type keySet struct {
	mu     sync.Mutex
	keys   map[string]*ecdsa.PublicKey // by ID; nil before the first response
	loaded time.Time
	tried  time.Time // when the last request began; not set before the first key set
	flight *flight[map[string]*ecdsa.PublicKey]
}

// find returns the key with an ID. It loads the key set before its first use. For an unknown ID, it
// reloads the key set at most once a minute.
func (s *keySet) find(ctx context.Context, c *Client, id string) (*ecdsa.PublicKey, error) {
	s.mu.Lock()
	now := time.Now()
	age := now.Sub(s.loaded)
	key := s.keys[id]
	if age >= keysStale {
		key = nil
	}
	isDue := age >= keysFresh || key == nil
	if isDue && s.flight == nil && (s.keys == nil || now.Sub(s.tried) >= keysPause) {
		s.start(ctx, c, now)
	}
	loading := s.flight
	s.mu.Unlock()
	switch {
	case key != nil:
		return key, nil
	case loading == nil:
		return nil, errUnknownKey
	}
	keys, err := loading.wait(ctx)
	if err != nil {
		return nil, err
	}
	if keys[id] == nil {
		return nil, errUnknownKey
	}
	return keys[id], nil
}

var errUnknownKey = invalid("it was signed with an unknown key")

// start requests the key set. The caller holds the lock.
func (s *keySet) start(ctx context.Context, c *Client, now time.Time) {
	if s.keys != nil {
		s.tried = now
	}
	s.flight = startFlight(ctx, keysTimeout, c.loadKeys, func(keys map[string]*ecdsa.PublicKey, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flight = nil
		if err == nil {
			s.keys, s.loaded = keys, now
		}
	})
}

// publicKey is a key of the key set (RFC 7517).
type publicKey struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// loadKeys requests the key set, without credentials and without retries. It ignores keys for
// algorithms other than ES256.
func (c *Client) loadKeys(ctx context.Context) (map[string]*ecdsa.PublicKey, error) {
	resp, err := c.sendOnce(ctx, api.Request{Method: http.MethodGet, Path: "/.well-known/jwks.json"}, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	text, err := api.ReadBody(resp)
	if err != nil {
		return nil, fmt.Errorf("tenantry: %w", err)
	}
	var set struct {
		Keys []publicKey `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("tenantry: read the key set: %w", err)
	}
	keys := make(map[string]*ecdsa.PublicKey, len(set.Keys))
	for _, k := range set.Keys {
		if key := parseKey(k); key != nil {
			keys[k.ID] = key
		}
	}
	return keys, nil
}

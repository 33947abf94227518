package sso

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// MaxDocument is the maximum size of a document of an issuer, in bytes.
	MaxDocument = 64 << 10
	// documentLifetime is how long a document is cached.
	documentLifetime = time.Hour
	// keyPause is the minimum time between two requests for the keys that unknown key IDs trigger.
	keyPause = time.Minute
	// minRSABits is the minimum size of an RSA key (RFC 7518, section 3.3).
	minRSABits = 2048
)

// algorithms are the accepted algorithms of ID tokens.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// isAccepted reports whether a key is a public key for one of the algorithms.
func isAccepted(key jose.JSONWebKey) bool {
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey:
		return k.Curve == elliptic.P256()
	}
	return false
}

// issuers reads and caches the documents of issuers.
type issuers struct {
	client    *safehttp.Client
	reachable []netip.Prefix
	clock     clock.Clock

	mu    sync.Mutex
	known map[string]*document
}

func newIssuers(client *safehttp.Client, reachable []netip.Prefix, c clock.Clock) *issuers {
	return &issuers{client: client, reachable: reachable, clock: c, known: map[string]*document{}}
}

// metadata is the part of a discovery document that a login uses.
type metadata struct {
	Issuer        string   `json:"issuer"`
	AuthURL       string   `json:"authorization_endpoint"`
	TokenURL      string   `json:"token_endpoint"`
	KeysURL       string   `json:"jwks_uri"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	AnnouncesSelf bool     `json:"authorization_response_iss_parameter_supported"`
}

// document holds the documents of an issuer.
type document struct {
	metadata
	readAt time.Time

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	keysAt  time.Time
	triedAt time.Time // of the latest request because of an unknown key ID
}

// checkURL returns an error for a URL that the client never requests.
func (i *issuers) checkURL(address string) error {
	u, err := safehttp.CheckURL(address)
	if err != nil {
		return err
	}
	if u.Scheme != "https" && len(i.reachable) == 0 {
		return fmt.Errorf("%w: must be https", safehttp.ErrForbidden)
	}
	return safehttp.CheckHost(u.Hostname(), i.reachable)
}

// get returns the documents of an issuer, which are at most an hour old.
func (i *issuers) get(ctx context.Context, issuer string) (*document, error) {
	i.mu.Lock()
	d := i.known[issuer]
	i.mu.Unlock()
	if d != nil && i.clock.Now().Sub(d.readAt) < documentLifetime {
		return d, nil
	}
	return i.fetch(ctx, issuer)
}

// read reads the discovery document of an issuer again, and checks that the client accepts the
// addresses of its endpoints.
func (i *issuers) read(ctx context.Context, issuer string) error {
	d, err := i.fetch(ctx, issuer)
	if err != nil {
		return err
	}
	for _, endpoint := range []string{d.AuthURL, d.TokenURL, d.KeysURL} {
		if err := i.client.Check(ctx, endpoint); err != nil {
			return err
		}
	}
	return nil
}

func (i *issuers) fetch(ctx context.Context, issuer string) (*document, error) {
	d := &document{readAt: i.clock.Now()}
	if err := i.getJSON(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &d.metadata); err != nil {
		return nil, err
	}
	if d.Issuer != issuer {
		return nil, errors.New("the discovery document names another issuer")
	}
	for _, endpoint := range []string{d.AuthURL, d.TokenURL, d.KeysURL} {
		if endpoint == "" {
			return nil, errors.New("the discovery document lacks an endpoint")
		}
		if err := i.checkURL(endpoint); err != nil {
			return nil, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for name, old := range i.known {
		if d.readAt.Sub(old.readAt) >= documentLifetime {
			delete(i.known, name)
		}
	}
	i.known[issuer] = d
	return d, nil
}

func (i *issuers) getJSON(ctx context.Context, address string, into any) error {
	resp, err := i.client.Get(ctx, address)
	if err != nil {
		return err
	}
	if resp.Status != http.StatusOK {
		return fmt.Errorf("the issuer answered with status %d", resp.Status)
	}
	return json.Unmarshal(resp.Body, into)
}

// keySet verifies signatures with the keys of an issuer. It implements oidc.KeySet.
type keySet struct {
	*issuers
	of *document
}

// VerifySignature returns the payload of a token if one of the keys has signed it.
func (k keySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	token, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil {
		return nil, err
	}
	if len(token.Signatures) != 1 {
		return nil, errors.New("the token does not have one signature")
	}
	kid := token.Signatures[0].Header.KeyID
	keys, err := k.loadKeys(ctx, kid)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if payload, err := token.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key of the issuer has signed the token")
}

// loadKeys returns the keys that can have signed a token with a key ID, which can be empty.
func (k keySet) loadKeys(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	now := k.clock.Now()
	k.of.mu.Lock()
	matching, isOld := matchingKeys(k.of.keys, kid), now.Sub(k.of.keysAt) >= documentLifetime
	isUnknown := len(matching) == 0 && now.Sub(k.of.triedAt) >= keyPause
	if isUnknown && !isOld {
		k.of.triedAt = now
	}
	k.of.mu.Unlock()
	if !isOld && !isUnknown {
		return matching, nil
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.getJSON(ctx, k.of.KeysURL, &set); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && key.Valid() && isAccepted(key) { // skip other keys
			keys = append(keys, key)
		}
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	k.of.keys, k.of.keysAt = keys, now
	return matchingKeys(keys, kid), nil
}

func matchingKeys(keys []jose.JSONWebKey, kid string) []jose.JSONWebKey {
	return slices.DeleteFunc(slices.Clone(keys), func(key jose.JSONWebKey) bool {
		return key.Use == "enc" || kid != "" && key.KeyID != kid
	})
}

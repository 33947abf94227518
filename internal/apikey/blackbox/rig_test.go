package blackbox_test

import (
	"regexp"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// secretForm matches a secret.
var secretForm = regexp.MustCompile(`^tnk_[0-9A-Za-z]{48}$`)

// usageWrite is a request body for a key that can record usage.
var usageWrite = apptest.Object{"name": "Metering", "scopes": []string{"usage.write"}}

// platformKeys is the path of the platform keys.
const platformKeys = "/api/v1/admin/api-keys"

// makeKey creates a tenant key and returns its ID and secret.
func makeKey(s *apptest.Server, o apptest.Owner, scopes ...string) (id, secret string) {
	s.T.Helper()
	a := s.Call("POST", o.Path("/api-keys"), o.Token, apptest.Object{"name": "Key", "scopes": scopes}).Want(201)
	return a.Str("data.id"), a.Str("data.secret")
}

// makePlatformKey creates a platform key and returns its ID and secret.
func makePlatformKey(s *apptest.Server, scopes ...string) (id, secret string) {
	s.T.Helper()
	a := s.Call("POST", platformKeys, s.Admin(), apptest.Object{"name": "Key", "scopes": scopes}).Want(201)
	return a.Str("data.id"), a.Str("data.secret")
}

// record records usage of a tenant with an access token or a key.
func record(s *apptest.Server, o apptest.Owner, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/usage"), token, apptest.Object{"meter_code": "api-calls", "quantity": 1})
}

// everyScope contains all scopes that a tenant key can have.
var everyScope = authz.TenantScopes()

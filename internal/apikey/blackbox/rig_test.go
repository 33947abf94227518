package blackbox_test

import (
	"regexp"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// secretForm is what a secret looks like.
var secretForm = regexp.MustCompile(`^tnk_[0-9A-Za-z]{48}$`)

// usageWrite is the body of a key that records usage.
var usageWrite = apptest.Object{"name": "Metering", "scopes": []string{"usage.write"}}

// platformKeys is the path of the platform's keys.
const platformKeys = "/api/v1/admin/api-keys"

// makeKey makes a key of a tenant and returns its id and secret.
func makeKey(s *apptest.Server, o apptest.Owner, scopes ...string) (id, secret string) {
	s.T.Helper()
	a := s.Call("POST", o.Path("/api-keys"), o.Token, apptest.Object{"name": "Key", "scopes": scopes}).Want(201)
	return a.Str("data.id"), a.Str("data.secret")
}

// makePlatformKey does so for a key of the platform.
func makePlatformKey(s *apptest.Server, scopes ...string) (id, secret string) {
	s.T.Helper()
	a := s.Call("POST", platformKeys, s.Admin(), apptest.Object{"name": "Key", "scopes": scopes}).Want(201)
	return a.Str("data.id"), a.Str("data.secret")
}

// record records usage of a tenant with a token or a key.
func record(s *apptest.Server, o apptest.Owner, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/usage"), token, apptest.Object{"meter_code": "api-calls", "quantity": 1})
}

// everyScope is what a key of a tenant can have at most.
var everyScope = authz.TenantScopes()

package domain_test

import (
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// addDomain adds a domain to a tenant.
func addDomain(s *apptest.Server, o apptest.Owner, name string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/domains"), o.Token, apptest.Object{"domain": name})
}

// publish sets the DNS records of a name.
func publish(s *apptest.Server, name string, values ...string) {
	s.T.Helper()
	if values == nil {
		values = []string{}
	}
	s.Call("PUT", "/sandbox/dns", "", apptest.Object{"name": name, "values": values}).Want(200)
}

// verified adds a domain to a tenant, publishes its record and verifies it. It returns the path of
// the domain.
func verified(s *apptest.Server, o apptest.Owner, name string) string {
	s.T.Helper()
	d := addDomain(s, o, name).Want(201)
	publish(s, d.Str("data.verification_record.name"), "v=spf1 -all", d.Str("data.verification_record.value"))
	path := o.Path("/domains/" + d.Str("data.id"))
	s.Call("POST", path+"/verify", o.Token, nil).Want(200).WantAt("data.status", "verified")
	return path
}

// actions returns the recent actions in the tenant's trail.
func actions(s *apptest.Server, o apptest.Owner) []string {
	s.T.Helper()
	return s.Call("GET", o.Path("/audit-logs"), o.Token, nil).Want(200).Actions()
}

package sso_test

import (
	"io"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A connection never gives access to an account outside its tenant whose address was ever verified,
// even if that account does not belong to a tenant.
func TestNoAccessToAnotherTenantsMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		victim := s.Register("victim@"+corp, true)
		s.VerifyEmail(victim.Token, "victim@"+corp)
		alone := s.RegisterAlone("Alone", "alone@"+corp)
		s.VerifyEmail(alone, "alone@"+corp)
		eve, id := corporate(s, "eve@example.com", object{"provision_members": true})
		for range 2 { // at each login
			wantError(s, eve, id, as("victim@"+corp), "sso_account_elsewhere")
			wantError(s, eve, id, as("alone@"+corp), "sso_account_elsewhere")
		}
		me(s, victim.Token).Want(200).WantAt("currentTenant.id", victim.Tenant)
		if n := members(s, eve); n != 1 {
			t.Errorf("%d members", n)
		}
		if n := s.CountRows("SELECT count(*) FROM sso_identities"); n != 0 {
			t.Errorf("%d links", n)
		}
		// The same subject at another connection is another person.
		ada := s.Register("ada@other.example", true)
		verified(s, ada, "other.example")
		other := connect(s, ada, object{"issuer": issuerOf(s, "shared"), "provision_members": true})
		bob := enter(s, other, as("bob@other.example", "1"))
		shared := connect(s, eve, object{"issuer": issuerOf(s, "shared"), "provision_members": true})
		carol := enter(s, shared, as("carol@"+corp, "1")).WantAt("isNewUser", true)
		if s.UserID(bob.Str("accessToken")) == s.UserID(carol.Str("accessToken")) {
			t.Error("the subject of one connection logs in at another")
		}
		wantError(s, eve, shared, as("bob@other.example", "2"), "sso_domain_mismatch")
	})
}

// A connection never gives access to the account of a platform admin, even if the admin is a member
// of its tenant or was linked before.
func TestNoAccessToAPlatformAdmin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		eve, id := corporate(s, "eve@example.com", object{"provision_members": true})
		verified(s, eve, "tenantry.test")
		wantError(s, eve, id, as("admin@tenantry.test"), "sso_account_elsewhere")
		_, boss := s.Join(eve, "Boss", "boss@"+corp, "member")
		linked, linkedID := s.Join(eve, "Linked", "linked@"+corp, "member")
		token := enter(s, id, as("linked@"+corp, "l")).Str("accessToken")
		code := signOn(s, id, as("linked@"+corp, "l")).Get("code")
		for _, email := range []string{"boss@" + corp, "linked@" + corp} {
			if err := commands.GrantAdmin(t.Context(), s.CLISettings(), email, nil, io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		me(s, token).WantRefused(401, "")
		me(s, linked).WantRefused(401, "")
		exchange(s, code).WantRefused(400, "OAUTH_CODE_EXPIRED")
		for range 2 {
			wantError(s, eve, id, as("boss@"+corp), "sso_account_elsewhere")
			wantError(s, eve, id, as("linked@"+corp, "l"), "sso_account_elsewhere")
			wantError(s, eve, id, as("linked@"+corp, "other"), "sso_account_elsewhere")
		}
		if n := s.CountRows("SELECT count(*) FROM credentials WHERE user_id IN ($1, $2) AND revoked_at IS NULL", boss, linkedID); n != 0 {
			t.Errorf("%d logins", n)
		}
	})
}

// A person who registered an address without verifying it loses access to the account when the
// owner of the address logs in.
func TestAnUnverifiedAddressIsClaimed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		squatter := s.Register("victim@"+corp, true)
		id := s.UserID(squatter.Token)
		ada, connection := corporate(s, "ada@example.com")
		wantError(s, ada, connection, as("victim@"+corp), "sso_not_provisioned")
		me(s, squatter.Token).Want(200) // a refused login changes nothing
		connect(s, ada, object{"provision_members": true})
		got := enter(s, connection, as("victim@"+corp)).WantAt("isNewUser", false).WantAt("user.tenants.0.id", ada.Tenant)
		if s.UserID(got.Str("accessToken")) != id {
			t.Error("another account")
		}
		me(s, squatter.Token).WantRefused(401, "")
		s.Call("POST", "/api/v1/auth/login", "", object{"email": "victim@" + corp, "password": apptest.AdaLogin["password"]}).
			WantRefused(401, "INVALID_CREDENTIALS")

		// If the squatter's tenant has other members, the squatter keeps the account, and the owner
		// of the address cannot log in to it.
		other := s.Register("second@"+corp, true)
		s.Join(other, "Friend", "friend@example.com", "member")
		wantError(s, ada, connection, as("second@"+corp), "sso_account_elsewhere")
		me(s, other.Token).Want(200).WantAt("currentTenant.id", other.Tenant)
	})
}

// A tenant that takes over a lost domain does not get the accounts of the former tenant. The
// members of the former tenant can still log in.
func TestALostDomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, former := corporate(s, "ada@example.com", object{"provision_members": true})
		bob := s.UserID(enter(s, former, as("bob@"+corp)).Str("accessToken"))
		s.Call("PUT", "/sandbox/dns", "", object{"name": "_tenantry." + corp, "values": []any{}}).Want(200)
		for range 3 {
			checks := s.CountRows("SELECT failed_checks FROM tenant_domains")
			s.Advance(apptest.Day)
			apptest.Eventually(t, "the check", func() bool { return s.CountRows("SELECT failed_checks FROM tenant_domains") > checks })
		}
		ada.Token = s.LogIn("ada@example.com")
		s.Call("POST", "/api/v1/auth/sso", "", object{"email": "bob@" + corp}).WantRefused(404, "SSO_NOT_AVAILABLE")
		wantError(s, ada, former, as("carol@"+corp), "sso_domain_mismatch")
		eve, taken := corporate(s, "eve@example.com", object{"provision_members": true})
		wantError(s, eve, taken, as("bob@"+corp), "sso_account_elsewhere")
		wantError(s, eve, taken, as("bob@"+corp, "anything"), "sso_account_elsewhere")
		if got := s.UserID(enter(s, former, as("bob@"+corp)).Str("accessToken")); got != bob {
			t.Error("the member of the former tenant is another user")
		}
		enter(s, taken, as("carol@"+corp)).WantAt("user.tenants.0.id", eve.Tenant)
	})
}

// The user who sets the issuer controls who logs in through it. The connection never gives that
// user permissions that they lacked, nor the owner's account.
func TestAConnectionDoesNotRaisePermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@"+corp, true)
		verified(s, ada, corp)
		s.CreateRole(ada, "Sign-in", "sso.manage")
		s.CreateRole(ada, "Billing", "billing.manage")
		mallory, _ := s.Join(ada, "Mallory", "mallory@"+corp, "Sign-in")
		s.Join(ada, "Bob", "bob@"+corp, "member")
		s.Join(ada, "Carol", "carol@"+corp, "Billing")
		s.Join(ada, "Dan", "dan@"+corp, "admin")
		by := apptest.Owner{Token: mallory, Tenant: ada.Tenant}
		s.Call("PUT", ada.Path("/sso"), mallory, terms(s, ada, object{"role": "admin"})).WantRefused(403, "")
		s.Call("PUT", ada.Path("/sso"), mallory, terms(s, ada, object{"role": "owner"})).WantInvalid("role")
		id := connect(s, by, object{"role": "Sign-in"})
		enter(s, id, as("bob@"+corp))
		for _, who := range []string{"carol@", "dan@", "ada@"} {
			wantError(s, by, id, as(who+corp), "sso_link_refused")
		}
		// Another user who sends the same connection again does not become the user who set the
		// issuer.
		connect(s, ada)
		wantError(s, ada, id, as("ada@"+corp), "sso_link_refused")

		// An admin has all permissions, but is not the owner.
		dan := apptest.Owner{Token: s.LogIn("dan@" + corp), Tenant: ada.Tenant}
		second := connect(s, dan, object{"issuer": issuerOf(s, "second")})
		enter(s, second, as("carol@"+corp))
		wantError(s, ada, second, as("ada@"+corp), "sso_link_refused")
		third := connect(s, ada, object{"issuer": issuerOf(s, "third")})
		enter(s, third, as("ada@"+corp))
	})
}

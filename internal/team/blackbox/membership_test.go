package blackbox_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const password = "correct horse"

// transfer makes a member the owner.
func transfer(s *apptest.Server, o apptest.Owner, token string, to any) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/transfer-ownership"), token, apptest.Object{"user_id": to, "current_password": password})
}

// transferMails returns the texts of the mails to an address about a new owner.
func transferMails(s *apptest.Server, email string) (texts []string) {
	s.T.Helper()
	for _, m := range s.Mails(email) {
		if m["subject"] == "Your organization has a new owner" {
			texts = append(texts, m["text"].(string))
		}
	}
	return texts
}

// owners counts the owners of a tenant.
func owners(s *apptest.Server, tenant string) int {
	s.T.Helper()
	return s.CountRows(`SELECT count(*) FROM memberships m JOIN roles r ON r.id = m.role_id
		WHERE m.tenant_id = $1 AND r.tenant_id IS NULL AND r.name = 'owner'`, tenant)
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "admin")
		leave := func(token string) apptest.Reply { return s.Call("POST", ada.Path("/leave"), token, nil) }
		leave(ada.Token).WantRefused(403, "")
		admin := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{"user_id": id, "tenant_id": ada.Tenant}).Want(200)
		leave(admin).WantRefused(400, "")
		if a := leave(bob).Want(204); a.Text != "" {
			t.Errorf("%q", a.Text)
		}
		s.Call("GET", "/api/v1/admin/impersonation/status", admin, nil).As("impersonation of a former member").WantRefused(400, "")
		leave(bob).WantRefused(403, "")
		s.Call("GET", ada.Path("/team/members"), bob, nil).WantRefused(403, "")
		s.Call("GET", "/api/v1/auth/me", bob, nil).Want(200).WantAt("currentTenant", nil)
		s.Call("POST", "/api/v1/tenants", bob, apptest.Object{"name": "Bob's own"}).Want(201)
		if n := s.CountAudited(ada, "member.left"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

func TestTransferringOwnership(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "member")
		own := s.UserID(ada.Token)
		transfer(s, ada, bob, own).As("a member").WantRefused(403, "")
		transfer(s, ada, other.Token, own).As("a stranger").WantRefused(403, "")
		for what, to := range map[string]any{"oneself": own, "somebody else's member": s.UserID(other.Token), "nobody": 987654, "no number": "x"} {
			transfer(s, ada, ada.Token, to).As(what).WantInvalid("user_id")
		}
		s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, apptest.Object{"current_password": password}).WantInvalid("user_id")
		for what, given := range map[string]any{"wrong": "wrong horse", "missing": apptest.Absent} {
			s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, apptest.WithChanges(apptest.Object{"user_id": id}, apptest.Object{"current_password": given})).
				As(what).WantInvalid("current_password")
		}
		admin := s.Admin()
		s.Impersonate(admin, ada).Want(200)
		transfer(s, ada, admin, id).As("while impersonating").WantRefused(400, "")
		transfer(s, ada, ada.Token, id).Want(200).WantAt("data.owner.email", "bob@example.com").WantAt("data.owner.name", "Bob").WantAt("data.owner.id", float64(id))
		s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200).WantAt("user.roles.0", "admin")
		s.Call("GET", "/api/v1/tenant", bob, nil).Want(200).WantAt("data.owner.id", float64(id)).WantAt("data.user_role", "owner")
		transfer(s, ada, ada.Token, id).As("the former owner").WantRefused(403, "")
		for _, email := range []string{"ada@example.com", "bob@example.com"} {
			apptest.Eventually(t, "the mail to "+email, func() bool { return len(transferMails(s, email)) == 1 })
			if text := transferMails(s, email)[0]; !strings.Contains(text, "New owner: Bob") || !strings.Contains(text, "Previous owner: Ada") {
				t.Errorf("%s: %s", email, text)
			}
		}
		s.Call("POST", ada.Path("/leave"), bob, nil).WantRefused(403, "")
		s.Call("POST", ada.Path("/leave"), ada.Token, nil).Want(204)
		if n := s.CountAudited(ada, "tenant.ownership_transferred"); n != 1 || owners(s, ada.Tenant) != 1 {
			t.Errorf("%d entries, %d owners", n, owners(s, ada.Tenant))
		}
	})
}

// A platform admin transfers the ownership of a tenant whose owner has left the company.
func TestTransferringOwnershipByThePlatform(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "member")
		admin, path := s.Admin(), "/api/v1/admin/tenants/"+ada.Tenant+"/transfer-ownership"
		for what, to := range map[string]any{"the owner": s.UserID(ada.Token), "somebody else's member": s.UserID(other.Token), "nobody": 987654, "no number": "x", "nothing": nil} {
			s.Call("POST", path, admin, apptest.Object{"user_id": to}).As(what).WantInvalid("user_id")
		}
		s.Call("POST", path, ada.Token, apptest.Object{"user_id": id}).As("the owner").WantRefused(403, "")
		ownerless := "/api/v1/admin/tenants/" + s.Call("POST", "/api/v1/admin/tenants", admin, apptest.Object{"name": "Ownerless"}).Want(201).Str("data.id")
		s.Call("POST", ownerless+"/invitations", admin, apptest.Object{"email": "di@example.com", "role": "member"}).Want(201)
		di := s.RegisterAlone("Di", "di@example.com")
		s.Call("POST", "/api/v1/invitations/"+s.InvitationToken("di@example.com", 1)+"/accept", di, nil).Want(200)
		s.Call("POST", ownerless+"/transfer-ownership", admin, apptest.Object{"user_id": s.UserID(di)}).As("without an owner").WantInvalid("user_id")
		s.Call("POST", "/api/v1/admin/tenants/"+sqldb.NewID().String()+"/transfer-ownership", admin, apptest.Object{"user_id": id}).WantRefused(404, "")
		s.Call("POST", path, admin, apptest.Object{"user_id": id}).Want(200).WantAt("data.owner.id", float64(id)).WantAt("data.owner.email", "bob@example.com")
		s.Call("GET", "/api/v1/tenant", bob, nil).Want(200).WantAt("data.user_role", "owner")
		s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200).WantAt("user.roles.0", "admin")
		for _, email := range []string{"ada@example.com", "bob@example.com"} {
			apptest.Eventually(t, "the mail to "+email, func() bool { return len(transferMails(s, email)) == 1 })
		}
		if n := s.CountAudited(ada, "tenant.ownership_transferred"); n != 1 || owners(s, ada.Tenant) != 1 {
			t.Errorf("%d entries, %d owners", n, owners(s, ada.Tenant))
		}
	})
}

// A tenant always has one owner, even if its owner and the platform transfer it to two members
// concurrently, while one of them leaves and the other is removed.
func TestOneOwnerUnderConcurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		for round := range dbtest.Rounds(3, 30) {
			name := func(who string) string { return who + string(rune('a'+round%26)) + string(rune('a'+round/26)) }
			ada := s.Register(name("ada")+"@example.com", true)
			bob, bobID := s.Join(ada, "Bob", name("bob")+"@example.com", "member")
			_, coyID := s.Join(ada, "Coy", name("coy")+"@example.com", "member")
			calls := []func(){
				func() { transfer(s, ada, ada.Token, bobID) },
				func() { transfer(s, ada, ada.Token, coyID) },
				func() {
					s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/transfer-ownership", admin, apptest.Object{"user_id": coyID})
				},
				func() { s.Call("POST", ada.Path("/leave"), bob, nil) },
				func() {
					s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(float64(coyID))), ada.Token, nil)
				},
			}
			var wg sync.WaitGroup
			for _, call := range calls {
				wg.Go(call)
			}
			wg.Wait()
			if n := owners(s, ada.Tenant); n != 1 {
				t.Fatalf("round %d: %d owners", round, n)
			}
		}
	})
}

package domain_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A domain is pending until its record is found. It is stored in one form.
func TestVerifyingADomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		list := s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200)
		if got := list.At("data").([]any); len(got) != 0 {
			t.Fatalf("%v", got)
		}
		d := addDomain(s, ada, "Bücher.Example.").Want(201).WantAt("data.domain", "xn--bcher-kva.example").WantAt("data.status", "pending").
			WantAt("data.verification_record.type", "TXT").WantAt("data.auto_join", "off").WantAt("data.role", "member").
			WantAt("data.verified_at", nil).WantAt("data.last_checked_at", nil).WantAt("data.failed_checks", 0.0)
		path := ada.Path("/domains/" + d.Str("data.id"))
		verify := func() apptest.Reply { return s.Call("POST", path+"/verify", ada.Token, nil) }
		refused := verify()
		refused.WantRefused(422, "domain_not_verified")
		refused.WantAt("verification_record", d.At("data.verification_record"))
		s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).WantAt("data.0.failed_checks", 0.0).TimeAt("data.0.last_checked_at")

		publish(s, strings.ToUpper(d.Str("data.verification_record.name"))+".", "other", d.Str("data.verification_record.value"))
		verify().Want(200).WantAt("data.status", "verified").TimeAt("data.verified_at")
		again := verify().Want(200).WantAt("data.status", "verified")
		again.TimeAt("data.last_checked_at")

		publish(s, d.Str("data.verification_record.name"))
		verify().WantRefused(422, "domain_not_verified")
		s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).WantAt("data.0.status", "verified").WantAt("data.0.failed_checks", 0.0)

		s.Call("DELETE", path, ada.Token, nil).Want(204)
		s.Call("DELETE", path, ada.Token, nil).Want(404)
		verify().Want(404)
		if got := actions(s, ada)[:3]; !slices.Equal(got, []string{"domain.deleted", "domain.verified", "domain.created"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestDomainsThatAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, name := range []string{"", "com", "co.uk", "github.io", "gmail.com", "192.0.2.1", "localhost", "a b.example", "https://example.com"} {
			addDomain(s, ada, name).As(name).WantInvalid("domain")
		}
		s.Call("POST", ada.Path("/domains"), ada.Token, apptest.Object{}).WantInvalid("domain")
		s.Call("POST", ada.Path("/domains"), ada.Token, apptest.Object{"domain": 1}).WantInvalid("domain")
		addDomain(s, ada, "acme.example").Want(201)
		addDomain(s, ada, "ACME.example.").WantInvalid("domain")
		addDomain(s, ada, "mail.acme.example").Want(201)

		// Of concurrent requests, at most 20 succeed.
		var wg sync.WaitGroup
		for i := range 22 {
			wg.Go(func() { addDomain(s, ada, fmt.Sprintf("d%d.example", i)) })
		}
		wg.Wait()
		if n := s.CountRows("SELECT count(*) FROM tenant_domains WHERE tenant_id = $1", ada.Tenant); n != 20 {
			t.Errorf("%d domains", n)
		}
		addDomain(s, ada, "another.example").WantInvalid("domain")

		id := s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).Str("data.0.id")
		path := ada.Path("/domains/" + id)
		for _, body := range []apptest.Object{{"role": "owner"}, {"role": "nothing"}, {"role": nil}} {
			s.Call("PATCH", path, ada.Token, body).WantInvalid("role")
		}
		s.Call("PATCH", path, ada.Token, apptest.Object{"auto_join": "maybe", "role": "owner"}).WantInvalid("auto_join", "role")
		s.Call("PATCH", path, ada.Token, apptest.Object{"auto_join": true}).WantInvalid("auto_join")
		s.Call("PATCH", ada.Path("/domains/"+apptest.NoSuchID), ada.Token, apptest.Object{"auto_join": 1}).Want(404)
	})
}

// Another tenant's record does not verify a domain, and of two tenants that verify a domain at the
// same time, one succeeds.
func TestADomainBelongsToOneTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		for i := range 3 {
			name := fmt.Sprintf("race%d.example", i)
			records, paths := []string{}, map[string]string{}
			for _, o := range []apptest.Owner{ada, eve} {
				d := addDomain(s, o, name).Want(201)
				records, paths[o.Token] = append(records, d.Str("data.verification_record.value")), o.Path("/domains/"+d.Str("data.id")+"/verify")
			}
			if records[0] == records[1] {
				t.Fatal("both tenants have the same record")
			}
			publish(s, "_tenantry."+name, records[0])
			s.Call("POST", paths[eve.Token], eve.Token, nil).WantRefused(422, "domain_not_verified")
			publish(s, "_tenantry."+name, records...)
			answers := make(chan int, 2)
			var wg sync.WaitGroup
			for token, path := range paths {
				wg.Go(func() { answers <- s.Call("POST", path, token, nil).Status })
			}
			wg.Wait()
			if got := []int{<-answers, <-answers}; slices.Min(got) != 200 || slices.Max(got) != 409 {
				t.Fatalf("%v", got)
			}
		}
		verified(s, ada, "acme.example")
		addDomain(s, eve, "acme.example").WantRefused(409, "DOMAIN_TAKEN")
		addDomain(s, eve, "mail.acme.example").Want(201)
	})
}

// A member needs the permission, and cannot let users join with a role above their own.
func TestRightsOfDomains(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		path := verified(s, ada, "acme.example")
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		for method, route := range map[string]string{"GET": ada.Path("/domains"), "POST": ada.Path("/domains"), "PATCH": path, "DELETE": path} {
			s.Call(method, route, bob, apptest.Object{}).As(method).WantRefused(403, "")
		}
		s.CreateRole(ada, "Sign-in", "sso.manage")
		carol, _ := s.Join(ada, "Carol", "carol@example.com", "Sign-in")
		s.Call("GET", ada.Path("/domains"), carol, nil).Want(200)
		s.Call("PATCH", path, carol, apptest.Object{"role": "admin"}).WantRefused(403, "")
		s.Call("PATCH", path, carol, apptest.Object{"role": "Sign-in", "auto_join": "on"}).Want(200).WantAt("data.role", "Sign-in").WantAt("data.auto_join", "on")
		s.Call("PATCH", path, ada.Token, apptest.Object{"role": "admin", "auto_join": "off"}).Want(200).WantAt("data.role", "admin")
		s.Call("PATCH", path, carol, apptest.Object{"auto_join": "on"}).As("with a role above her own").WantRefused(403, "")
		s.Call("PATCH", path, carol, apptest.Object{}).Want(200).WantAt("data.auto_join", "off")

		// If the role is deleted, the role member replaces it.
		s.Call("PATCH", path, ada.Token, apptest.Object{"role": "Sign-in"}).Want(200)
		s.Call("DELETE", ada.Path(fmt.Sprintf("/roles/%d", s.RoleID(ada, "Sign-in"))), ada.Token, nil).Want(200)
		s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).WantAt("data.0.role", "member")

		admin := s.Admin()
		s.Impersonate(admin, ada).Want(200)
		s.Call("GET", ada.Path("/domains"), admin, nil).Want(200)
		s.Call("POST", ada.Path("/domains"), admin, apptest.Object{}).As("while impersonating").WantRefused(400, "")
		s.Call("POST", path+"/verify", admin, nil).As("while impersonating").WantRefused(400, "")
	})
}

// A domain is lost after three failed daily checks in a row. Its owner gets a mail, and another
// tenant can verify it.
func TestLosingADomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		verified(s, ada, "acme.example")
		record := s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).Str("data.0.verification_record.value")
		other := addDomain(s, eve, "mail.acme.example").Want(201) // a pending domain is not checked
		day := func(failed float64, status string) {
			t.Helper()
			s.Advance(apptest.Day)
			ada.Token, eve.Token = s.LogIn("ada@example.com"), s.LogIn("eve@example.com")
			apptest.Eventually(t, fmt.Sprintf("%v failed checks, %s", failed, status), func() bool {
				list := s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200)
				return list.At("data.0.failed_checks") == failed && list.At("data.0.status") == status
			})
		}
		publish(s, "_tenantry.acme.example", "something else")
		day(1, "verified")
		day(2, "verified")
		publish(s, "_tenantry.acme.example", record)
		day(0, "verified")
		publish(s, "_tenantry.acme.example")
		day(1, "verified")
		day(2, "verified")
		day(3, "lost")
		var mails []map[string]any
		apptest.Eventually(t, "the mail", func() bool {
			mails = slices.DeleteFunc(s.Mails("ada@example.com"), func(m map[string]any) bool { return !strings.Contains(m["text"].(string), "acme.example") })
			return len(mails) > 0
		})
		if len(mails) != 1 || !strings.Contains(mails[0]["text"].(string), record) {
			t.Errorf("%v", mails)
		}
		if !slices.Contains(actions(s, ada), "domain.lost") {
			t.Error("the loss is not recorded")
		}
		s.Call("GET", eve.Path("/domains"), eve.Token, nil).Want(200).WantAt("data.0.failed_checks", 0.0).WantAt("data.0.id", other.At("data.id"))
		verified(s, eve, "acme.example")
		publish(s, "_tenantry.acme.example", record)
		id := s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).Str("data.0.id")
		s.Call("POST", ada.Path("/domains/"+id+"/verify"), ada.Token, nil).WantRefused(409, "DOMAIN_TAKEN")
	})
}

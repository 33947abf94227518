package blackbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// invites requests an invitation to the role member.
func invites(s *apptest.Server, o apptest.Owner, email string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/team/invitations"), o.Token, apptest.Object{"email": email, "role": "member"})
}

// wantWait expects a rejection because of too many mails, with the time to wait.
func wantWait(t *testing.T, a apptest.Reply, least, most time.Duration) {
	t.Helper()
	a.WantRefused(429, "")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if wait := time.Duration(seconds) * time.Second; err != nil || wait < least || wait > most {
		t.Errorf("Retry-After is %q, want %s to %s", a.Header.Get("Retry-After"), least, most)
	}
}

// together runs a call several times concurrently and counts the responses by status.
func together(n int, call func(i int) apptest.Reply) map[int]int {
	var wg sync.WaitGroup
	replies := make([]apptest.Reply, n)
	for i := range n {
		wg.Go(func() { replies[i] = call(i) })
	}
	wg.Wait()
	statuses := map[int]int{}
	for _, a := range replies {
		statuses[a.Status]++
	}
	return statuses
}

// An address gets at most three invitation mails per hour from a tenant, including the first one.
// The limit also applies to different senders, revoked invitations and concurrent requests.
func TestMailsToOneAddress(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		admin, _ := s.Join(o, "Admin", "admin@example.com", "admin")
		at := func(id string) string { return o.Path("/team/invitations/" + id) }
		resend := func(token, id string) apptest.Reply { return s.Call("POST", at(id)+"/resend", token, nil) }

		id, _ := s.Invite(o, "eve@example.com", "member")
		// Each mail is awaited, because two concurrent mails can arrive in either order.
		s.InvitationToken("eve@example.com", 1)
		resend(o.Token, id).Want(200)
		s.InvitationToken("eve@example.com", 2)
		resend(admin, id).Want(200)
		wantWait(t, resend(o.Token, id), 50*time.Minute, time.Hour)
		wantWait(t, resend(admin, id), 50*time.Minute, time.Hour)
		last := s.InvitationToken("eve@example.com", 3)
		s.Call("GET", "/api/v1/invitations/"+last, "", nil).Want(200).WantAt("data.status", "pending") // a rejected request changes nothing
		// Revoking and inviting again does not circumvent the limit, and neither does another
		// route.
		s.Call("DELETE", at(id), o.Token, nil).Want(200)
		wantWait(t, invites(s, o, "eve@example.com"), 50*time.Minute, time.Hour)
		wantWait(t, invites(s, o, " EVE@Example.com "), 50*time.Minute, time.Hour)
		wantWait(t, s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invitations", s.Admin(), apptest.Object{"email": "eve@example.com", "role": "admin"}), 50*time.Minute, time.Hour)
		if n := len(s.Mails("eve@example.com")); n != 3 {
			t.Errorf("%d mails", n)
		}
		// Other addresses and other tenants have their own limits.
		invites(s, o, "zoe@example.com").Want(201)
		other := s.Register("other@example.com", true)
		invites(s, other, "eve@example.com").Want(201)

		// Concurrent requests do not exceed the limit.
		bob, _ := s.Invite(o, "bob@example.com", "member")
		statuses := together(8, func(int) apptest.Reply { return resend(o.Token, bob) })
		if statuses[200] != 2 || statuses[429] != 6 {
			t.Errorf("of 8 at once: %v", statuses)
		}

		s.Advance(time.Hour)
		o.Token = s.LogIn("owner@example.com")
		again := invites(s, o, "eve@example.com").Want(201).Str("data.id")
		resend(o.Token, again).Want(200)
		resend(o.Token, bob).Want(200)
	})
}

// Anyone can create tenants, so an address gets at most ten mails per hour from all tenants
// together, even with concurrent requests.
func TestMailsOfManyTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		owners := make([]apptest.Owner, 14)
		for i := range owners {
			owners[i] = s.Register(fmt.Sprintf("owner%d@example.com", i), true)
		}
		statuses := together(len(owners), func(i int) apptest.Reply { return invites(s, owners[i], "eve@example.com") })
		if statuses[201] != 10 || statuses[429] != 4 {
			t.Errorf("%v", statuses)
		}
	})
}

// A tenant has at most 500 pending invitations, even without rate limits and with concurrent
// requests.
func TestPendingInvitationsAreBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		id, _ := s.Invite(o, "first@example.com", "member")
		old, _ := s.Invite(o, "old@example.com", "member")
		apptest.Exec(t, s.DB(), `UPDATE invitations SET expires_at = created_at WHERE id = $1`, old)
		for i := range 494 {
			apptest.Exec(t, s.DB(), fmt.Sprintf(`INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
				SELECT '01990000-0000-7000-8000-%012d', tenant_id, 'p%d@example.com', role_id, inviter_id, status, 'hash%d', expires_in_days, expires_at, created_at, updated_at
				FROM invitations WHERE id = $1`, i, i, i), id)
		}
		statuses := together(10, func(i int) apptest.Reply { return invites(s, o, fmt.Sprintf("new%d@example.com", i)) })
		if statuses[201] != 5 || statuses[422] != 5 {
			t.Errorf("the last five places: %v", statuses)
		}
		invites(s, o, "more@example.com").WantInvalid("email")
		invites(s, o, "first@example.com").WantRefused(409, "ALREADY_INVITED")
		s.Call("POST", o.Path("/team/invitations/"+id+"/resend"), o.Token, nil).Want(200) // a pending invitation does not count twice
		s.Call("POST", o.Path("/team/invitations/"+old+"/resend"), o.Token, nil).WantInvalid("email")
		invites(s, other, "more@example.com").Want(201)
		s.Call("DELETE", o.Path("/team/invitations/"+id), o.Token, nil).Want(200)
		invites(s, o, "more@example.com").Want(201)
	})
}

// Requests that mail an invitation have their own rate limit group, which the members of a tenant
// share.
func TestInvitingIsLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		admin, _ := s.Join(o, "Admin", "admin@example.com", "admin") // uses one request
		id := invites(s, o, "first@example.com").Want(201).Str("data.id")
		resend := func() apptest.Reply {
			return s.Call("POST", o.Path("/team/invitations/"+id+"/resend"), admin, nil)
		}
		if limit := resend().Want(200).Header.Get("X-RateLimit-Limit"); limit != "20" {
			t.Errorf("limit %q", limit)
		}
		// The window slides, so a few more requests succeed while the test runs, but far fewer than
		// two members would have separately.
		made, refused := 3, map[string]bool{}
		for i := range 46 {
			token := []string{o.Token, admin}[i%2]
			a := invites(s, apptest.Owner{Token: token, Tenant: o.Tenant}, fmt.Sprintf("p%d@example.com", i))
			if a.Status == 201 {
				made++
				continue
			}
			// The longest wait is the rest of the current minute plus 1/20 of the next minute, when
			// the first of the 20 requests leaves the window.
			wantWait(t, a, time.Second, time.Minute+time.Minute/20)
			refused[token] = true
		}
		if made < 20 || made > 32 || !refused[o.Token] || !refused[admin] {
			t.Errorf("%d mails, %d members were refused", made, len(refused))
		}
		// Other requests, other tenants and the admin API are not limited.
		s.Call("GET", o.Path("/team/invitations"), o.Token, nil).Want(200)
		s.Call("DELETE", o.Path("/team/invitations/"+id), o.Token, nil).Want(200)
		invites(s, other, "more@example.com").Want(201)
		s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/invitations", s.Admin(), apptest.Object{"email": "chief@example.com", "role": "admin"}).Want(201)
	}, apptest.Limited)
}

// The subject of an invitation never contains a word that the inviter chose.
func TestSubjectsAreOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		body := apptest.Registration("eve@example.com", apptest.Object{"name": "Prizes Department", "tenant_name": "Claim your prize at evil.example"})
		o := apptest.Owner{Token: s.Call("POST", "/api/v1/auth/register", "", body).Want(201).Str("accessToken")}
		o.Tenant = s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200).Str("currentTenant.id")
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, apptest.BillingDetails).Want(200)
		s.CreateRole(o, "Winner of a prize")
		for _, locale := range []string{"en", "fr", "es", "it"} {
			email := locale + "@example.com"
			r := s.NewRequest(http.MethodPost, o.Path("/team/invitations"), o.Token, apptest.Object{"email": email, "role": "Winner of a prize"})
			r.Header.Set("Accept-Language", locale)
			s.Do(r).Want(201)
			s.InvitationToken(email, 1)
			subject := strings.ToLower(s.Mails(email)[0]["subject"].(string))
			for _, word := range []string{"prize", "winner", "claim", "department", "evil", "eve"} {
				if strings.Contains(subject, word) {
					t.Errorf("%s: %s", locale, subject)
				}
			}
		}
	})
}

// Addresses are deleted once their mails have left the window.
func TestInvitedAddressesAreForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		kept := func(want int) {
			t.Helper()
			if err := r.team.Prune(ctx); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := r.db.Conn(ctx).QueryRowContext(ctx, `SELECT count(*) FROM invited_addresses`).Scan(&n); err != nil || n != want {
				t.Errorf("%d addresses, want %d: %v", n, want, err)
			}
		}
		r.invited("eve@example.com")
		r.clock.Advance(30 * time.Minute)
		i := r.invited("zoe@example.com")
		kept(2)
		r.clock.Advance(30 * time.Minute)
		kept(1)
		for n, refused := range []bool{false, false, true} {
			if _, err := r.team.Resend(ctx, r.by, r.tenant, i.ID); (err != nil) != refused {
				t.Errorf("resending again (%d): %v", n, err)
			}
		}
		r.clock.Advance(30 * time.Minute) // the first one no longer counts
		if _, err := r.team.Resend(ctx, r.by, r.tenant, i.ID); err != nil {
			t.Error(err)
		}
		kept(1)
		r.clock.Advance(time.Hour)
		kept(0)
	})
}

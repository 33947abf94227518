package blackbox_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// rounds returns the number of repetitions of a race.
func (r *rig) rounds() int {
	if r.db.Dialect() == sqldb.Postgres {
		return dbtest.Rounds(25, 100)
	}
	return dbtest.Rounds(10, 20)
}

// atOnce runs functions concurrently and counts their results by error code, "" for success.
func atOnce(t *testing.T, all ...func() error) map[fault.Code]int {
	t.Helper()
	errs := make([]error, len(all))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() {
			<-start
			errs[i] = f()
		})
	}
	close(start)
	wg.Wait()
	ends := map[fault.Code]int{}
	for _, err := range errs {
		var refusal *fault.Error
		switch {
		case err == nil:
			ends[""]++
		case errors.As(err, &refusal):
			ends[refusal.Code]++
		default:
			t.Fatal(err)
		}
	}
	return ends
}

// clear prepares the next round: only the owner remains, and no mails are counted.
func (r *rig) clear() {
	r.t.Helper()
	r.exec(`DELETE FROM invitations`)
	r.exec(`DELETE FROM invited_addresses`)
	r.exec(fmt.Sprintf(`DELETE FROM memberships WHERE user_id <> %d`, r.owner.ID))
}

const crowd = 50

func TestOneFreeSeat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.limit.Store(2)
		admin := team.PlatformActor(&authz.Caller{UserID: r.owner.ID})
		for range r.rounds() {
			callers := make([]func() error, crowd)
			for i := range callers {
				by := []team.Actor{r.by, admin}[i%2] // the team's route and the admin route
				callers[i] = func() error {
					_, err := r.team.Invite(t.Context(), by, r.tenant, team.NewInvitation{Email: fmt.Sprintf("u%d@example.com", i), Role: team.Admin})
					return err
				}
			}
			if ends := atOnce(t, callers...); ends[""] != 1 || ends[fault.SeatLimitReached] != crowd-1 {
				t.Fatalf("%v", ends)
			}
			r.seats("1+1")
			r.clear()
		}
	})
}

func TestSpellingsOfOneEmail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for range r.rounds() {
			callers := make([]func() error, crowd)
			for i := range callers {
				var email strings.Builder
				for at, c := range "eve.adams@example.com" {
					if i>>(at%6)&1 == 1 {
						c = []rune(strings.ToUpper(string(c)))[0]
					}
					email.WriteRune(c)
				}
				callers[i] = func() error { _, err := r.invite(email.String()); return err }
			}
			if ends := atOnce(t, callers...); ends[""] != 1 || ends[fault.AlreadyInvited] != crowd-1 {
				t.Fatalf("%v", ends)
			}
			r.seats("1+1")
			r.clear()
		}
	})
}

// An invitation that is accepted and revoked concurrently ends in one of the two states.
func TestAcceptWhileRevoked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		eve := r.user("eve")
		for range r.rounds() {
			i := r.invited(eve.Email)
			ends := atOnce(t,
				func() error { _, err := r.team.Accept(t.Context(), r.token(eve.Email), eve); return err },
				func() error { return r.team.Revoke(t.Context(), r.by, r.tenant, i.ID) },
			)
			accepted := ends[fault.InvitationAlreadyAccepted] == 1
			if ends[""] != 1 || !accepted && ends[fault.InvitationRevoked] != 1 {
				t.Fatalf("%v", ends)
			}
			want, status := "1+0", team.InvitationRevoked
			if accepted {
				want, status = "2+0", team.InvitationAccepted
			}
			r.seats(want)
			now, err := r.team.FindByToken(t.Context(), r.token(eve.Email))
			if err != nil || now.Status != status {
				t.Fatalf("%v %v, want %s", now.Status, err, status)
			}
			r.clear()
		}
	})
}

// A user who is invited by two tenants joins only one.
func TestAcceptTwoTenants(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		eve, founder := r.user("eve"), r.user("founder")
		second := r.found(founder)
		for range r.rounds() {
			r.invited(eve.Email)
			first := r.token(eve.Email)
			if _, err := r.team.Invite(t.Context(), r.by, second, team.NewInvitation{Email: eve.Email, Role: team.MemberRole}); err != nil {
				t.Fatal(err)
			}
			other := r.token(eve.Email)
			ends := atOnce(t,
				func() error { _, err := r.team.Accept(t.Context(), first, eve); return err },
				func() error { _, err := r.team.Accept(t.Context(), other, eve); return err },
			)
			if ends[""] != 1 || ends[fault.UserInAnotherTenant] != 1 {
				t.Fatalf("%v", ends)
			}
			r.exec(`DELETE FROM invitations`)
			r.exec(`DELETE FROM invited_addresses`)
			r.exec(fmt.Sprintf(`DELETE FROM memberships WHERE user_id = %d`, eve.ID))
		}
	})
}

// Every operation that takes the last seat uses the same lock.
func TestLastSeatUnderConcurrency(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.limit.Store(2)
		for range r.rounds() {
			expired := r.invited("old@example.com")
			r.exec(`UPDATE invitations SET expires_at = '2026-01-01 00:00:00+00:00'`)
			ends := atOnce(t,
				func() error { _, err := r.invite("new@example.com"); return err },
				func() error { _, err := r.team.Resend(t.Context(), r.by, r.tenant, expired.ID); return err },
				func() error { _, err := r.invite("newer@example.com"); return err },
			)
			if ends[""] != 1 || ends[fault.SeatLimitReached] != 2 {
				t.Fatalf("%v", ends)
			}
			r.seats("1+1")
			r.clear()
		}
	})
}

// An invitation creates one account, no matter how often its form is submitted.
func TestRegisterTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for round := range 5 {
			email := fmt.Sprintf("eve%d@example.com", round)
			r.invited(email)
			register := func() error {
				_, _, _, err := r.team.AcceptAndRegister(t.Context(), r.token(email), account.Registration{
					Name: "Eve", Email: email, Password: "correct horse",
				}, account.Grant{})
				return err
			}
			if ends := atOnce(t, register, register, register); ends[""] != 1 || ends[fault.InvitationAlreadyAccepted] != 2 {
				t.Fatalf("%v", ends)
			}
			r.seats("2+0")
			r.clear()
		}
	})
}

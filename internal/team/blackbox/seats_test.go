package blackbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/team"
)

// code fails the test unless the error has the code, or is nil for "".
func code(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	var refusal *fault.Error
	var got fault.Code
	switch {
	case errors.As(err, &refusal):
		got = refusal.Code
	case err != nil:
		t.Fatalf("%s: %v", what, err)
	}
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestSeats(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		accept := func(u account.User) error {
			_, err := r.team.Accept(ctx, r.token(u.Email), u)
			return err
		}
		eve, bob, zoe := r.user("eve"), r.user("bob"), r.user("zoe")
		first := r.invited(eve.Email) // without a limit
		r.invited(bob.Email)

		r.limit.Store(2)
		_, err := r.invite(zoe.Email)
		code(t, "invite into a team that is too large", err, fault.SeatLimitReached)
		code(t, "accept into a team that is too large", accept(eve), fault.SeatLimitReached)
		s, err := r.team.Seats(ctx, r.tenant)
		if err != nil || s.Total() != 3 || *s.Available() != -1 {
			t.Errorf("seats: %+v %v", s, err)
		}
		// A pending invitation keeps its seat, even if the team is full.
		_, err = r.team.Resend(ctx, r.by, r.tenant, first.ID)
		code(t, "resend", err, "")

		r.limit.Store(3)
		_, err = r.invite(zoe.Email)
		code(t, "invite into a full team", err, fault.SeatLimitReached)
		code(t, "accept into a full team", accept(eve), "")
		r.seats("2+1")

		// An expired invitation releases its seat. Resending it requires a free seat.
		bobs, err := r.team.FindByToken(ctx, r.token(bob.Email))
		if err != nil {
			t.Fatal(err)
		}
		r.clock.Advance(7 * 24 * time.Hour)
		r.seats("2+0")
		r.invited(zoe.Email)
		_, err = r.team.Resend(ctx, r.by, r.tenant, bobs.ID)
		code(t, "resend an expired one into a full team", err, fault.SeatLimitReached)
		r.limit.Store(4)
		_, err = r.team.Resend(ctx, r.by, r.tenant, bobs.ID)
		code(t, "resend an expired one", err, "")
		r.seats("2+2")

		// Removing a member and revoking an invitation free seats.
		if err := r.team.Remove(ctx, r.by, r.tenant, eve.ID); err != nil {
			t.Fatal(err)
		}
		r.seats("1+2")
		if err := r.team.Revoke(ctx, r.by, r.tenant, bobs.ID); err != nil {
			t.Fatal(err)
		}
		r.seats("1+1")
	})
}

// If an invited user joins in another way, ALREADY_MEMBER is reported before any other error.
func TestAcceptByMember(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		eve := r.user("eve")
		i := r.invited(eve.Email)
		r.exec(fmt.Sprintf(`INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
			VALUES ('%s', %d, 3, '2026-01-01 00:00:00+00:00')`, r.tenant, eve.ID))
		r.limit.Store(1)
		_, err := r.team.Accept(t.Context(), r.token(eve.Email), eve)
		code(t, "accept as a member", err, fault.AlreadyMember)
		r.exec(`UPDATE invitations SET expires_at = '2026-01-01 00:00:00+00:00'`)
		_, err = r.team.Resend(t.Context(), r.by, r.tenant, i.ID)
		code(t, "resend to a member", err, fault.AlreadyMember)
	})
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		i := r.invited("eve@example.com")
		if lasts := i.ExpiresAt.Sub(i.CreatedAt).Hours(); lasts != 7*24 {
			t.Errorf("the invitation is valid for %v hours", lasts)
		}
	})
}

// Registering with the token of a mail proves that the mail was received.
func TestInvitedEmailIsVerified(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.invited("eve@example.com")
		_, _, _, err := r.team.AcceptAndRegister(t.Context(), r.token("eve@example.com"), account.Registration{
			Name: "Eve", Email: "Eve@Example.com", Password: "correct horse",
		}, account.Grant{})
		if err != nil {
			t.Fatal(err)
		}
		var verified int
		row := r.db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM users WHERE email = 'eve@example.com' AND email_verified_at IS NOT NULL`)
		if err := row.Scan(&verified); err != nil || verified != 1 {
			t.Errorf("the email is not verified: %v", err)
		}
	})
}

// Every change adds an entry to the audit trail, and a rejected change adds none.
func TestTrail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		role, err := r.team.CreateRole(ctx, r.by, r.tenant, "Editor", []string{"team.invite"})
		must(err)
		name := "Writer"
		_, err = r.team.UpdateRole(ctx, r.by, r.tenant, role.ID, team.RoleChange{Name: &name})
		must(err)
		eve := r.user("eve")
		i := r.invited(eve.Email)
		_, err = r.invite(eve.Email)
		code(t, "invite twice", err, fault.AlreadyInvited)
		_, err = r.team.Resend(ctx, r.by, r.tenant, i.ID)
		must(err)
		_, err = r.team.Accept(ctx, r.token(eve.Email), eve)
		must(err)
		must(r.team.ChangeRole(ctx, r.by, r.tenant, eve.ID, role.ID))
		password := "a new password"
		_, err = r.team.UpdateProfile(ctx, r.tenant, eve.ID, team.Profile{Name: &name, Password: &password})
		must(err)
		must(r.team.DeleteRole(ctx, r.by, r.tenant, role.ID))
		must(r.team.Remove(ctx, r.by, r.tenant, eve.ID))
		must(r.team.Revoke(ctx, r.by, r.tenant, r.invited("zoe@example.com").ID))

		var actions []string
		for _, e := range r.trail {
			actions = append(actions, e.Action)
			if e.TenantID == nil || *e.TenantID != r.tenant || e.Resource == "" || e.ResourceID == "" {
				t.Errorf("entry: %+v", e)
			}
		}
		want := []string{
			"role.created", "role.updated", "invitation.created", "invitation.resent", "invitation.accepted",
			"member.role_changed", "member.password_set", "member.renamed", "role.deleted", "member.removed",
			"invitation.created", "invitation.revoked",
		}
		if diff := cmp.Diff(want, actions); diff != "" {
			t.Error(diff)
		}
		if got := r.trail[5]; !cmp.Equal(got.Before, any(map[string]any{"role": "member"})) || !cmp.Equal(got.After, any(map[string]any{"role": "Writer"})) {
			t.Errorf("role change: %v, %v", got.Before, got.After)
		}
	})
}

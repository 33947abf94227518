package team

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Invitations lists a tenant's invitations, the newest first; pendingOnly leaves
// out those that cannot be accepted any more.
func (s *Service) Invitations(ctx context.Context, tenantID uuid.UUID, pendingOnly bool) ([]Invitation, error) {
	return s.store.invitations(ctx, tenantID, pendingOnly, s.deps.Clock.Now())
}

// NewInvitation is what an inviter gives.
type NewInvitation struct {
	Email string
	Role  string // its name: admin, member or one of the tenant's own
	Days  int    // how long it works; 0 is the default
}

// Invite makes an invitation and mails it. It refuses, in this order: a role that
// nobody can be given (422) or that holds more than the inviter does (403,
// INSUFFICIENT_PERMISSIONS), ALREADY_MEMBER, USER_BELONGS_TO_ANOTHER_TENANT,
// ALREADY_INVITED, SEAT_LIMIT_REACHED (spec: Errors).
func (s *Service) Invite(ctx context.Context, by Actor, tenantID uuid.UUID, n NewInvitation) (Invitation, error) {
	email, err := mail.NormalizeAddress(n.Email)
	if err != nil {
		return Invitation{}, err
	}
	if n.Days == 0 {
		n.Days = s.deps.ExpiryDays
	}
	var made Invitation
	err = s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		role, err := s.store.roleNamed(ctx, tenantID, n.Role)
		switch {
		case errors.Is(err, errNoRole) || err == nil && role.Name == Owner:
			return errUnknownRole
		case err != nil:
			return err
		case !by.holds(role.Permissions):
			return errMayNotInvite
		}
		if err := s.needPlace(ctx, tenantID, email); err != nil {
			return err
		}
		now, token := s.deps.Clock.Now(), account.NewSecret()
		i := Invitation{
			ID: sqldb.NewID(), Tenant: tenantID, Email: email, RoleID: role.ID, InviterID: by.UserID, CreatedAt: now, days: n.Days,
		}.sent(now, account.HashSecret(token))
		if err := s.store.insertInvitation(ctx, i); err != nil {
			return err
		}
		if made, err = s.mail(ctx, i, token); err != nil {
			return err
		}
		return s.recordInvitation(ctx, "invitation.created", nil, &made)
	})
	return made, err
}

// needPlace refuses to invite an email that has no place in the tenant.
func (s *Service) needPlace(ctx context.Context, tenantID uuid.UUID, email string) error {
	at, err := s.store.tenantOf(ctx, email)
	switch {
	case err != nil:
		return err
	case at != nil && *at == tenantID:
		return errAlreadyMember
	case at != nil:
		return tenant.ErrInAnotherTenant
	}
	invited, err := s.store.isInvited(ctx, tenantID, email, s.deps.Clock.Now())
	if err != nil {
		return err
	}
	if invited {
		return errAlreadyInvited
	}
	return s.needSeats(ctx, tenantID, 1)
}

// mail sends an invitation in the locale of who asked for it, and returns it as
// it was stored. The token is nowhere but in the mail.
func (s *Service) mail(ctx context.Context, i Invitation, token string) (Invitation, error) {
	stored, err := s.store.invitation(ctx, i.Tenant, i.ID, s.deps.Clock.Now())
	if err != nil {
		return Invitation{}, err
	}
	return stored, s.deps.Letters.Invitation(ctx, i18n.Locale(ctx), stored.Email, letters.Invitation{
		Token: token, Tenant: stored.TenantName, Inviter: stored.Inviter, Role: stored.Role, ExpiresAt: stored.ExpiresAt,
	})
}

// Revoke takes an invitation back. One that was accepted or revoked is gone
// (410).
func (s *Service) Revoke(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		now := s.deps.Clock.Now()
		i, err := s.store.invitation(ctx, tenantID, id, now)
		if err != nil {
			return err
		}
		if err := i.open(); err != nil {
			return err
		}
		revoked := i
		revoked.Status, revoked.UpdatedAt = Revoked, now
		if err := s.store.updateInvitation(ctx, revoked); err != nil {
			return err
		}
		return s.recordInvitation(ctx, "invitation.revoked", &i, &revoked)
	})
}

// Resend mails an invitation anew, with a token that replaces the old one and for
// as many days as before. One that has expired must find a place again, as if it
// were new; one that was accepted or revoked is gone (410).
//
// The role is not judged again: it may hold by now what it did not at first, and
// so only who could invite into it may resend.
func (s *Service) Resend(ctx context.Context, by Actor, tenantID, id uuid.UUID) (Invitation, error) {
	var sent Invitation
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		now := s.deps.Clock.Now()
		i, err := s.store.invitation(ctx, tenantID, id, now)
		if err != nil {
			return err
		}
		if err := i.open(); err != nil {
			return err
		}
		role, err := s.store.role(ctx, tenantID, i.RoleID)
		if err != nil {
			return err
		}
		if !by.holds(role.Permissions) {
			return errMayNotInvite
		}
		if i.Status == Expired {
			if err := s.needPlace(ctx, tenantID, i.Email); err != nil {
				return err
			}
		}
		token := account.NewSecret()
		again := i.sent(now, account.HashSecret(token))
		if err := s.store.updateInvitation(ctx, again); err != nil {
			return err
		}
		if sent, err = s.mail(ctx, again, token); err != nil {
			return err
		}
		return s.recordInvitation(ctx, "invitation.resent", &i, &sent)
	})
	return sent, err
}

func (s *Service) recordInvitation(ctx context.Context, action string, before, after *Invitation) error {
	state := func(i *Invitation) any {
		if i == nil {
			return nil
		}
		return map[string]any{"email": i.Email, "role": i.Role, "status": i.Status, "expires_at": i.ExpiresAt}
	}
	return s.record(ctx, after.Tenant, action, "invitation", after.ID.String(), state(before), state(after))
}

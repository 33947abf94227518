package team

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Invitations lists a tenant's invitations in batches, newest first. With pendingOnly, it lists
// only invitations that could be accepted when Invitations was called. The order is stable, because
// the creation time does not change.
func (s *Service) Invitations(tenantID uuid.UUID, pendingOnly bool) page.NextPart[Invitation] {
	now, read := s.deps.Clock.Now(), s.store.invitationsAfter
	if pendingOnly {
		read = s.store.pendingAfter
	}
	return page.ReadAfter(beforeNewest, func(ctx context.Context, last Invitation, most int) ([]Invitation, error) {
		return read(ctx, tenantID, last, most, now)
	})
}

// InvitationsOnPage returns one page of the same list and the total number of invitations.
func (s *Service) InvitationsOnPage(ctx context.Context, tenantID uuid.UUID, pendingOnly bool, q page.Query) ([]Invitation, int64, error) {
	if pendingOnly {
		return s.store.pendingOnPage(ctx, tenantID, q, s.deps.Clock.Now())
	}
	return s.store.invitationsOnPage(ctx, tenantID, q, s.deps.Clock.Now())
}

// NewInvitation is the input of Invite.
type NewInvitation struct {
	Email string
	Role  string // the name of the role: admin, member or a custom role
	Days  int    // validity in days; 0 means the default
}

// Invite creates an invitation and mails it. It fails, in this order, if the role cannot be
// assigned (422) or has permissions that the inviter lacks (403, INSUFFICIENT_PERMISSIONS), then
// with ALREADY_MEMBER, USER_BELONGS_TO_ANOTHER_TENANT, ALREADY_INVITED or SEAT_LIMIT_REACHED, and
// then if there are too many pending invitations (422) or mails to the address (429;
// rules: team#invitations).
func (s *Service) Invite(ctx context.Context, by Actor, tenantID uuid.UUID, n NewInvitation) (Invitation, error) {
	email, err := mail.NormalizeAddress(n.Email)
	if err != nil {
		return Invitation{}, fault.Join(err, s.checkRoleName(ctx, tenantID, n.Role))
	}
	if n.Days == 0 {
		n.Days = s.deps.ExpiryDays
	}
	var made Invitation
	err = s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		role, err := s.loadAssignableRole(ctx, tenantID, n.Role)
		switch {
		case err != nil:
			return err
		case !by.hasPermissions(append([]string{authz.TeamInvite}, role.Permissions...)):
			return errMayNotInvite
		}
		if err := s.checkInvitable(ctx, tenantID, email); err != nil {
			return err
		}
		now, token := s.deps.Clock.Now(), account.NewSecret()
		if err := s.countMail(ctx, tenantID, email, now); err != nil {
			return err
		}
		i := Invitation{
			ID: sqldb.NewID(), Tenant: tenantID, Email: email, RoleID: role.ID, InviterID: by.UserID, CreatedAt: now, days: n.Days,
		}.withNewToken(now, account.HashSecret(token))
		if err := s.store.insertInvitation(ctx, i); err != nil {
			return err
		}
		if made, err = s.mail(ctx, i, token); err != nil {
			return err
		}
		if err := s.publishInvitationEvent(ctx, hook.InvitationCreated, tenantID, i.ID); err != nil {
			return err
		}
		return s.recordInvitation(ctx, "invitation.created", nil, &made)
	})
	return made, err
}

// loadAssignableRole returns the role with the given name, if an invitation can have it.
func (s *Service) loadAssignableRole(ctx context.Context, tenantID uuid.UUID, name string) (Role, error) {
	role, err := s.store.roleNamed(ctx, tenantID, name)
	if errors.Is(err, errNoRole) || err == nil && role.Name == Owner {
		err = errUnknownRole
	}
	return role, err
}

// checkRoleName rejects a name that is not the name of an assignable role. It accepts an empty
// name, which is rejected elsewhere.
func (s *Service) checkRoleName(ctx context.Context, tenantID uuid.UUID, name string) error {
	if name = strings.TrimSpace(name); name == "" {
		return nil
	}
	_, err := s.loadAssignableRole(ctx, tenantID, name)
	return err
}

// checkInvitable rejects an email that already belongs to a tenant or is invited. It also rejects
// an invitation if no seat is free or the tenant has too many pending invitations.
func (s *Service) checkInvitable(ctx context.Context, tenantID uuid.UUID, email string) error {
	at, err := s.store.tenantOf(ctx, email)
	switch {
	case errors.Is(err, errInNoTenant):
	case err != nil:
		return err
	case at == tenantID:
		return errAlreadyMember
	default:
		return tenant.ErrInAnotherTenant
	}
	now := s.deps.Clock.Now()
	switch _, err := s.store.pendingOf(ctx, tenantID, email, now); {
	case err == nil:
		return errAlreadyInvited
	case !errors.Is(err, errNoInvitation):
		return err
	}
	if err := s.requireSeats(ctx, tenantID, 1); err != nil {
		return err
	}
	return s.requirePendingSlot(ctx, tenantID, now)
}

// mail sends an invitation and returns it as it was stored. The token is only in the mail.
func (s *Service) mail(ctx context.Context, i Invitation, token string) (Invitation, error) {
	stored, err := s.store.invitation(ctx, i.Tenant, i.ID, s.deps.Clock.Now())
	if err != nil {
		return Invitation{}, err
	}
	locale, err := s.locale(ctx, i.Tenant, stored.Email)
	if err != nil {
		return Invitation{}, err
	}
	return stored, s.deps.Letters.Invitation(ctx, locale, stored.Email, letters.Invitation{
		Token: token, Tenant: stored.TenantName, Inviter: stored.Inviter, Role: stored.Role, ExpiresAt: stored.ExpiresAt,
	})
}

// locale returns the language of an invitation: the tenant's setting, else the language of the user
// with the email, else the owner's language, else the language of the request.
func (s *Service) locale(ctx context.Context, tenantID uuid.UUID, email string) (string, error) {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return "", err
	}
	own, err := s.deps.Accounts.LocaleOfEmail(ctx, email)
	if err != nil {
		return "", err
	}
	if locale := t.LocaleFor(own, ""); locale != "" {
		return locale, nil
	}
	return s.deps.Tenants.Locale(ctx, t, i18n.Locale(ctx))
}

// Revoke revokes an invitation. It rejects an invitation that was already accepted or revoked
// (410), or whose role has a permission that the actor lacks (403).
func (s *Service) Revoke(ctx context.Context, by Actor, tenantID, id uuid.UUID) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		now := s.deps.Clock.Now()
		i, err := s.store.invitation(ctx, tenantID, id, now)
		if err != nil {
			return err
		}
		if err := i.checkOpen(); err != nil {
			return err
		}
		if err := s.checkRolePermissions(ctx, by, tenantID, i.RoleID); err != nil {
			return err
		}
		revoked := i
		revoked.Status, revoked.UpdatedAt = InvitationRevoked, now
		if err := s.store.updateInvitation(ctx, revoked); err != nil {
			return err
		}
		if err := s.publishInvitationEvent(ctx, hook.InvitationRevoked, tenantID, id); err != nil {
			return err
		}
		return s.recordInvitation(ctx, "invitation.revoked", &i, &revoked)
	})
}

// Resend mails an invitation again. A new token replaces the old one and is valid for as many days
// as before. An expired invitation is checked like a new one, because its seat has been released.
// An invitation that was accepted or revoked is rejected (410).
//
// The role may have gained permissions since the invitation was created, so the actor must be able
// to invite to it now (403). As for a new invitation, too many mails to the address are rejected
// (429).
func (s *Service) Resend(ctx context.Context, by Actor, tenantID, id uuid.UUID) (Invitation, error) {
	var sent Invitation
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		now := s.deps.Clock.Now()
		i, err := s.store.invitation(ctx, tenantID, id, now)
		if err != nil {
			return err
		}
		if err := i.checkOpen(); err != nil {
			return err
		}
		role, err := s.store.role(ctx, tenantID, i.RoleID)
		if err != nil {
			return err
		}
		if !by.hasPermissions(role.Permissions) {
			return errMayNotInvite
		}
		if i.Status == InvitationExpired {
			if err := s.checkInvitable(ctx, tenantID, i.Email); err != nil {
				return err
			}
		}
		if err := s.countMail(ctx, tenantID, i.Email, now); err != nil {
			return err
		}
		token := account.NewSecret()
		again := i.withNewToken(now, account.HashSecret(token))
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

// DeleteOldInvitations deletes up to limit invitations in any status that expired between from
// (inclusive) and before (exclusive), oldest first. It returns their expiry times.
func (s *Service) DeleteOldInvitations(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOldInvitations(ctx, from, before, limit)
}

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

// Invitations lists a tenant's invitations in parts, the newest first; pendingOnly leaves out
// those that can no longer be accepted when the list begins. An invitation keeps its place: the
// time when it was made does not change.
func (s *Service) Invitations(tenantID uuid.UUID, pendingOnly bool) page.NextPart[Invitation] {
	now, read := s.deps.Clock.Now(), s.store.invitationsAfter
	if pendingOnly {
		read = s.store.pendingAfter
	}
	return page.ReadAfter(beforeNewest, func(ctx context.Context, last Invitation, most int) ([]Invitation, error) {
		return read(ctx, tenantID, last, most, now)
	})
}

// InvitationsOnPage lists the invitations on a page of that list, and how many there are on
// all.
func (s *Service) InvitationsOnPage(ctx context.Context, tenantID uuid.UUID, pendingOnly bool, q page.Query) ([]Invitation, int64, error) {
	if pendingOnly {
		return s.store.pendingOnPage(ctx, tenantID, q, s.deps.Clock.Now())
	}
	return s.store.invitationsOnPage(ctx, tenantID, q, s.deps.Clock.Now())
}

// NewInvitation is what an inviter gives.
type NewInvitation struct {
	Email string
	Role  string // its name: admin, member or one of the tenant's own
	Days  int    // how long it works; 0 is the default
}

// Invite makes an invitation and mails it. It refuses, in this order: a role that
// nobody can be given (422) or that has permissions that the inviter lacks (403,
// INSUFFICIENT_PERMISSIONS), ALREADY_MEMBER, USER_BELONGS_TO_ANOTHER_TENANT,
// ALREADY_INVITED, SEAT_LIMIT_REACHED, too many pending invitations (422), too many
// mails to the address (429; rules: team#invitations).
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

// loadAssignableRole returns the role with a name that an invitation can have.
func (s *Service) loadAssignableRole(ctx context.Context, tenantID uuid.UUID, name string) (Role, error) {
	role, err := s.store.roleNamed(ctx, tenantID, name)
	if errors.Is(err, errNoRole) || err == nil && role.Name == Owner {
		err = errUnknownRole
	}
	return role, err
}

// checkRoleName refuses a name that no assignable role has. It accepts an empty name, which is
// refused elsewhere.
func (s *Service) checkRoleName(ctx context.Context, tenantID uuid.UUID, name string) error {
	if name = strings.TrimSpace(name); name == "" {
		return nil
	}
	_, err := s.loadAssignableRole(ctx, tenantID, name)
	return err
}

// checkInvitable refuses to invite an email that is in a tenant or invited already, or
// for which there is no seat or no room among the pending invitations.
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
	invited, err := s.store.isInvited(ctx, tenantID, email, now)
	if err != nil {
		return err
	}
	if invited {
		return errAlreadyInvited
	}
	if err := s.needSeats(ctx, tenantID, 1); err != nil {
		return err
	}
	return s.needPending(ctx, tenantID, now)
}

// mail sends an invitation and returns it as it was stored. The token is only in the
// mail.
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

// locale returns the language of an invitation to an email: the one that the tenant has
// set, else that of the user who has the email, the owner's, the request's.
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

// Revoke revokes an invitation. One that was accepted or revoked already is refused
// (410), and one to a role with a permission that the actor lacks (403).
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

// Resend mails an invitation again, with a token that replaces the old one and for as
// many days as before. One that has expired is checked like a new one, because it gave
// up its seat. One that was accepted or revoked is refused (410).
//
// The role may have got more permissions since the invitation was made, so only
// someone who could invite to it now may resend (403). Too many mails to the address
// are refused as for a new invitation (429).
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

// DeleteOldInvitations deletes at most limit invitations, whatever became of them, whose
// expiry is from (inclusive) to before (exclusive), the oldest first, and returns the times
// of their expiry.
func (s *Service) DeleteOldInvitations(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOldInvitations(ctx, from, before, limit)
}

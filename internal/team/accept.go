package team

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/tenant"
)

// FindByToken returns the invitation whose mail has a token; INVITATION_NOT_FOUND (404)
// for a token that is unknown or was replaced.
func (s *Service) FindByToken(ctx context.Context, token string) (Invitation, error) {
	return s.store.findByToken(ctx, account.HashSecret(token), s.deps.Clock.Now())
}

// joinResult is the result of accepting an invitation.
type joinResult struct {
	Invitation Invitation
	// Member is the new member as a caller, with the permissions of their role.
	Member *authz.Caller
	Tenant tenant.Tenant
}

// Accept makes a user a member of the tenant that has invited them. It refuses,
// in this order: an invitation that is unknown (404), revoked, accepted or expired
// (410), or somebody else's (EMAIL_MISMATCH), ALREADY_MEMBER,
// USER_BELONGS_TO_ANOTHER_TENANT, SEAT_LIMIT_REACHED.
func (s *Service) Accept(ctx context.Context, token string, user account.User) (joinResult, error) {
	found, err := s.FindByToken(ctx, token)
	if err != nil {
		return joinResult{}, err
	}
	var joined joinResult
	err = s.change(ctx, found.Tenant, func(ctx context.Context, t tenant.Tenant) error {
		// Read again, because it may have been revoked or resent before the lock.
		i, err := s.FindByToken(ctx, token)
		if err != nil {
			return err
		}
		if err := i.checkAcceptable(user.Email); err != nil {
			return err
		}
		joined, err = s.join(ctx, t, i, user)
		return err
	})
	return joined, err
}

// join adds a member by an acceptable invitation. The tenant is locked.
func (s *Service) join(ctx context.Context, t tenant.Tenant, i Invitation, user account.User) (joinResult, error) {
	if err := s.deps.Accounts.LockExisting(ctx, user.ID); err != nil {
		return joinResult{}, err
	}
	at, err := s.store.tenantOf(ctx, user.Email)
	switch {
	case errors.Is(err, errInNoTenant):
	case err != nil:
		return joinResult{}, err
	case at == t.ID:
		return joinResult{}, errAlreadyMember
	default:
		return joinResult{}, tenant.ErrInAnotherTenant
	}
	// The member takes the seat of the invitation, so that no other seat is needed. But
	// the tenant may have changed to a smaller plan since.
	if err := s.needSeats(ctx, t.ID, 0); err != nil {
		return joinResult{}, err
	}
	role, err := s.store.role(ctx, t.ID, i.RoleID)
	if err != nil {
		return joinResult{}, err
	}
	now := s.deps.Clock.Now()
	added, err := s.store.insertMember(ctx, t.ID, user.ID, role.ID, now)
	if err != nil {
		return joinResult{}, err
	}
	if !added { // they joined another tenant since the check; its lock is not held here
		return joinResult{}, tenant.ErrInAnotherTenant
	}
	// The invitation's token was mailed to the user's address.
	if err := s.deps.Accounts.Verify(ctx, user.ID); err != nil {
		return joinResult{}, err
	}
	if err := s.deps.Billing.SeatsChanged(ctx, t.ID); err != nil {
		return joinResult{}, err
	}
	accepted := i
	accepted.Status, accepted.UpdatedAt = InvitationAccepted, now
	if err := s.store.updateInvitation(ctx, accepted); err != nil {
		return joinResult{}, err
	}
	if err := s.publishInvitationEvent(ctx, hook.InvitationAccepted, t.ID, i.ID); err != nil {
		return joinResult{}, err
	}
	if err := s.PublishMemberEvent(ctx, hook.MemberJoined, t.ID, user.ID); err != nil {
		return joinResult{}, err
	}
	return joinResult{Invitation: accepted, Tenant: t, Member: memberCaller(ctx, user, t, role)},
		s.recordInvitation(ctx, "invitation.accepted", &i, &accepted)
}

// memberCaller returns the user as the caller that they will be at their next request.
func memberCaller(ctx context.Context, user account.User, t tenant.Tenant, role Role) *authz.Caller {
	c := authz.Caller{UserID: user.ID, Name: user.Name, Email: user.Email, IsPlatformAdmin: user.IsPlatformAdmin}
	if caller := authz.FromContext(ctx); caller != nil && caller.UserID == user.ID {
		c = *caller
	}
	c.Tenant = &authz.Membership{
		TenantID: t.ID, TenantName: t.Name, Role: role.Name, Permissions: role.Permissions,
		OnboardingComplete: t.OnboardingCompletedAt != nil,
	}
	return &c
}

// AcceptAndRegister makes an account for the invited person, makes them a member and
// logs them in, all or nothing. It refuses what Accept refuses, and an email that has
// an account already (ACCOUNT_ALREADY_EXISTS): its owner can log in and accept. The
// account gets no tenant of its own. The email counts as verified, because the mail
// with the token was read.
func (s *Service) AcceptAndRegister(ctx context.Context, token string, r account.Registration, g account.Grant) (joinResult, account.User, account.Tokens, error) {
	var joined joinResult
	// Checked before the password is hashed, which takes long, and again under the
	// tenant's lock.
	if err := s.registrable(ctx, token, r.Email); err != nil {
		return joinResult{}, account.User{}, account.Tokens{}, err
	}
	r.EmailVerified = true
	user, tokens, err := s.deps.Accounts.RegisterWith(ctx, r, g, func(ctx context.Context, user account.User) error {
		var err error
		joined, err = s.Accept(authz.With(ctx, &authz.Caller{UserID: user.ID, Name: user.Name, Email: user.Email}), token, user)
		return err
	})
	if account.IsEmailTaken(err) {
		// Whoever registered the email meanwhile may have used this same invitation.
		if err = s.registrable(ctx, token, r.Email); err == nil {
			err = errAccountExists
		}
	}
	return joined, user, tokens, err
}

// registrable refuses an invitation that somebody cannot register with. It looks for
// their account before it reads the invitation: so where another request has just
// registered with this invitation, it is also seen as accepted, which is the refusal
// that comes first.
func (s *Service) registrable(ctx context.Context, token, email string) error {
	normal, malformed := mail.NormalizeAddress(email)
	exists := false
	if malformed == nil {
		var err error
		if exists, err = s.deps.Accounts.Exists(ctx, normal); err != nil {
			return err
		}
	}
	i, err := s.FindByToken(ctx, token)
	switch {
	case err != nil:
		return err
	case malformed != nil:
		return errOtherEmail
	}
	if err := i.checkAcceptable(normal); err != nil {
		return err
	}
	if exists {
		return errAccountExists
	}
	return nil
}

package team

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/tenant"
)

// FindByToken returns the invitation that was mailed with the token. It returns
// INVITATION_NOT_FOUND (404) if the token is unknown or was replaced.
func (s *Service) FindByToken(ctx context.Context, token string) (Invitation, error) {
	return s.store.findByToken(ctx, account.HashSecret(token), s.deps.Clock.Now())
}

// JoinResult is the result of accepting an invitation.
type JoinResult struct {
	Invitation Invitation
	// Member is the new member as a caller, with the permissions of the role.
	Member *authz.Caller
	Tenant tenant.Tenant
}

// Accept makes a user a member of the inviting tenant. It fails, in this order, if the invitation
// is unknown (404), revoked, accepted or expired (410), or addressed to another email
// (EMAIL_MISMATCH), and then with ALREADY_MEMBER, USER_BELONGS_TO_ANOTHER_TENANT or
// SEAT_LIMIT_REACHED.
func (s *Service) Accept(ctx context.Context, token string, user account.User) (JoinResult, error) {
	found, err := s.FindByToken(ctx, token)
	if err != nil {
		return JoinResult{}, err
	}
	var joined JoinResult
	err = s.change(ctx, found.Tenant, func(ctx context.Context, t tenant.Tenant) error {
		// Read the invitation again, because it may have been revoked or resent before the lock was
		// taken.
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

// join adds a member by an acceptable invitation. The tenant must be locked.
func (s *Service) join(ctx context.Context, t tenant.Tenant, i Invitation, user account.User) (JoinResult, error) {
	if err := s.deps.Accounts.LockExisting(ctx, user.ID); err != nil {
		return JoinResult{}, err
	}
	at, err := s.store.tenantOf(ctx, user.Email)
	switch {
	case errors.Is(err, errInNoTenant):
	case err != nil:
		return JoinResult{}, err
	case at == t.ID:
		return JoinResult{}, errAlreadyMember
	default:
		return JoinResult{}, tenant.ErrInAnotherTenant
	}
	// The member takes over the seat of the invitation, so no further seat is needed. But the
	// tenant may have changed to a smaller plan since.
	if err := s.requireSeats(ctx, t.ID, 0); err != nil {
		return JoinResult{}, err
	}
	role, err := s.store.role(ctx, t.ID, i.RoleID)
	if err != nil {
		return JoinResult{}, err
	}
	added, err := s.store.insertMember(ctx, t.ID, user.ID, role.ID, s.deps.Clock.Now())
	if err != nil {
		return JoinResult{}, err
	}
	if !added { // the user has joined another tenant since the check; that tenant's lock is not held here
		return JoinResult{}, tenant.ErrInAnotherTenant
	}
	// The token was mailed to the user's address, so the address is verified.
	if err := s.deps.Accounts.Verify(ctx, user.ID); err != nil {
		return JoinResult{}, err
	}
	if err := s.deps.Billing.SeatsChanged(ctx, t.ID); err != nil {
		return JoinResult{}, err
	}
	accepted, err := s.markAccepted(ctx, i)
	if err != nil {
		return JoinResult{}, err
	}
	return JoinResult{Invitation: accepted, Tenant: t, Member: memberCaller(ctx, user, t, role)},
		s.PublishMemberEvent(ctx, hook.MemberJoined, t.ID, user.ID)
}

// markAccepted stores that the invited person is a member. The tenant must be locked.
func (s *Service) markAccepted(ctx context.Context, i Invitation) (Invitation, error) {
	accepted := i
	accepted.Status, accepted.UpdatedAt = InvitationAccepted, s.deps.Clock.Now()
	if err := s.store.updateInvitation(ctx, accepted); err != nil {
		return Invitation{}, err
	}
	if err := s.publishInvitationEvent(ctx, hook.InvitationAccepted, i.Tenant, i.ID); err != nil {
		return Invitation{}, err
	}
	err := s.recordInvitation(ctx, "invitation.accepted", &i, &accepted)
	return accepted, err
}

// Joined completes the joining of a member who did not use an invitation: a pending invitation of the
// member counts as accepted, so that it takes no second seat, and member.joined is published. The
// tenant must be locked.
func (s *Service) Joined(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	m, err := s.store.member(ctx, tenantID, userID)
	if err != nil {
		return err
	}
	i, err := s.store.pendingOf(ctx, tenantID, m.Email, s.deps.Clock.Now())
	if err == nil {
		_, err = s.markAccepted(ctx, i)
	}
	if err != nil && !errors.Is(err, errNoInvitation) {
		return err
	}
	return s.PublishMemberEvent(ctx, hook.MemberJoined, tenantID, userID)
}

// memberCaller returns the user as the caller of their next request.
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

// AcceptAndRegister creates an account for the invited person, makes them a member and logs them
// in, all or nothing. It rejects the same invitations as Accept. It also rejects an email that
// already has an account (ACCOUNT_ALREADY_EXISTS): the user can log in and accept the invitation.
// No tenant is created for the account. The email counts as verified, because the mail with the
// token was read.
func (s *Service) AcceptAndRegister(ctx context.Context, token string, r account.Registration, g account.Grant) (JoinResult, account.User, account.Tokens, error) {
	var joined JoinResult
	// Check before the password is hashed, which is slow, and again under the tenant's lock.
	if err := s.registrable(ctx, token, r.Email); err != nil {
		return JoinResult{}, account.User{}, account.Tokens{}, err
	}
	r.EmailVerified = true
	user, tokens, err := s.deps.Accounts.RegisterWith(ctx, r, g, func(ctx context.Context, user account.User) error {
		var err error
		joined, err = s.Accept(authz.With(ctx, &authz.Caller{UserID: user.ID, Name: user.Name, Email: user.Email}), token, user)
		return err
	})
	if account.IsEmailTaken(err) {
		// A concurrent registration with this email may have used the same invitation.
		if err = s.registrable(ctx, token, r.Email); err == nil {
			err = errAccountExists
		}
	}
	return joined, user, tokens, err
}

// registrable rejects an email that cannot register with the invitation. It looks up the account
// before it reads the invitation. So if another request has just registered with this invitation,
// the returned error is that the invitation was accepted.
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

package selfservice

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// singleSignOn is the provider of identities from the tenant's connection, which users cannot
// remove.
const singleSignOn = "sso"

// Identity is an account at an identity provider that is linked to a user.
type Identity struct {
	ID         uuid.UUID
	Provider   string
	Email      string // at the provider
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// Identities returns the identities of a user, oldest first.
func (s *Service) Identities(ctx context.Context, userID int64) ([]Identity, error) {
	return s.store.identities(ctx, userID)
}

// RemoveIdentity removes an identity of the caller and ends the logins through it. It returns
// LAST_LOGIN_METHOD if the account could not log in without it by an enabled method, and
// IDENTITY_MANAGED for the identity of the tenant's single sign-on. A later delegated login treats the
// identity as new.
//
// Invariant: the user is locked while the identities are counted, so concurrent calls cannot remove
// the last two.
func (s *Service) RemoveIdentity(ctx context.Context, caller *authz.Caller, id uuid.UUID, c factor.Confirmation) error {
	known, err := s.store.identities(ctx, caller.UserID)
	if err == nil && !slices.ContainsFunc(known, func(i Identity) bool { return i.ID == id }) {
		err = errNotFound
	}
	if err != nil {
		return err
	}
	return s.deps.Factors.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		identities, err := s.store.identities(ctx, self.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(identities, func(i Identity) bool { return i.ID == id })
		switch {
		case i < 0:
			return errNotFound
		case identities[i].Provider == singleSignOn:
			return errIdentityManaged
		}
		canLogIn, err := s.canLogIn(ctx, self, slices.Concat(identities[:i], identities[i+1:]))
		if err == nil && !canLogIn {
			err = errLastLoginMethod
		}
		if err != nil {
			return err
		}
		if err := s.store.deleteIdentity(ctx, id); err != nil {
			return err
		}
		if err := s.deps.Accounts.EndLoginsThrough(ctx, self.ID, id); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, self.ID, "identity.removed", map[string]any{"id": id, "provider": identities[i].Provider}, nil)
	})
}

// canLogIn reports whether a user with the identities can log in by an enabled method.
func (s *Service) canLogIn(ctx context.Context, self account.Self, identities []Identity) (bool, error) {
	if s.deps.EmailCodes || s.deps.Passwords && self.HasPassword {
		return true, nil
	}
	providers := append(s.deps.Providers(), singleSignOn)
	if slices.ContainsFunc(identities, func(i Identity) bool { return slices.Contains(providers, i.Provider) }) {
		return true, nil
	}
	if !s.deps.Passkeys {
		return false, nil
	}
	return s.deps.Factors.CanLogIn(ctx, self.ID)
}

func (s store) identities(ctx context.Context, userID int64) ([]Identity, error) {
	rows, err := s.q(ctx).Identities(ctx, userID)
	identities := make([]Identity, len(rows))
	for i, row := range rows {
		identities[i] = Identity(row)
	}
	return identities, sqldb.Wrap(err, "list identities")
}

func (s store) deleteIdentity(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeleteIdentity(ctx, id), "delete identity")
}

// UserIdentity is an identity in the API.
type UserIdentity struct {
	ID         uuid.UUID   `json:"id"`
	Provider   string      `json:"provider"`
	Email      string      `json:"email" doc:"Email address at the identity provider."`
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at" doc:"Time of the last login with the identity, in UTC. Null if unknown."`
}

// Identities handles GET /user/identities.
func (h *HTTP) Identities(ctx context.Context, _ *struct{}) (*rest.Data[[]UserIdentity], error) {
	identities, err := h.svc.Identities(ctx, authz.FromContext(ctx).UserID)
	if err != nil {
		return nil, err
	}
	views := make([]UserIdentity, len(identities))
	for i, one := range identities {
		views[i] = UserIdentity{
			ID: one.ID, Provider: one.Provider, Email: one.Email,
			CreatedAt: shape.T(one.CreatedAt), LastUsedAt: shape.TP(one.LastUsedAt),
		}
	}
	return rest.OK(views), nil
}

type identityInput struct {
	ID   string `path:"id"`
	Body struct {
		factor.Confirmation
	}
}

// RemoveIdentity handles DELETE /user/identities/{id}.
func (h *HTTP) RemoveIdentity(ctx context.Context, in *identityInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.ID)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.RemoveIdentity(ctx, authz.FromContext(ctx), id, in.Body.Confirmation)
}

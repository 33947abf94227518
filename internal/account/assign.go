package account

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// NewOwner describes the owner that the platform chooses for a tenant.
type NewOwner struct {
	Email      string
	Name       string  // of a new account; empty means the part of the email before the @
	Locale     *string // of a new account and of its mail
	ExternalID *string // nil leaves the ID of an existing account unchanged
}

// errExternalID means that another user has the external ID. The field is named as in requests that
// set an owner.
var errExternalID = fault.OnField("owner.external_id", "validation.taken")

// CheckOwner returns the validation errors that AssignOwner would return.
func (s *Service) CheckOwner(ctx context.Context, o NewOwner) error {
	if o.ExternalID == nil {
		return nil
	}
	email, err := mail.NormalizeAddress(o.Email)
	if err != nil {
		email = "" // no account uses it
	}
	holder, err := s.store.emailOfExternalID(ctx, *o.ExternalID)
	if errors.Is(err, errNoUser) {
		return nil
	}
	if err == nil && holder != email {
		err = errExternalID
	}
	return err
}

// AssignOwner returns the account of an owner, locked in the transaction of ctx, and creates it if
// no account uses the email. It calls join, which adds the user to the tenant. An existing account
// keeps its name. Unless its email is verified, the owner gets one mail, in the owner's language,
// with a link to set a password. Using the link verifies the email and claims the account (rules:
// tenant#provisioning).
func (s *Service) AssignOwner(ctx context.Context, o NewOwner, tenantName string, join func(ctx context.Context, userID int64) error) (int64, error) {
	email, err := mail.NormalizeAddress(o.Email)
	if err != nil {
		return 0, fault.OnField("owner.email", "validation.email")
	}
	user := User{Name: o.Name, Email: email, Locale: o.Locale}
	if user.Name == "" {
		user.Name, _, _ = strings.Cut(email, "@")
	}
	now := s.deps.Clock.Now()
	user.ID, err = s.store.insertUser(ctx, newUser{name: user.Name, email: email, locale: o.Locale, externalID: o.ExternalID}, now)
	switch {
	case errors.Is(err, errEmailTaken):
		return s.assignExisting(ctx, email, o, tenantName, join, now)
	case sqldb.IsUnique(err): // on external_id; the case above handles the email
		return 0, errExternalID
	case err != nil:
		return 0, err
	}
	if err := join(ctx, user.ID); err != nil {
		return 0, err
	}
	return user.ID, s.mailNewOwner(ctx, user, tenantName, now)
}

// assignExisting is AssignOwner for an existing account. If its email is not verified, another person
// may have registered it, so the owner gets the mail of a new account.
func (s *Service) assignExisting(ctx context.Context, email string, o NewOwner, tenantName string, join func(ctx context.Context, userID int64) error, now time.Time) (int64, error) {
	id, _, err := s.store.userOfEmail(ctx, email)
	if err != nil {
		return 0, err
	}
	user, err := s.lock(ctx, id)
	if err != nil {
		return 0, err
	}
	if err := join(ctx, id); err != nil {
		return 0, err
	}
	if o.ExternalID != nil {
		err = s.store.setExternalID(ctx, id, *o.ExternalID, now)
		if sqldb.IsUnique(err) {
			err = errExternalID
		}
	}
	if err != nil || user.verified {
		return id, err
	}
	return id, s.mailNewOwner(ctx, User{ID: id, Name: cmp.Or(o.Name, user.Name), Email: email, Locale: cmp.Or(o.Locale, user.Locale)}, tenantName, now)
}

// mailNewOwner mails the link with which a new owner sets the first password. The link is valid for
// Deps.OwnerLinks, and only the newest link of a user works.
func (s *Service) mailNewOwner(ctx context.Context, user User, tenantName string, now time.Time) error {
	token, lifetime := newRefreshToken(), s.deps.OwnerLinks
	if err := s.store.putReset(ctx, user.ID, token, now, lifetime); err != nil {
		return err
	}
	var locale string
	if user.Locale != nil {
		locale = *user.Locale
	} else {
		var err error
		if locale, err = s.deps.Tenants.LocaleOf(ctx, user.ID, nil, i18n.Locale(ctx)); err != nil {
			return err
		}
	}
	return s.deps.Notices.NewOwner(ctx, locale, user.Email, user.Name, tenantName, token, now.Add(lifetime))
}

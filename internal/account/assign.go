package account

import (
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
// no account uses the email. It calls join, which adds the user to the tenant. A new account has no
// password: it gets one mail with a link to set it, in the owner's language. Using the link verifies
// the email. An existing account keeps its name and gets no mail (rules: tenant#provisioning).
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
		return s.assignExisting(ctx, email, o, join, now)
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

func (s *Service) assignExisting(ctx context.Context, email string, o NewOwner, join func(ctx context.Context, userID int64) error, now time.Time) (int64, error) {
	id, _, err := s.store.userOfEmail(ctx, email)
	if err != nil {
		return 0, err
	}
	if _, err := s.lock(ctx, id); err != nil {
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
	return id, err
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

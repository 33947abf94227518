package account

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// identity is a person as a provider knows them.
type identity struct {
	subject       string // never changes and is never given to another person
	email         string
	emailVerified bool
	name          string
	picture       string // a URL, "" for none
}

// errIdentityTaken says that another callback has just stored the identity.
var errIdentityTaken = errors.New("the identity was linked meanwhile")

// admitTries bounds how often admit begins anew; the second time it finds the
// identity that was in its way.
const admitTries = 3

// admit finds or makes the user that an identity belongs to and returns a
// one-time code for them.
func (o *OAuth) admit(ctx context.Context, provider string, who identity) (code string, err error) {
	s := o.deps.Accounts
	// Not in order of time like an id: as a secret, all of it must be random.
	code = uuid.New().String()
	for range admitTries {
		err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			now := s.deps.Clock.Now()
			userID, isNew, err := o.resolve(ctx, provider, who, now)
			if err != nil {
				return err
			}
			return s.store.q(ctx).InsertOAuthCode(ctx, accountsql.InsertOAuthCodeParams{
				CodeHash: hashToken(code), UserID: userID, IsNewUser: isNew, ExpiresAt: now.Add(oauthCodeLifetime), CreatedAt: now,
			})
		})
		if !errors.Is(err, errIdentityTaken) {
			break
		}
	}
	return code, err
}

// resolve finds the user of an identity, in the spec's order: who has it, else
// who has its email, else a new user (spec: Authentication and account
// endpoints, rule 2).
//
// Invariant: an identity has one user, and a user is given to whoever has an
// email only if the provider vouches for that.
func (o *OAuth) resolve(ctx context.Context, provider string, who identity, now time.Time) (userID int64, isNew bool, err error) {
	q := o.store().q(ctx)
	userID, err = q.UserByOAuthIdentity(ctx, accountsql.UserByOAuthIdentityParams{Provider: provider, Subject: who.subject})
	if !errors.Is(err, sqldb.ErrNoRows) {
		return userID, false, err
	}
	email, err := mail.NormalizeAddress(who.email)
	if err != nil || !who.emailVerified {
		return 0, false, errEmailUnverified
	}
	userID, err = q.InsertVerifiedUser(ctx, accountsql.InsertVerifiedUserParams{
		Name: personName(who.name, email), Email: email, EmailVerifiedAt: &now, CreatedAt: now,
	})
	switch {
	case err == nil:
		isNew = true
		err = o.firstTenant(ctx, userID, personName(who.name, email))
	case errors.Is(err, sqldb.ErrNoRows):
		userID, err = o.claim(ctx, email, now)
	}
	if err != nil {
		return 0, false, err
	}
	added, err := q.InsertOAuthIdentity(ctx, accountsql.InsertOAuthIdentityParams{
		Provider: provider, Subject: who.subject, UserID: userID, CreatedAt: now,
	})
	if err == nil && added == 0 {
		err = errIdentityTaken
	}
	if err != nil {
		return 0, false, err
	}
	return userID, isNew, o.takePicture(ctx, userID, who.picture)
}

func (o *OAuth) firstTenant(ctx context.Context, userID int64, name string) error {
	_, err := o.deps.Accounts.deps.Tenants.Create(ctx, userID, firstTenantName(Registration{Name: name}))
	return err
}

// claim returns the user who has an email, to someone who has proved that it is
// theirs. Whoever registered the email without proving it may have been somebody
// else, waiting for its owner: their password and all their logins end here.
func (o *OAuth) claim(ctx context.Context, email string, now time.Time) (int64, error) {
	user, err := o.store().q(ctx).LockUserByEmail(ctx, email)
	if err != nil || user.EmailVerifiedAt != nil {
		return user.ID, err
	}
	err = o.store().q(ctx).ClaimUnverifiedUser(ctx, accountsql.ClaimUnverifiedUserParams{ID: user.ID, EmailVerifiedAt: &now, UpdatedAt: now})
	if err != nil {
		return 0, err
	}
	return user.ID, o.deps.Accounts.revokeAll(ctx, user.ID, now)
}

// longestPicture bounds a picture's URL, in bytes.
const longestPicture = 2048

// takePicture hands a picture to the importer. What is no web address is left
// out: a login does not fail for it.
func (o *OAuth) takePicture(ctx context.Context, userID int64, picture string) error {
	u, err := url.Parse(picture)
	if o.deps.Avatars == nil || err != nil || len(picture) > longestPicture ||
		u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil //nolint:nilerr // see above
	}
	return o.deps.Avatars.Import(ctx, userID, picture)
}

// maxName is the longest name of a user, in characters (spec: Field maxima).
const maxName = 255

// personName is a provider's name for somebody in the form of the service's own:
// trimmed, without control characters, cut to length; without one, what the
// email begins with.
func personName(name, email string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	return name
}

package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// identity describes a person as known to a provider.
type identity struct {
	subject       string // never changes and is never reassigned
	email         string
	emailVerified bool
	name          string
	picture       string // URL; may be empty
}

// resolveAttempts is the number of attempts of findOrCreateUser if a concurrent callback interferes. The
// second attempt finds the identity that the other callback linked, or no identity if the user has
// deleted their account.
const resolveAttempts = 3

// findOrCreateUser finds or creates the user of an identity and returns a one-time code that logs
// the user in. key identifies the browser that started the login.
func (s *Service) findOrCreateUser(ctx context.Context, provider string, who identity, key string) (code string, err error) {
	// The code is a secret, so all of it must be random. Other IDs are ordered by time and thus
	// partly predictable.
	code = uuid.New().String()
	for range resolveAttempts {
		err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			now := s.deps.Clock.Now()
			a, err := s.resolve(ctx, provider, who, now)
			if err != nil {
				return err
			}
			a.browserHash = account.HashSecret(key)
			return s.store.insertCode(ctx, code, a, now)
		})
		if !errors.Is(err, errIdentityTaken) && !account.IsUserDeleted(err) {
			break
		}
	}
	return code, err
}

// resolve returns the user of an identity: the linked user, else the user with the identity's
// email, else a new user.
//
// Invariant: an identity belongs to one user, and an account is linked by email only if the
// provider confirms the email. The user is locked, so an operation that ends logins either ends the
// new code too, or has finished before the code is issued. resolve reads the identity again under
// the lock, because the identity may have been removed; in that case findOrCreateUser starts again.
func (s *Service) resolve(ctx context.Context, provider string, who identity, now time.Time) (codeSubject, error) {
	email, emailErr := mail.NormalizeAddress(who.email)
	proved := emailErr == nil && who.emailVerified
	id, userID, err := s.store.linkedIdentity(ctx, provider, who.subject)
	switch {
	case err == nil:
		if err := s.deps.Accounts.Lock(ctx, userID); err != nil {
			return codeSubject{}, err
		}
		present, _, err := s.store.linkedIdentity(ctx, provider, who.subject)
		if errors.Is(err, errNotLinked) || err == nil && present != id {
			return codeSubject{}, errIdentityTaken
		}
		if err == nil && proved {
			err = s.store.setEmail(ctx, id, email)
		}
		return codeSubject{userID: userID, identity: id}, err
	case !errors.Is(err, errNotLinked):
		return codeSubject{}, err
	case !proved:
		return codeSubject{}, errEmailUnverified
	}
	userID, isNew, err := s.deps.Accounts.FindOrCreateByVerifiedEmail(ctx, PersonName(who.name, email), email)
	if errors.Is(err, account.ErrNeverLinked) {
		return codeSubject{}, errLinkRefused
	}
	if err != nil {
		return codeSubject{}, err
	}
	id, err = s.store.link(ctx, provider, who.subject, email, userID, now)
	if err != nil {
		return codeSubject{}, err
	}
	if !isNew {
		if err := s.deps.Accounts.Record(ctx, userID, "identity.linked", nil, map[string]any{"id": id, "provider": provider}); err != nil {
			return codeSubject{}, err
		}
	}
	return codeSubject{userID: userID, identity: id, isNew: isNew}, s.importPicture(ctx, userID, who.picture)
}

// longestPicture is the maximum length of a picture URL, in bytes.
const longestPicture = 2048

// importPicture passes the URL of a picture to the importer. It ignores invalid URLs: a login never
// fails because of a picture.
func (s *Service) importPicture(ctx context.Context, userID int64, picture string) error {
	u, err := url.Parse(picture)
	if s.deps.Avatars == nil || err != nil || len(picture) > longestPicture ||
		u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil //nolint:nilerr // an invalid URL is ignored
	}
	return s.deps.Avatars.Import(ctx, userID, picture)
}

// maxName is the maximum length of a user's name, in characters.
const maxName = 255

// PersonName converts the name from a provider into a valid name: trimmed, without invalid
// characters, and at most maxName long. If it is empty, the name is the local part of the email.
func PersonName(name, email string) string {
	name = strings.Map(func(r rune) rune {
		if shape.NotInName(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	name = shape.NormalText(name)
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	return name
}

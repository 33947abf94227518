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

// identity is a person as a provider knows them.
type identity struct {
	subject       string // never changes and is never given to another person
	email         string
	emailVerified bool
	name          string
	picture       string // a URL, "" for none
}

// admitTries is how often admit begins anew when another callback gets in its way.
// The second try finds the identity that the other callback linked, or nobody where the
// user has deleted their account meanwhile.
const admitTries = 3

// findOrCreateUser finds or makes the user of an identity and returns a one-time code for
// them. key is that of the browser in which the login began.
func (s *Service) findOrCreateUser(ctx context.Context, provider string, who identity, key string) (code string, err error) {
	// All of the code must be random, because it is a secret. The ids elsewhere are
	// ordered by time and so partly known.
	code = uuid.New().String()
	for range admitTries {
		err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			now := s.deps.Clock.Now()
			a, err := s.resolve(ctx, provider, who, now)
			if err != nil {
				return err
			}
			a.browserHash = account.HashSecret(key)
			return s.store.insertCode(ctx, code, a, now)
		})
		if !errors.Is(err, errIdentityTaken) && !account.IsGone(err) {
			break
		}
	}
	return code, err
}

// resolve finds the user of an identity: the one that the identity is linked to,
// else the one with its email, else a new one.
//
// Invariant: an identity belongs to one user, and nobody gets the account of an
// email unless the provider confirms that the email is theirs. The user is locked
// afterwards, so that whatever ends logins ends the code too, or comes before it. The
// identity is read again under the lock, because it may have been removed; admit then
// starts again.
func (s *Service) resolve(ctx context.Context, provider string, who identity, now time.Time) (admitted, error) {
	email, emailErr := mail.NormalizeAddress(who.email)
	proved := emailErr == nil && who.emailVerified
	id, userID, err := s.store.linked(ctx, provider, who.subject)
	switch {
	case err == nil:
		if err := s.deps.Accounts.Lock(ctx, userID); err != nil {
			return admitted{}, err
		}
		present, _, err := s.store.linked(ctx, provider, who.subject)
		if errors.Is(err, errNotLinked) || err == nil && present != id {
			return admitted{}, errIdentityTaken
		}
		if err == nil && proved {
			err = s.store.setEmail(ctx, id, email)
		}
		return admitted{userID: userID, identity: id}, err
	case !errors.Is(err, errNotLinked):
		return admitted{}, err
	case !proved:
		return admitted{}, errEmailUnverified
	}
	userID, isNew, err := s.deps.Accounts.FindOrCreateVerified(ctx, personName(who.name, email), email)
	if errors.Is(err, account.ErrNeverLinked) {
		return admitted{}, errLinkRefused
	}
	if err != nil {
		return admitted{}, err
	}
	id, err = s.store.link(ctx, provider, who.subject, email, userID, now)
	if err != nil {
		return admitted{}, err
	}
	if !isNew {
		if err := s.deps.Accounts.Record(ctx, userID, "identity.linked", nil, map[string]any{"id": id, "provider": provider}); err != nil {
			return admitted{}, err
		}
	}
	return admitted{userID: userID, identity: id, isNew: isNew}, s.importPicture(ctx, userID, who.picture)
}

// longestPicture is the longest URL of a picture, in bytes.
const longestPicture = 2048

// importPicture hands the URL of a picture to the importer. One that cannot be
// downloaded is ignored: no login fails because of a picture.
func (s *Service) importPicture(ctx context.Context, userID int64, picture string) error {
	u, err := url.Parse(picture)
	if s.deps.Avatars == nil || err != nil || len(picture) > longestPicture ||
		u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil //nolint:nilerr // see above
	}
	return s.deps.Avatars.Import(ctx, userID, picture)
}

// maxName is the longest name of a user, in characters.
const maxName = 255

// personName turns the name that a provider gives into one that the service
// accepts: trimmed, without characters that no name has, cut to length. Without a name it is
// the part of the email before the @.
func personName(name, email string) string {
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

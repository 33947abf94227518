// Package avatar manages the pictures of users, which are uploaded or imported from an identity
// provider (rules: account#avatars).
package avatar

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MaxBytes is the maximum size of an uploaded file, in bytes.
const MaxBytes = 2 << 20

// Deps holds the dependencies of the Service.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Jobs  *jobs.Queue
	// Pictures downloads pictures from identity providers.
	Pictures PictureClient
	// PublicURL is the public URL of the service, without a trailing slash.
	PublicURL string
}

// Service manages avatars. It decodes every picture and draws it again as a small square, so that
// nothing else of the original file, in particular its metadata, is stored or served. A picture is
// stored once, under the hash of its bytes, and deleted with its last user.
type Service struct {
	deps     Deps
	store    store
	pictures *pictures
}

// NewService returns a new Service.
func NewService(d Deps) *Service {
	return &Service{deps: d, store: store{d.DB}, pictures: newPictures()}
}

// URL returns the absolute URL of an avatar. It returns nil for nil.
func (s *Service) URL(hash *string) *string {
	if hash == nil {
		return nil
	}
	url := s.deps.PublicURL + "/api/v1/avatars/" + *hash
	return &url
}

// Set sets the avatar of a user and returns its URL. A file that is not a PNG, JPEG, WebP or GIF,
// or that has too many pixels, is a validation error on avatar.
func (s *Service) Set(ctx context.Context, userID int64, file []byte) (string, error) {
	p, err := s.pictures.makeAvatar(ctx, file)
	if err != nil {
		return "", err
	}
	if err := s.replace(ctx, userID, &p, true); err != nil {
		return "", err
	}
	return *s.URL(&p.hash), nil
}

// Clear removes the avatar of a user, if there is one. It counts as a choice: no imported picture
// replaces it.
func (s *Service) Clear(ctx context.Context, userID int64) error {
	return s.replace(ctx, userID, nil, true)
}

// replace sets the avatar of a user, or removes it if p is nil. An imported picture does not
// replace a choice of the user. replace does nothing if the user does not exist.
func (s *Service) replace(ctx context.Context, userID int64, p *picture, chosen bool) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lockUser(ctx, userID)
		if errors.Is(err, errNoUser) || err == nil && old.chosen && !chosen {
			return nil
		}
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		next := ownedAvatar{chosen: chosen}
		if p != nil {
			next.hash = &p.hash
			if err := s.store.put(ctx, *p, now); err != nil {
				return err
			}
		}
		if err := s.store.setForUser(ctx, userID, next, now); err != nil || old.hash == nil {
			return err
		}
		return s.store.deleteUnused(ctx, *old.hash)
	})
}

// picture returns a stored picture by its hash. It returns errNotFound if the picture does not
// exist.
func (s *Service) picture(ctx context.Context, hash string) (picture, error) {
	return s.store.findByHash(ctx, hash)
}

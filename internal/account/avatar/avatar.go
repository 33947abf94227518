// Package avatar has the pictures of users: uploaded by themselves or taken over
// from an identity provider (rules: account#avatars).
package avatar

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MaxBytes is the size of the largest file that is accepted as an avatar, in bytes.
const MaxBytes = 2 << 20

// Deps is what avatars need.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Jobs  *jobs.Queue
	// Pictures downloads the pictures that identity providers name.
	Pictures PictureClient
	// PublicURL is how clients reach the service, without a slash at the end.
	PublicURL string
}

// Service has the avatars of users. Every picture is decoded and drawn anew as a
// small square, so that nothing of the original file, above all its metadata, is
// kept or handed out. A picture is stored once, under the hash of its bytes, and
// is deleted with the last user that has it.
type Service struct {
	deps     Deps
	store    store
	pictures *pictures
}

// NewService returns the service.
func NewService(d Deps) *Service {
	return &Service{deps: d, store: store{d.DB}, pictures: newPictures()}
}

// URL returns the full URL of an avatar, and nil for nil.
func (s *Service) URL(hash *string) *string {
	if hash == nil {
		return nil
	}
	url := s.deps.PublicURL + "/api/v1/avatars/" + *hash
	return &url
}

// Set makes a picture the avatar that a user has chosen and returns its URL. A
// file that cannot be read as PNG, JPEG, WebP or GIF, or that has too many
// pixels, is a validation error on avatar.
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

// Clear removes a user's avatar, if there is one. That is a choice too: no
// imported picture replaces it.
func (s *Service) Clear(ctx context.Context, userID int64) error {
	return s.replace(ctx, userID, nil, true)
}

// replace gives a user another avatar, or none where p is nil. An avatar that the
// user has chosen is replaced only by another choice. A user who does not exist
// is no error.
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
		next := owned{chosen: chosen}
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

// picture returns a stored picture by its hash, or errNotFound.
func (s *Service) picture(ctx context.Context, hash string) (picture, error) {
	return s.store.findByHash(ctx, hash)
}

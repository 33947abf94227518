package account

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MaxAvatarBytes is the largest picture that is taken as an avatar.
const MaxAvatarBytes = 2 << 20

var errNoAvatar = fault.New(fault.NotFound, "error.not_found")

// AvatarDeps is what avatars need.
type AvatarDeps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Jobs  *jobs.Queue
	// Pictures gets the pictures that identity providers name.
	Pictures PictureClient
	// PublicURL is how clients reach the service, without a slash at the end.
	PublicURL string
}

// Avatars has the pictures of users (spec: User, avatar). Whatever comes in is
// decoded and drawn anew as a small square, so that nothing of the original
// file, its metadata above all, is kept or handed out. A picture is stored once
// under the hash of its bytes and goes with the last user that has it.
type Avatars struct {
	deps     AvatarDeps
	store    store
	pictures *pictures
}

// NewAvatars returns the service and gives the queue its job.
func NewAvatars(d AvatarDeps) *Avatars {
	a := &Avatars{deps: d, store: store{d.DB}, pictures: newPictures()}
	d.Jobs.Lane(webLane).Handle(jobImportAvatar, a.importPicture)
	return a
}

// URL returns the full URL of an avatar; nil for none.
func (a *Avatars) URL(hash *string) *string {
	if hash == nil {
		return nil
	}
	url := a.deps.PublicURL + "/api/v1/avatars/" + *hash
	return &url
}

// Set makes a picture the avatar that a user has chosen and returns its URL. A
// picture that is none, is of another format than PNG, JPEG, WebP and GIF, or
// has too many pixels is a validation error on avatar.
func (a *Avatars) Set(ctx context.Context, userID int64, file []byte) (string, error) {
	p, err := a.pictures.square(ctx, file)
	if err != nil {
		return "", err
	}
	if err := a.replace(ctx, userID, &p, true); err != nil {
		return "", err
	}
	return *a.URL(&p.hash), nil
}

// Clear takes a user's avatar away, if there is one. That is a choice too.
func (a *Avatars) Clear(ctx context.Context, userID int64) error {
	return a.replace(ctx, userID, nil, true)
}

// replace gives a user another avatar, nil for none. What the user has chosen is
// only replaced by another choice.
func (a *Avatars) replace(ctx context.Context, userID int64, p *picture, chosen bool) error {
	return a.deps.DB.Tx(ctx, func(ctx context.Context) error {
		q, now := a.store.q(ctx), a.deps.Clock.Now()
		user, err := q.LockAvatarOfUser(ctx, userID)
		if errors.Is(err, sqldb.ErrNoRows) || user.AvatarChosen && !chosen {
			return nil
		}
		if err != nil {
			return err
		}
		var hash *string
		if p != nil {
			hash = &p.hash
			err := q.PutAvatar(ctx, accountsql.PutAvatarParams{
				Hash: p.hash, ContentType: p.contentType, Bytes: p.data, CreatedAt: now,
			})
			if err != nil {
				return err
			}
		}
		err = q.SetAvatarOfUser(ctx, accountsql.SetAvatarOfUserParams{
			ID: userID, AvatarHash: hash, AvatarChosen: chosen, UpdatedAt: now,
		})
		if err != nil || user.AvatarHash == nil {
			return err
		}
		return a.drop(ctx, *user.AvatarHash)
	})
}

// drop deletes a picture unless a user has it. The lock comes first, so
// that the look for other users sees whoever held it until then.
func (a *Avatars) drop(ctx context.Context, hash string) error {
	_, err := a.store.q(ctx).LockAvatar(ctx, hash)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.store.q(ctx).DeleteUnusedAvatar(ctx, hash)
}

// avatar returns a stored picture by its hash.
func (a *Avatars) avatar(ctx context.Context, hash string) (picture, error) {
	row, err := a.store.q(ctx).AvatarByHash(ctx, hash)
	if errors.Is(err, sqldb.ErrNoRows) {
		return picture{}, errNoAvatar
	}
	return picture{hash: hash, contentType: row.ContentType, data: row.Bytes}, err
}

package avatar

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/account/avatar/avatarsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *avatarsql.Queries { return avatarsql.New(s.db.Conn(ctx)) }

// ownedAvatar is the avatar of a user.
type ownedAvatar struct {
	hash   *string // nil without an avatar
	chosen bool    // chosen by the user, including the choice to have none
}

// lockUser locks a user and returns their avatar. It returns errNoUser if the user does not exist.
func (s store) lockUser(ctx context.Context, userID int64) (ownedAvatar, error) {
	row, err := s.q(ctx).LockAvatarOfUser(ctx, userID)
	return ownedAvatar{hash: row.AvatarHash, chosen: row.AvatarChosen}, sqldb.WrapAbsent(err, "lock user for avatar", errNoUser)
}

func (s store) setForUser(ctx context.Context, userID int64, o ownedAvatar, now time.Time) error {
	err := s.q(ctx).SetAvatarOfUser(ctx, avatarsql.SetAvatarOfUserParams{
		ID: userID, AvatarHash: o.hash, AvatarChosen: o.chosen, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "set avatar of user")
}

// put stores a picture, or locks it if it is already stored.
func (s store) put(ctx context.Context, p picture, now time.Time) error {
	err := s.q(ctx).PutAvatar(ctx, avatarsql.PutAvatarParams{
		Hash: p.hash, ContentType: p.contentType, Bytes: p.data, CreatedAt: now,
	})
	return sqldb.Wrap(err, "store avatar")
}

// findByHash returns a stored picture. It returns errNotFound if the picture does not exist.
func (s store) findByHash(ctx context.Context, hash string) (picture, error) {
	row, err := s.q(ctx).AvatarByHash(ctx, hash)
	return picture{hash: hash, contentType: row.ContentType, data: row.Bytes}, sqldb.WrapAbsent(err, "read avatar", errNotFound)
}

// deleteUnused deletes a picture that no user has. It locks the picture first, so that the deletion
// sees the users added by the previous holder of the lock.
func (s store) deleteUnused(ctx context.Context, hash string) error {
	_, err := s.q(ctx).LockAvatar(ctx, hash)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return sqldb.Wrap(err, "lock avatar")
	}
	return sqldb.Wrap(s.q(ctx).DeleteUnusedAvatar(ctx, hash), "delete unused avatar")
}

package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// AvatarHTTP has the handlers of avatars.
type AvatarHTTP struct{ avatars *Avatars }

// NewAvatarHTTP returns the handlers.
func NewAvatarHTTP(avatars *Avatars) *AvatarHTTP { return &AvatarHTTP{avatars: avatars} }

// UploadedAvatar is the answer to an upload.
type UploadedAvatar struct {
	Avatar string `json:"avatar" doc:"Full URL of the picture."`
}

// Upload handles POST /user/avatar.
func (h *AvatarHTTP) Upload(ctx context.Context, file []byte) (*rest.Data[UploadedAvatar], error) {
	url, err := h.avatars.Set(ctx, authz.From(ctx).UserID, file)
	if err != nil {
		return nil, err
	}
	return rest.OK(UploadedAvatar{Avatar: url}), nil
}

// Delete handles DELETE /user/avatar.
func (h *AvatarHTTP) Delete(ctx context.Context, _ *struct{}) (*rest.Empty, error) {
	return &rest.Empty{}, h.avatars.Clear(ctx, authz.From(ctx).UserID)
}

type avatarInput struct {
	Hash string `path:"hash" pattern:"^[0-9a-f]{64}$"`
}

// Show handles GET /avatars/{hash}. The hash is that of the bytes, so that the
// answer never changes.
func (h *AvatarHTTP) Show(ctx context.Context, in *avatarInput) (*rest.Blob, error) {
	p, err := h.avatars.avatar(ctx, in.Hash)
	if err != nil {
		return nil, err
	}
	return &rest.Blob{
		ContentType: p.contentType, Data: p.data, ETag: p.hash,
		CacheControl: "public, max-age=31536000, immutable",
	}, nil
}

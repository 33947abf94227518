package avatar

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP implements the handlers for avatars.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// UploadedAvatar is the response to an upload.
type UploadedAvatar struct {
	Avatar string `json:"avatar" doc:"Full URL of the picture."`
}

// Upload handles POST /user/avatar.
func (h *HTTP) Upload(ctx context.Context, file []byte) (*rest.Data[UploadedAvatar], error) {
	url, err := h.svc.Set(ctx, authz.FromContext(ctx).UserID, file)
	if err != nil {
		return nil, err
	}
	return rest.OK(UploadedAvatar{Avatar: url}), nil
}

// Delete handles DELETE /user/avatar.
func (h *HTTP) Delete(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.Clear(ctx, authz.FromContext(ctx).UserID)
}

type showInput struct {
	Hash string `path:"hash" pattern:"^[0-9a-f]{64}$"`
}

// Show handles GET /avatars/{hash}. The response can be cached forever, because the hash identifies
// the bytes.
func (h *HTTP) Show(ctx context.Context, in *showInput) (*rest.Blob, error) {
	p, err := h.svc.picture(ctx, in.Hash)
	if err != nil {
		return nil, err
	}
	return &rest.Blob{
		ContentType: p.contentType, Data: p.data, ETag: p.hash,
		CacheControl: "public, max-age=31536000, immutable",
	}, nil
}

package sso

import (
	"context"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type startInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"255"`
	}
}

// Find handles POST /auth/sso.
func (h *HTTP) Find(ctx context.Context, in *startInput) (*rest.Data[LoginURL], error) {
	to, err := h.svc.StartURL(ctx, in.Body.Email)
	if err != nil {
		return nil, err
	}
	return rest.OK(LoginURL{URL: to}), nil
}

type redirectInput struct {
	ID      string `path:"id"`
	Test    string `query:"test"`
	Key     string `cookie:"tenantry_oauth" doc:"Cookie of the browser that started the login, with http."`
	HostKey string `cookie:"__Host-tenantry_oauth" doc:"Cookie of the browser that started the login, with https."`
}

// Redirect handles GET /auth/sso/{id}/redirect. It responds with status 302.
func (h *HTTP) Redirect(ctx context.Context, in *redirectInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.ID)
	if err != nil {
		return nil, err
	}
	to, key, err := h.svc.Start(ctx, id, in.Test, h.browser.Key(in.Key, in.HostKey), rest.RequestOf(ctx).Host())
	if err != nil {
		return nil, err
	}
	h.browser.SetKey(ctx, key)
	rest.RequestOf(ctx).SetHeader("Location", to)
	return &rest.NoBody{}, nil
}

type callbackInput struct {
	Key     string `cookie:"tenantry_oauth" doc:"Cookie of the browser that started the login, with http."`
	HostKey string `cookie:"__Host-tenantry_oauth" doc:"Cookie of the browser that started the login, with https."`
	Code    string `query:"code"`
	State   string `query:"state"`
	Error   string `query:"error"`
	Issuer  string `query:"iss"`
}

// Callback handles GET /auth/sso/callback. It always redirects the browser to the frontend, with a
// one-time code or with the reason of a failure in error.
func (h *HTTP) Callback(ctx context.Context, in *callbackInput) (*rest.NoBody, error) {
	to := h.svc.Finish(ctx, oauth.Reply{Code: in.Code, State: in.State, Error: in.Error, Issuer: in.Issuer},
		h.browser.Key(in.Key, in.HostKey), rest.RequestOf(ctx).Host())
	rest.RequestOf(ctx).SetHeader("Location", to)
	return &rest.NoBody{}, nil
}

package team

import (
	"context"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Sessions starts sessions in cookie mode. *account.HTTP implements it.
type Sessions interface {
	// StartSession sets the session in tokens, if there is one, as a cookie.
	StartSession(ctx context.Context, tokens account.Tokens, g account.Grant)
}

type tokenInput struct {
	Token string `path:"token"`
}

// ShowInvitation handles GET /invitations/{token}.
func (h *HTTP) ShowInvitation(ctx context.Context, in *tokenInput) (*rest.Data[TeamInvitation], error) {
	i, err := h.svc.FindByToken(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	return rest.OK(teamInvitation(i)), nil
}

// InvitationKnown rejects a path with an unknown token, before the body is validated.
func (h *HTTP) InvitationKnown(ctx context.Context, param func(string) string) error {
	_, err := h.svc.FindByToken(ctx, param("token"))
	return err
}

// acceptedInvitation is the response to an accepted invitation.
type acceptedInvitation struct {
	Invitation TeamInvitation    `json:"invitation"`
	Tenant     tenant.TenantView `json:"tenant"`
}

// Accept handles POST /invitations/{token}/accept.
func (h *HTTP) Accept(ctx context.Context, in *tokenInput) (*rest.Data[acceptedInvitation], error) {
	caller := authz.FromContext(ctx)
	joined, err := h.svc.Accept(ctx, in.Token, account.User{
		ID: caller.UserID, Name: caller.Name, Email: caller.Email, IsPlatformAdmin: caller.IsPlatformAdmin,
	})
	if err != nil {
		return nil, err
	}
	view, err := h.joinedTenant(ctx, joined)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(acceptedInvitation{Invitation: teamInvitation(joined.Invitation), Tenant: view}, "team.invitation_accepted"), nil
}

// joinedTenant returns the view of the tenant for its new member.
func (h *HTTP) joinedTenant(ctx context.Context, joined JoinResult) (tenant.TenantView, error) {
	return h.svc.deps.Tenants.View(authz.With(ctx, joined.Member), joined.Tenant)
}

type acceptAndRegisterInput struct {
	Token string `path:"token"`
	Body  struct {
		Name                 string `json:"name" format:"name" maxLength:"255"`
		Email                string `json:"email" format:"email" maxLength:"255" doc:"Invited email address."`
		Password             string `json:"password" format:"password" minLength:"8" maxLength:"1024"`
		PasswordConfirmation string `json:"password_confirmation" format:"password"`
	}
}

// invitedUser is a user who registered with an invitation.
type invitedUser struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// invitedRegistration is the response to a registration with an invitation.
type invitedRegistration struct {
	Data struct {
		User       invitedUser       `json:"user"`
		Invitation TeamInvitation    `json:"invitation"`
		Tenant     tenant.TenantView `json:"tenant"`
	} `json:"data"`
	Meta invitedTokens `json:"meta"`
}

// invitedTokens are the tokens of a registration with an invitation. They are empty in cookie mode.
type invitedTokens struct {
	AccessToken  string `json:"access_token,omitempty"`
	RefreshToken string `json:"refresh_token,omitempty"`
	TokenType    string `json:"token_type,omitempty" doc:"Token type. Always Bearer."`
}

// CheckAcceptAndRegister is the check that rest.Checks runs for AcceptAndRegister.
func (h *HTTP) CheckAcceptAndRegister(_ context.Context, in *acceptAndRegisterInput) error {
	return account.CheckNewPassword(in.Body.Password)
}

// AcceptAndRegister handles POST /invitations/{token}/accept-with-registration.
func (h *HTTP) AcceptAndRegister(ctx context.Context, in *acceptAndRegisterInput) (*rest.Body[invitedRegistration], error) {
	grant := account.GrantOf(ctx)
	joined, user, tokens, err := h.svc.AcceptAndRegister(ctx, in.Token, account.Registration{
		Name: in.Body.Name, Email: in.Body.Email, Password: in.Body.Password,
	}, grant)
	if err != nil {
		return nil, err
	}
	view, err := h.joinedTenant(ctx, joined)
	if err != nil {
		return nil, err
	}
	h.accounts.StartSession(ctx, tokens, grant)
	var out invitedRegistration
	out.Data.User = invitedUser{ID: user.ID, Name: user.Name, Email: user.Email}
	out.Data.Invitation, out.Data.Tenant = teamInvitation(joined.Invitation), view
	if tokens.Access != "" {
		out.Meta = invitedTokens{AccessToken: tokens.Access, RefreshToken: tokens.Refresh, TokenType: "Bearer"}
	}
	return rest.NewBody(out), nil
}

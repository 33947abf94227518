package sso

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/team"
)

// HTTP implements the handlers for single sign-on.
type HTTP struct {
	svc     *Service
	browser browserKeys
}

// browserKeys stores the key of a browser in its cookies. *oauth.HTTP implements it.
type browserKeys interface {
	Key(plain, host string) string
	SetKey(ctx context.Context, key string)
}

// NewHTTP returns the handlers. browser stores the keys of browsers.
func NewHTTP(svc *Service, browser browserKeys) *HTTP { return &HTTP{svc: svc, browser: browser} }

// TestResult is the result of the last test of a connection.
type TestResult struct {
	At     shape.Time `json:"at" doc:"Time of the test, in UTC."`
	Result string     `json:"result" doc:"The value ok, or the error of the test."`
}

// SSOConnection is the resource of the single sign-on of a tenant.
type SSOConnection struct {
	ID               uuid.UUID   `json:"id"`
	Issuer           string      `json:"issuer" example:"https://login.example.com" doc:"Issuer of OpenID Connect."`
	ClientID         string      `json:"client_id" example:"tenantry" doc:"Client ID at the issuer."`
	Role             string      `json:"role" doc:"Role of new members."`
	ProvisionMembers bool        `json:"provision_members" doc:"Whether unknown users of the verified domains become members."`
	Required         bool        `json:"required" doc:"Whether members with an email in a verified domain have to use single sign-on."`
	CountsAsMFA      bool        `json:"counts_as_mfa" doc:"Whether the login counts as a second factor."`
	SessionHours     int64       `json:"session_hours" doc:"Number of hours after which a login ends, used or not."`
	RedirectURI      string      `json:"redirect_uri" doc:"Redirect URI to register at the issuer."`
	LastLoginAt      *shape.Time `json:"last_login_at" doc:"Time of the last login through the connection, in UTC. Null before the first one."`
	LastError        *string     `json:"last_error" doc:"Error of the last failed login. Null after a successful login."`
	LastTest         *TestResult `json:"last_test" doc:"Result of the last test. Null if the connection was not tested."`
	Domains          []string    `json:"domains" doc:"Verified domains of the tenant."`
}

func (s *Service) view(c Connection) SSOConnection {
	v := SSOConnection{
		ID: c.ID, Issuer: c.Issuer, ClientID: c.ClientID, Role: c.Role, ProvisionMembers: c.ProvisionMembers, Required: c.Required,
		CountsAsMFA: c.CountsAsMFA, SessionHours: c.SessionHours, RedirectURI: s.deps.PublicURL + Path + "callback",
		LastLoginAt: shape.TP(c.LastLoginAt), LastError: c.LastError, Domains: c.Domains,
	}
	if c.LastTestAt != nil && c.LastTestResult != nil {
		v.LastTest = &TestResult{At: shape.T(*c.LastTestAt), Result: *c.LastTestResult}
	}
	return v
}

// MayChange rejects a tenant whose plan does not include single sign-on, before the body is
// validated.
func (h *HTTP) MayChange(ctx context.Context, _ func(string) string) error {
	return h.svc.RequireFeature(ctx, authz.TenantID(ctx))
}

// Show handles GET /sso.
func (h *HTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[*SSOConnection], error) {
	c, err := h.svc.Get(ctx, authz.TenantID(ctx))
	if err != nil || c == nil {
		return rest.OK[*SSOConnection](nil), err
	}
	v := h.svc.view(*c)
	return rest.OK(&v), nil
}

type putInput struct {
	Body struct {
		Issuer           string  `json:"issuer" minLength:"1" maxLength:"2048" example:"https://login.example.com" doc:"Issuer of OpenID Connect: an HTTPS URL."`
		ClientID         string  `json:"client_id" minLength:"1" maxLength:"255" example:"tenantry" doc:"Client ID at the issuer."`
		ClientSecret     string  `json:"client_secret,omitempty" format:"password" maxLength:"1024" doc:"Client secret. Required unless issuer and client_id stay the same. No response contains it."`
		Role             *string `json:"role,omitempty" maxLength:"255" doc:"Name of an assignable role. Default: member."`
		ProvisionMembers bool    `json:"provision_members,omitempty" doc:"Whether unknown users of the verified domains become members. Default: false."`
		Required         bool    `json:"required,omitempty" doc:"Whether members with an email in a verified domain have to use single sign-on. Requires an earlier login through the connection. Default: false."`
		CountsAsMFA      bool    `json:"counts_as_mfa,omitempty" doc:"Whether the login counts as a second factor. Default: false."`
		SessionHours     *int64  `json:"session_hours,omitempty" minimum:"1" maximum:"720" doc:"Number of hours after which a login ends, used or not. Default: 24."`
	}
}

func (in *putInput) terms() Terms {
	b := in.Body
	t := Terms{
		Issuer: b.Issuer, ClientID: b.ClientID, Secret: b.ClientSecret, Role: team.MemberRole, ProvisionMembers: b.ProvisionMembers,
		Required: b.Required, CountsAsMFA: b.CountsAsMFA, SessionHours: defaultSessionHours,
	}
	if b.Role != nil {
		t.Role = *b.Role
	}
	if b.SessionHours != nil {
		t.SessionHours = *b.SessionHours
	}
	return t
}

// CheckPut is the check that rest.Checks runs for Put.
func (h *HTTP) CheckPut(ctx context.Context, in *putInput) error {
	_, err := h.svc.check(ctx, authz.TenantID(ctx), in.terms())
	return err
}

// Put handles PUT /sso.
func (h *HTTP) Put(ctx context.Context, in *putInput) (*rest.Data[*SSOConnection], error) {
	c, err := h.svc.Put(ctx, authz.TenantID(ctx), in.terms())
	if err != nil {
		return nil, err
	}
	v := h.svc.view(c)
	return rest.OK(&v), nil
}

// Delete handles DELETE /sso.
func (h *HTTP) Delete(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.Delete(ctx, authz.TenantID(ctx))
}

// LoginURL is a URL to open in the browser.
type LoginURL struct {
	URL string `json:"url" doc:"URL to open in the browser."`
}

// Test handles POST /sso/test.
func (h *HTTP) Test(ctx context.Context, _ *struct{}) (*rest.Data[LoginURL], error) {
	to, err := h.svc.TestURL(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(LoginURL{URL: to}), nil
}

package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/selfservice"
	"github.com/tenantry/tenantry/internal/rest"
)

// ownAccountRoutes returns the routes for users' own accounts.
func (svc *service) ownAccountRoutes(accounts *account.HTTP) []rest.Route {
	var (
		own      = selfservice.NewHTTP(svc.self, accounts)
		accepted = rest.Status(http.StatusAccepted)
	)
	return []rest.Route{
		refuseImpersonation(route(patch, "/api/v1/user", rest.User, "", "default", "Update the caller's profile", rest.Handle(own.ChangeProfile))),
		refuseImpersonation(route(put, "/api/v1/user/password", rest.User, "", "account_password", "Change the caller's password", rest.Handle(own.ChangePassword, rest.Checks(own.CheckPassword)))),
		refuseImpersonation(route(post, "/api/v1/user/email", rest.User, "", "account_password", "Request an email change", rest.Handle(own.ChangeEmail, accepted, rest.Checks(own.CheckEmail)))),
		refuseImpersonation(route(post, "/api/v1/user/email/verification", rest.User, "", "default", "Request email verification", rest.Handle(own.RequestVerification))),
		allowAnonymous(route(post, "/api/v1/auth/verify-email", rest.Public, "", "password", "Verify an email address", rest.Handle(own.VerifyEmail))),
		route(get, "/api/v1/user/sessions", rest.User, "", "default", "List the caller's sessions", rest.Handle(own.Sessions)),
		route(get, "/api/v1/user/identities", rest.User, "", "default", "List linked identities", rest.Handle(own.Identities)),
		refuseImpersonation(route(del, "/api/v1/user/identities/{id}", rest.User, "", "account_password", "Remove a linked identity", rest.Handle(own.RemoveIdentity))),
		route(get, "/api/v1/user/export", rest.User, "", "default", "Export the caller's data", rest.File(own.Export, "application/json")),
		refuseImpersonation(route(del, "/api/v1/user", rest.User, "", "account_password", "Delete the caller's account", rest.Handle(own.Delete))),
		refuseImpersonation(route(del, "/api/v1/user/sessions", rest.User, "", "default", "Revoke all other sessions", rest.Handle(own.EndOtherSessions))),
		refuseImpersonation(route(del, "/api/v1/user/sessions/{id}", rest.User, "", "default", "Revoke a session", rest.Handle(own.EndSession))),
	}
}

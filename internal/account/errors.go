package account

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errCredentials     = fault.Coded(fault.Unauthenticated, fault.InvalidCredentials)
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errEmailTaken      = fault.OnField("email", "validation.taken")
	errRefreshToken    = fault.Coded(fault.Unauthenticated, fault.InvalidRefreshToken)
	errRefreshExpired  = fault.Coded(fault.Unauthenticated, fault.RefreshTokenExpired)
	errResetToken      = fault.New(fault.Malformed, "error.reset_token")

	// ErrPlatformAdminPassword says that the password of a platform administrator
	// cannot be set over HTTP (403).
	ErrPlatformAdminPassword = fault.New(fault.Forbidden, "error.platform_admin_password")

	errNoUser    = errors.New("the user does not exist")
	errNoSession = errors.New("the credential is not a session")
)

// Errors of the commands that manage platform admins, worded for the operator.
var (
	// ErrEmailTaken says that an email has an account already.
	ErrEmailTaken = errors.New("this email has an account already")
	// ErrNoAccount says that an email has no account.
	ErrNoAccount = errors.New("no account has this email")
	// ErrNotAdmin says that an account is not a platform admin.
	ErrNotAdmin = errors.New("this account is no platform admin")
	// ErrUnknownPermission says that a list contains something that is not a
	// platform permission.
	ErrUnknownPermission = errors.New("unknown permission")
)

// IsEmailTaken reports whether a registration failed because the email has an
// account already.
func IsEmailTaken(err error) bool { return errors.Is(err, errEmailTaken) }

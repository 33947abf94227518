package account

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errCredentials     = fault.NewCoded(fault.Unauthenticated, fault.InvalidCredentials)
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errCommonPassword  = fault.OnField("password", "validation.common_password")
	errCurrentPassword = fault.OnField("current_password", "validation.current_password")
	errOwner           = fault.OnField("current_password", "validation.owner_password")
	errRecentLogin     = fault.NewCoded(fault.Forbidden, fault.RecentLoginRequired)
	errEmailTaken      = fault.OnField("email", "validation.taken")
	errRefreshToken    = fault.NewCoded(fault.Unauthenticated, fault.InvalidRefreshToken)
	errRefreshExpired  = fault.NewCoded(fault.Unauthenticated, fault.RefreshTokenExpired)
	errResetToken      = fault.New(fault.Malformed, "error.reset_token")

	// errPlatformAdminPassword says that the password of a platform administrator
	// cannot be set over HTTP (403).
	errPlatformAdminPassword = fault.New(fault.Forbidden, "error.platform_admin_password")

	// ErrNeverLinked says that a delegated login is not linked to an account by its
	// email, because the account is a platform admin's.
	ErrNeverLinked = errors.New("a platform admin's account is never linked by its email")

	errNoUser          = errors.New("the user does not exist")
	errNoSession       = errors.New("the credential is not a session")
	errNoCredential    = errors.New("the credential does not exist")
	errPasswordChanged = errors.New("the password was changed while it was checked")
)

// Errors of the commands that manage platform admins, worded for the operator.
var (
	// ErrEmailTaken says that an email has an account already.
	ErrEmailTaken = errors.New("this email has an account already")
	// errNoAccount says that an email has no account.
	errNoAccount = errors.New("no account has this email")
	// errNotAdmin says that an account is not a platform admin.
	errNotAdmin = errors.New("this account is not a platform admin")
	// errUnverified says that nobody has proved that an account's email is theirs.
	errUnverified = errors.New("this account's email is not verified: its owner verifies it by resetting the password")
	// ErrUnknownPermission says that a list contains something that is not a
	// platform permission.
	ErrUnknownPermission = errors.New("unknown permission")
)

// IsEmailTaken reports whether a registration failed because the email has an
// account already.
func IsEmailTaken(err error) bool { return errors.Is(err, errEmailTaken) }

// IsGone reports whether something failed because the user has deleted their account
// meanwhile.
func IsGone(err error) bool { return errors.Is(err, errNoUser) }

package account

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errCredentials     = fault.NewCoded(fault.Unauthenticated, fault.InvalidCredentials)
	errEmailCode       = &fault.Error{Kind: fault.Unauthenticated, Code: fault.InvalidCredentials, Message: "error.email_code"}
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errCommonPassword  = fault.OnField("password", "validation.common_password")
	errCurrentPassword = fault.OnField("current_password", "validation.current_password")
	errChallenge       = fault.NewCoded(fault.Malformed, fault.MFAChallengeExpired)
	errFactorNeeded    = fault.NewCoded(fault.Forbidden, fault.MFARequired)
	errOwner           = fault.OnField("current_password", "validation.owner_password")
	errRecentLogin     = fault.NewCoded(fault.Forbidden, fault.RecentLoginRequired)
	errEmailTaken      = fault.OnField("email", "validation.taken")
	errRefreshToken    = fault.NewCoded(fault.Unauthenticated, fault.InvalidRefreshToken)
	errRefreshLength   = &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{Path: "refresh_token", Message: "validation.max_length", Args: map[string]any{"max": refreshLength}}}}
	errRefreshExpired  = fault.NewCoded(fault.Unauthenticated, fault.RefreshTokenExpired)
	errResetToken      = fault.New(fault.Malformed, "error.reset_token")

	// errPlatformAdminPassword means that the password of a platform admin cannot be set over HTTP
	// (403).
	errPlatformAdminPassword = fault.New(fault.Forbidden, "error.platform_admin_password")

	// errWrongFactor means that a second factor is wrong (401).
	errWrongFactor = fault.NewCoded(fault.Unauthenticated, fault.InvalidMFACode)

	// ErrNeverLinked means that a delegated login cannot be linked to an account by email, because
	// the account is a platform admin.
	ErrNeverLinked = errors.New("a platform admin account is never linked by email")

	errNoUser          = errors.New("the user does not exist")
	errNoSignOn        = errors.New("the user's tenant lacks single sign-on")
	errNoSession       = errors.New("the credential is not a session")
	errNoCredential    = errors.New("the credential does not exist")
	errPasswordChanged = errors.New("the password was changed concurrently")
)

// Errors of the CLI commands for platform admins, worded for the operator.
var (
	// errAccountExists means that an account uses the email.
	errAccountExists = errors.New("an account with this email already exists")
	// errNoAccount means that no account uses the email.
	errNoAccount = errors.New("no account has this email")
	// errNotAdmin means that the account is not a platform admin.
	errNotAdmin = errors.New("this account is not a platform admin")
	// errUnverified means that the email of the account is not verified.
	errUnverified = errors.New("the email of this account is not verified: reset the password to verify it")
	// ErrUnknownPermission means that a list contains an unknown platform permission.
	ErrUnknownPermission = errors.New("unknown permission")
)

// IsEmailTaken reports whether a registration failed because an account uses the email.
func IsEmailTaken(err error) bool { return errors.Is(err, errEmailTaken) }

// IsUserDeleted reports whether an operation failed because the user has deleted their account.
func IsUserDeleted(err error) bool { return errors.Is(err, errNoUser) }

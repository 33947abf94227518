package factor

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errWrongFactor     = fault.NewCoded(fault.Unauthenticated, fault.InvalidMFACode)
	errCredentials     = &fault.Error{Kind: fault.Unauthenticated, Code: fault.InvalidCredentials, Message: "validation.passkey"}
	errNotEnabled      = fault.NewCoded(fault.Conflict, fault.MFANotEnabled)
	errTOTPEnabled     = fault.NewCoded(fault.Conflict, fault.TOTPAlreadyEnabled)
	errNotFound        = fault.New(fault.NotFound, "error.not_found")
	errPlatformAdmin   = fault.New(fault.Forbidden, "error.platform_admin_factors")
	errCode            = fault.OnField("code", "validation.factor_code")
	errCodeRequired    = fault.OnField("code", "validation.factor_required")
	errOneFactor       = fault.OnField("code", "validation.one_factor")
	errAssertion       = fault.OnField("assertion", "validation.passkey")
	errCredential      = fault.OnField("credential", "validation.passkey")
	errTooManyPasskeys = fault.OnField("name", "validation.passkey_limit")
	errNoPasskey       = fault.OnField("challenge", "validation.no_passkey")

	errAbsent     = errors.New("factor not found")
	errNoAccount  = errors.New("no account has this email")
	errUnverified = errors.New("the passkey does not verify")

	errSecret        = errors.New("must be the secret of an authenticator app in base32, with 10 to 64 bytes, for SHA-1, 6 digits and 30 seconds")
	errNoTransaction = errors.New("the import of an authenticator app needs a transaction")
)

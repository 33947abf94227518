package account

import "github.com/tenantry/tenantry/internal/fault"

var (
	errCredentials     = fault.Coded(fault.Unauthenticated, fault.InvalidCredentials)
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errEmailTaken      = fault.OnField("email", "validation.taken")
	errRefreshToken    = fault.Coded(fault.Unauthenticated, fault.InvalidRefreshToken)
	errRefreshExpired  = fault.Coded(fault.Unauthenticated, fault.RefreshTokenExpired)
	errResetToken      = fault.New(fault.Malformed, "error.reset_token")
)

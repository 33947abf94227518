package account

import "github.com/tenantry/tenantry/internal/fault"

var (
	errCredentials     = fault.Coded(fault.Unauthenticated, fault.InvalidCredentials)
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errEmailTaken      = fault.OnField("email", "validation.taken")
)

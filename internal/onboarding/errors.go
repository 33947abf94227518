package onboarding

import "github.com/tenantry/tenantry/internal/fault"

// errNotInCurrency lists the currencies that the plan has prices in.
var errNotInCurrency = fault.NewCoded(fault.Invalid, fault.OnboardingPlanNotInCurrency)

package onboarding

import "github.com/tenantry/tenantry/internal/fault"

// errNotInCurrency means that the plan is not available in the currency. It lists the currencies
// that the plan has prices in.
var errNotInCurrency = fault.NewCoded(fault.Invalid, fault.OnboardingPlanNotInCurrency)

package onboarding

import "github.com/tenantry/tenantry/internal/fault"

var errNotInCurrency = fault.Coded(fault.Invalid, fault.OnboardingPlanNotInCurrency)

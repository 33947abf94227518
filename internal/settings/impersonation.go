package settings

const (
	minImpersonationMinutes = 5
	maxImpersonationMinutes = 480
)

// impersonation reads the settings for impersonations.
func (p *parser) impersonation(f HTTPFlags, s *Settings) {
	switch f.ImpersonationReason {
	case "", "optional":
	case "required":
		s.ImpersonationReason = true
	default:
		p.fail("TENANTRY_IMPERSONATION_REASON", "%q is neither optional nor required", f.ImpersonationReason)
	}
	var ok bool
	if s.ImpersonationMinutes, ok = wholeNumber(f.ImpersonationMinutes, minImpersonationMinutes, maxImpersonationMinutes); !ok {
		p.fail("TENANTRY_IMPERSONATION_MINUTES", "%q is not a number of minutes from %d to %d", f.ImpersonationMinutes, minImpersonationMinutes, maxImpersonationMinutes)
	}
}

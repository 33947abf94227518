package account

import (
	"strconv"

	"github.com/tenantry/tenantry/internal/rest/plain"
)

// AppendJSON implements plain.Writer.
func (p *Profile) AppendJSON(dst []byte) []byte {
	dst = p.User.append(append(dst, `{"user":`...))
	dst = append(dst, `,"currentTenant":`...)
	if t := p.CurrentTenant; t == nil {
		dst = append(dst, "null"...)
	} else {
		dst = plain.ID(append(dst, `{"id":`...), t.ID)
		dst = append(plain.Text(append(dst, `,"name":`...), t.Name), '}')
	}
	if i := p.Impersonation; i != nil {
		dst = strconv.AppendBool(append(dst, `,"impersonation":{"is_impersonating":`...), i.IsImpersonating)
		dst = strconv.AppendInt(append(dst, `,"impersonator_id":`...), i.ImpersonatorID, 10)
		dst = append(plain.TextOrNull(append(dst, `,"impersonator_name":`...), i.ImpersonatorName), '}')
	}
	return append(dst, '}')
}

func (u *ProfileUser) append(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"id":`...), u.ID, 10)
	dst = plain.Text(append(dst, `,"name":`...), u.Name)
	dst = plain.Text(append(dst, `,"email":`...), u.Email)
	dst = strconv.AppendBool(append(dst, `,"is_platform_admin":`...), u.IsPlatformAdmin)
	dst = plain.TextOrNull(append(dst, `,"avatar":`...), u.Avatar)
	dst = strconv.AppendBool(append(dst, `,"email_verified":`...), u.EmailVerified)
	dst = plain.TextOrNull(append(dst, `,"locale":`...), u.Locale)
	dst = plain.Texts(append(dst, `,"roles":`...), u.Roles)
	dst = plain.Texts(append(dst, `,"permissions":`...), u.Permissions)
	dst = append(dst, `,"tenants":[`...)
	for i := range u.Tenants {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = u.Tenants[i].append(dst)
	}
	return append(dst, `]}`...)
}

func (t *ProfileTenant) append(dst []byte) []byte {
	dst = plain.ID(append(dst, `{"id":`...), t.ID)
	dst = plain.Text(append(dst, `,"name":`...), t.Name)
	dst = plain.Text(append(dst, `,"user_role":`...), t.UserRole)
	dst = strconv.AppendBool(append(dst, `,"has_active_subscription":`...), t.HasActiveSubscription)
	dst = strconv.AppendBool(append(dst, `,"has_billing_details":`...), t.HasBillingDetails)
	dst = append(dst, `,"onboarding_completed_at":`...)
	if t.OnboardingCompletedAt == nil {
		dst = append(dst, "null"...)
	} else {
		dst = plain.Time(dst, t.OnboardingCompletedAt.Std())
	}
	return append(dst, '}')
}

import { $api, type Schema } from '../../../api/client'
import { useHolds } from '../../../app/session'
import { useEntitlements, useHere } from '../shared/reads'

/** The domains of the tenant, for members who manage single sign-on. */
export function useDomains() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/domains', useHere(), { enabled: useHolds()('sso.manage') })
}

/** The single sign-on of the tenant, for members who manage it. */
export function useSso() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/sso', useHere(), { enabled: useHolds()('sso.manage') })
}

/** Returns the names of the roles that can be assigned to new members, the given one included. */
export function useAssignable(current: string): string[] {
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', useHere()).data?.data ?? []
  return [...new Set([...roles.map((one) => one.name).filter((name) => name !== 'owner'), 'member', current])]
}

const feature = 'tenant-sso'

/**
 * Returns the name of the plan that includes single sign-on if the tenant's plan does not, and null
 * if it does or if single sign-on is not a feature of the plans.
 */
export function useMissingPlan(): string | null {
  const here = useHere()
  const granted = useEntitlements().data?.data
  const plans = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', here).data?.data ?? []
  const selling = plans.find((one) => one.features.some(({ code }) => code === feature))
  if (!granted || !selling || granted.some((one) => one.key === feature && one.enabled)) return null
  return selling.name
}

/** Reports whether an email address is in one of the domains. */
export function isIn(domains: readonly string[], email: string): boolean {
  return domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase())
}

/** The members who have to sign in with single sign-on if it is required. The owner is exempt. */
export function bound(members: readonly Schema<'TeamMember'>[], domains: readonly string[]) {
  return members.filter((one) => one.role.name !== 'owner' && isIn(domains, one.email))
}

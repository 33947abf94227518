import { useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useMe } from '../../../app/session'
import { changeOf } from '../../../parts/timeline/reads'
import type { Change, NameOf } from '../../../parts/timeline/types'
import { allFeaturesQuery, allProductsQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { membersQuery } from '../tenant/reads'
import { newestQuery } from '../tenants/reads'

interface Filter {
  page?: number
  per_page?: number
  'filter[action]'?: string
  'filter[tenant]'?: string
  search?: string
  from?: string
  to?: string
  actor?: number
}

/** A part of the audit trail, newest first. */
export const trailQuery = (query: Filter) => queryOptions({
  queryKey: ['audit', query],
  queryFn: async () => (await api.GET('/api/v1/admin/audit-logs', { params: { query } })).data!,
  placeholderData: (before) => before,
})

/**
 * Finds the names of catalog objects, of tenants and, for one tenant, of its members. Entries only
 * contain ids.
 */
export function useNameOf(tenantId?: string): NameOf {
  const { i18n } = useLingui()
  const { user } = useMe()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') }).data ?? []
  const features = useQuery({ ...allFeaturesQuery, enabled: may('features.view') }).data ?? []
  const tenants = useQuery({ ...newestQuery, enabled: may('tenants.view') }).data?.data ?? []
  const members = useQuery({ ...membersQuery(tenantId ?? ''), enabled: tenantId !== undefined && may('tenants.view') }).data ?? []
  const name = (of: { translations: Record<string, Schema<'Translation'>> }) => nameIn(of.translations, i18n.locale)
  const plans = products.flatMap((one) => one.plans ?? [])
  const people = new Map([
    ...tenants.flatMap(({ owner }) => (owner ? [[String(owner.id), owner.name] as const] : [])),
    ...members.map((one) => [String(one.id), one.name] as const), [String(user.id), user.name] as const,
  ])
  const records = new Map([
    ...products.map((one) => [one.id, name(one)] as const), ...features.flatMap((one) => [[one.id, name(one)] as const, [one.code, name(one)] as const]), ...plans.map((one) => [one.id, name(one)] as const),
    ...plans.flatMap((one) => one.prices.map((price) => [price.id, `${name(one)} (${price.currency})`] as const)), ...tenants.map((one) => [one.id, one.name] as const),
  ])
  return (resource, id) => (resource === 'user' ? people.get(id) : records.get(id))
}

/** Returns a function that returns the name of a user by id, if known. */
export function usePerson(tenantId?: string): (id: number) => string {
  const { t } = useLingui()
  const name = useNameOf(tenantId)
  return (id) => name('user', String(id)) ?? t`User ${id}`
}

/** Converts audit entries to time line entries. Those of one tenant name its members. */
export function useChanges(tenantId?: string): (found: Schema<'AuditEntry'>[]) => Change[] {
  const { t } = useLingui()
  const person = usePerson(tenantId)
  const name = useNameOf(tenantId)
  const record: NameOf = (resource, id) => name(resource, id) ?? (resource === 'tenant' ? t`Tenant` : undefined)
  return (found) => found.map((one) => changeOf(one, person, record))
}

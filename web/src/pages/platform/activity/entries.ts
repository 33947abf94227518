import { useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useMe } from '../../../app/session'
import type { Entry } from '../../../parts/timeline/types'
import { allFeaturesQuery, allProductsQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { membersQuery } from '../tenant/reads'
import { newestQuery } from '../tenants/reads'

interface Filter {
  page?: number
  per_page?: number
  'filter[action]'?: string
  'filter[actor]'?: number
  'filter[tenant]'?: string
  'filter[created_after]'?: string
  'filter[created_before]'?: string
}

/** A part of the audit trail, the newest first. */
export const trailQuery = (query: Filter) => queryOptions({
  queryKey: ['audit', query],
  queryFn: async () => (await api.GET('/api/v1/admin/audit-logs', { params: { query } })).data!,
  placeholderData: (before) => before,
})

/**
 * Gives the names that are known here: the trail has numbers and ids. Members are known of one
 * tenant at a time; everybody else is a person with a number.
 */
function useKnown(tenantId?: string) {
  const { t, i18n } = useLingui()
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
    ...products.map((one) => [one.id, name(one)] as const), ...features.map((one) => [one.id, name(one)] as const), ...plans.map((one) => [one.id, name(one)] as const),
    ...plans.flatMap((one) => one.prices.map((price) => [price.id, `${name(one)} (${price.currency})`] as const)), ...tenants.map((one) => [one.id, one.name] as const),
  ])
  const person = (id: number | string) => people.get(String(id)) ?? t`Person ${id}`
  return { person, records }
}

/** Turns entries of the trail into what the time line says. */
export function useEntries(tenantId?: string): (found: Schema<'AuditEntry'>[]) => Entry[] {
  const { t } = useLingui()
  const { person, records } = useKnown(tenantId)
  const somebody = (id: number | null) => (id === null ? null : { id, name: person(id) })
  return (found) => found.map((one) => ({
    id: String(one.id), type: one.action, at: one.created_at,
    tenant: one.tenant_id ? { id: one.tenant_id, name: records.get(one.tenant_id) ?? t`Tenant` } : null,
    actor: somebody(one.actor_id), acting_as: somebody(one.subject_id), api_key: one.api_key_id ? { id: one.api_key_id, name: one.api_key_id.slice(0, 8) } : null,
    resource_id: one.resource_id, resource_name: one.resource === 'user' ? person(one.resource_id) : records.get(one.resource_id),
    before: one.before, after: one.after,
  }))
}

/** The name of somebody by their number, where it is known. */
export function usePerson(): (id: number) => string {
  return useKnown().person
}

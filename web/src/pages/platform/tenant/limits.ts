import { t } from '@lingui/core/macro'
import { useLingui } from '@lingui/react'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import type { Formats } from '../../../app/format'
import { allFeaturesQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { limitsQuery, metersQuery, quotasQuery } from './reads'

/** The feature that limits the number of members and invitations. */
export const seatsFeature = 'team-members'

/** A feature of a tenant with its usage, if a meter counts it, and the source of its limit. */
export interface Limited {
  code: string
  name: string
  unit: string | null
  quota?: Schema<'MeterQuota'>
  limit?: Schema<'TenantLimit'>
  /** Units can be granted: the meter sums or counts. */
  grantable: boolean
}

/** Reports whether the feature has a number as its limit, rather than being included or not. */
export function isCounted(of: Limited): boolean {
  return !!of.quota || of.code === seatsFeature || of.limit?.plan?.type === 'quota' || of.limit?.override?.type === 'quota'
}

/**
 * Returns the features of a tenant: the meters first, then the others with a limit. Names are those
 * of the catalog if the admin may view it.
 */
export function useLimited(id: string, enabled = true) {
  const { i18n } = useLingui()
  const may = usePlatformMay()
  const quotas = useQuery({ ...quotasQuery(id), enabled })
  const limits = useQuery({ ...limitsQuery(id), enabled: enabled && may('limits.manage') })
  const features = useQuery({ ...allFeaturesQuery, enabled: enabled && may('features.view') }).data ?? []
  const meters = useQuery({ ...metersQuery, enabled: enabled && may('meters.manage') }).data
  const names = new Map(features.map((one) => [one.code, nameIn(one.translations, i18n.locale)]))
  const limitOf = new Map((limits.data ?? []).map((one) => [one.feature_code, one]))
  const aggregationOf = new Map((meters ?? []).map((one) => [one.code, one.aggregation_type]))
  const counted = (quotas.data ?? []).map((quota): Limited => {
    const aggregation = aggregationOf.get(quota.meter_code)
    return {
      code: quota.meter_code, name: names.get(quota.meter_code) ?? quota.meter_name, unit: quota.unit_label, quota, limit: limitOf.get(quota.meter_code),
      grantable: aggregation === undefined || aggregation === 'sum' || aggregation === 'count',
    }
  })
  const known = new Set(counted.map((one) => one.code))
  const others = (limits.data ?? []).filter((one) => !known.has(one.feature_code)).map((limit): Limited => ({
    code: limit.feature_code, name: names.get(limit.feature_code) ?? (limit.feature_code === seatsFeature ? t`Team members` : limit.feature_code), unit: null, limit, grantable: false,
  }))
  /** Features of the catalog that this tenant does not have, which an override can add. */
  const missing = features.filter((one) => !known.has(one.code) && !limitOf.has(one.code))
    .map((one): Limited => ({ code: one.code, name: nameIn(one.translations, i18n.locale), unit: null, grantable: false }))
  return { quotas, limits, counted, others, missing }
}

/** Returns the words for a limit: a quantity, unlimited, included or not included. */
export function limitWord(value: Schema<'LimitValue'> | null | undefined, unit: string | null, counted: boolean, format: Formats): string {
  if (!value) return counted ? t`Unlimited` : t`Not included`
  if (value.type === 'none') return t`Not included`
  if (value.type === 'boolean') return counted ? t`Unlimited` : t`Included`
  return value.value === null ? t`Unlimited` : format.quantity(value.value, unit)
}

/** The state of a meter that needs attention, in the order of urgency. */
export type MeterState = 'cap' | 'limit' | 'over' | 'granted' | 'near' | ''

export function stateOf(of: Schema<'MeterQuota'>): MeterState {
  const { current_usage: used, reserved, quota_limit: limit, cap, grants_remaining: granted, quota_enforcement } = of
  const taken = used + reserved
  if (cap !== null && taken >= cap) return 'cap'
  if (limit !== null && taken >= limit) return granted > 0 ? 'granted' : quota_enforcement === 'hard' ? 'limit' : 'over'
  const lowest = lowestOf(of)
  return lowest !== null && lowest > 0 && used >= 0.8 * lowest ? 'near' : ''
}

/** Returns the lower of the limit and the customer's own cap; null without either. */
export function lowestOf({ quota_limit: limit, cap }: Schema<'MeterQuota'>): number | null {
  return limit === null ? cap : cap === null ? limit : Math.min(limit, cap)
}

/** Returns the last moment of a day in the reader's time zone, for an expiry that includes the day. */
export function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString()
}

/** Returns the day of a moment in the reader's time zone, for a date field. */
export function dayOf(at: string | Date): string {
  const date = new Date(at)
  return [date.getFullYear(), String(date.getMonth() + 1).padStart(2, '0'), String(date.getDate()).padStart(2, '0')].join('-')
}

/** Today by the service's clock, for a date field. */
export const today = () => dayOf(new Date(now()))

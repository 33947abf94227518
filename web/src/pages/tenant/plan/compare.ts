import type { Schema } from '../../../api/client'

type Feature = Schema<'PlanFeature'>
type Offered = Schema<'OfferedPlan'>

/** A plan's amount of a feature: none, a quota, or unlimited. */
export type Amount = number | 'none' | 'unlimited'

export function amountOf(features: Feature[], code: string): Amount {
  const feature = features.find((one) => one.code === code)
  if (!feature) return 'none'
  return feature.type === 'quota' && feature.value !== null ? feature.value : 'unlimited'
}

/** A row of the comparison: a feature of at least one plan. */
export interface Row {
  code: string
  name: string
  /** At least one plan has a quota for it; otherwise it is included or not. */
  counted: boolean
}

/**
 * Returns the rows of the comparison in the order of the catalog, which each plan's features
 * follow.
 */
export function rowsOf(plans: Offered[]): Row[] {
  const rows: Row[] = []
  let left = plans.map((plan) => plan.features)
  for (;;) {
    const first = left.flatMap((features) => features.slice(0, 1))
    // The next row is a feature that no plan has after another remaining one.
    const next = first.find(({ code }) => left.every((features) => features.findIndex((one) => one.code === code) <= 0)) ?? first[0]
    if (!next) return rows
    const { code, name } = next
    rows.push({ code, name, counted: left.some((features) => features.some((one) => one.code === code && one.type === 'quota')) })
    left = left.map((features) => features.filter((one) => one.code !== code))
  }
}

/**
 * Returns the gain or loss of a feature, with its number if it can be counted, or null if it is
 * equal.
 */
export function difference(now: Amount, then: Amount): { gain: boolean; by?: number } | null {
  const size = (amount: Amount) => (amount === 'none' ? 0 : amount === 'unlimited' ? Infinity : amount)
  if (size(now) === size(then)) return null
  const gain = size(then) > size(now)
  const by = Math.abs(size(then) - size(now))
  return Number.isFinite(by) && now !== 'none' && then !== 'none' ? { gain, by } : { gain }
}

/** Why a plan cannot be selected, if anything. */
export type Hindrance = 'default' | 'too small' | 'not sold' | 'no price'

export function hindranceOf(plan: Offered, current: Schema<'Subscription'> | null): Hindrance | undefined {
  if (plan.id === current?.plan.id) return undefined
  // The default plan is not sold: it applies to tenants without a subscription.
  if (plan.is_default) return 'default'
  if (plan.prices.length === 0) return 'no price'
  if (plan.eligibility.selectable) return undefined
  return plan.eligibility.violations.length > 0 && !plan.eligibility.reason ? 'too small' : 'not sold'
}

/** Returns the interval of a plan as a key, to group plans. */
export function intervalOf({ interval_unit, interval_count }: Pick<Offered, 'interval_unit' | 'interval_count'>): string {
  return `${interval_count}-${interval_unit}`
}

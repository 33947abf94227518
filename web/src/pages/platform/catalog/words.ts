import { plural, t } from '@lingui/core/macro'
import type { Schema } from '../../../api/client'

/** What the price of a plan is multiplied by. */
export function pricingWord(type: Schema<'PricingType'>): string {
  return { flat: t`one price`, seat: t`by seats`, usage: t`by usage` }[type] ?? type
}

/** How often a plan is paid. */
export function everyWord({ interval_unit: unit, interval_count: count }: Pick<Schema<'AdminPlan'>, 'interval_unit' | 'interval_count'>): string {
  return {
    day: plural(count, { one: 'every day', other: 'every # days' }), week: plural(count, { one: 'every week', other: 'every # weeks' }),
    month: plural(count, { one: 'every month', other: 'every # months' }), year: plural(count, { one: 'every year', other: 'every # years' }),
  }[unit]
}

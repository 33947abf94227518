import { plural, t } from '@lingui/core/macro'
import type { Schema } from '../../../api/client'

/** Returns the word for a pricing type. */
export function pricingWord(type: Schema<'PricingType'>): string {
  return { flat: t`flat rate`, seat: t`per seat`, usage: t`usage-based` }[type] ?? type
}

/** Returns the words for a billing interval. */
export function everyWord({ interval_unit: unit, interval_count: count }: Pick<Schema<'AdminPlan'>, 'interval_unit' | 'interval_count'>): string {
  return {
    day: plural(count, { one: 'every day', other: 'every # days' }), week: plural(count, { one: 'every week', other: 'every # weeks' }),
    month: plural(count, { one: 'every month', other: 'every # months' }), year: plural(count, { one: 'every year', other: 'every # years' }),
  }[unit]
}

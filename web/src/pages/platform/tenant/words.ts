import { t } from '@lingui/core/macro'
import type { Schema } from '../../../api/client'

/** Returns the words for a billing interval: a month, 3 months. */
export function intervalWord(of: Pick<Schema<'Subscription'>, 'interval_unit' | 'interval_count'>): string {
  const { interval_unit: unit, interval_count: count } = of
  if (count === 1) return { day: t`a day`, week: t`a week`, month: t`a month`, year: t`a year` }[unit]
  return { day: t`every ${count} days`, week: t`every ${count} weeks`, month: t`every ${count} months`, year: t`every ${count} years` }[unit]
}

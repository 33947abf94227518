import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../api/client'
import { useFormat } from '../app/format'

/** Returns a function that describes the discount of a subscription: 25% off until 3 July. */
export function useDiscountWords(): (of: Schema<'SubscriptionDiscount'>) => string {
  const { t } = useLingui()
  const format = useFormat()
  return ({ percent_off: percent, amount, ends_at }) => {
    const off = percent !== null ? format.percent(percent / 100) : amount ? format.sum(amount) : ''
    const end = ends_at && format.day(ends_at)
    return end ? t`${off} off until ${end}` : t`${off} off`
  }
}

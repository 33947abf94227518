import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import type { Tone } from '../../../ui/Status'

type Discount = Schema<'AdminDiscount'>

/** Whether a code can be used now, and otherwise why not. */
export type CodeState = 'active' | 'inactive' | 'scheduled' | 'expired' | 'used up'

export function stateOf(of: Discount): CodeState {
  if (!of.is_active) return 'inactive'
  if (of.ends_at && new Date(of.ends_at).getTime() <= now()) return 'expired'
  if (of.starts_at && new Date(of.starts_at).getTime() > now()) return 'scheduled'
  return of.max_redemptions !== null && of.redemptions >= of.max_redemptions ? 'used up' : 'active'
}

/** Returns words for a promotion code. */
export function useDiscountWords() {
  const { t } = useLingui()
  const format = useFormat()
  return {
    /** The discount: 25% off; €10.00 or $12.00 off. */
    off({ percent_off: percent, amounts }: Discount): string {
      const share = percent === null ? '' : format.percent(percent / 100)
      const sums = format.either(amounts.map((one) => format.money(one.amount_cents, one.currency)))
      return percent === null ? t`${sums} off` : t`${share} off`
    },
    /** The invoices that it applies to. */
    lasts({ duration, months }: Discount): string {
      if (duration === 'once') return t`On the first invoice`
      return duration === 'forever' ? t`On every invoice` : plural(months ?? 1, { one: 'For # month', other: 'For # months' })
    },
    /** The redemptions: 12 of 100. */
    redeemed({ redemptions, max_redemptions: most }: Discount): string {
      const [count, limit] = [format.number(redemptions), most === null ? '' : format.number(most)]
      return most === null ? count : t`${count} of ${limit}`
    },
    /** The days on which it can be used. */
    valid({ starts_at: from, ends_at: to }: Discount): string {
      const [first, last] = [from && format.day(from), to && format.day(to)]
      if (first && last) return t`${first} to ${last}`
      return first ? t`From ${first}` : last ? t`Until ${last}` : t`Always`
    },
    state(of: Discount): [Tone, string] {
      const looks: Record<CodeState, [Tone, string]> = {
        active: ['good', t({ message: 'Active', context: 'a code' })], inactive: ['off', t({ message: 'Inactive', context: 'a code' })],
        scheduled: ['wait', t({ message: 'Not yet valid', context: 'a code' })], expired: ['off', t({ message: 'Expired', context: 'a code' })], 'used up': ['off', t({ message: 'Fully redeemed', context: 'a code' })],
      }
      return looks[stateOf(of)]
    },
  }
}

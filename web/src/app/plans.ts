import { useLingui } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import type { Schema } from '../api/client'
import { useFormat } from './format'

type Priced = Pick<Schema<'Plan'>, 'interval_unit' | 'interval_count' | 'pricing_type'>

/** Words for prices of plans: each month, each seat and month. */
export function usePlanWords() {
  const { t } = useLingui()
  const format = useFormat()
  function each({ interval_unit, interval_count }: Priced): string {
    if (interval_count === 1) {
      return { day: t`a day`, week: t`a week`, month: t`a month`, year: t`a year` }[interval_unit] ?? interval_unit
    }
    return {
      day: plural(interval_count, { one: 'every # day', other: 'every # days' }),
      week: plural(interval_count, { one: 'every # week', other: 'every # weeks' }),
      month: plural(interval_count, { one: 'every # month', other: 'every # months' }),
      year: plural(interval_count, { one: 'every # year', other: 'every # years' }),
    }[interval_unit] ?? interval_unit
  }
  return {
    /** a month; every 3 months */
    each,
    /** a seat and month, where the plan is priced by seats */
    per(plan: Priced): string {
      const time = each(plan)
      if (plan.pricing_type !== 'seat') return time
      if (plan.interval_count > 1) return t`for each seat, ${time}`
      return { day: t`a seat and day`, week: t`a seat and week`, month: t`a seat and month`, year: t`a seat and year` }[plan.interval_unit]
    },
    /** One price of a plan in a currency, or undefined where it has none. */
    price(plan: { prices: { currency: string; price_cents: number }[] }, currency: string): string | undefined {
      const found = plan.prices.find((one) => one.currency === currency)
      return found && format.money(found.price_cents, currency, { whole: true })
    },
    /** What a plan gives: 500 signed documents; unlimited; not included. */
    entitlement(one: { type: Schema<'EntitlementType'>; value?: number | null }): string {
      if (one.type === 'boolean') return t`Included`
      return one.value === null || one.value === undefined ? t`Unlimited` : format.number(one.value)
    },
  }
}

/** The currencies in which some plan has a price. */
export function currenciesOf(plans: { prices: { currency: string }[] }[]): string[] {
  return [...new Set(plans.flatMap((plan) => plan.prices.map((price) => price.currency)))].sort()
}

/**
 * The currency to show at first: the one that the reader has chosen, else the one in which most plans
 * are sold. Of several the tenant's is taken, else the reader's region's, else the service's.
 */
export function firstCurrency(plans: { prices: { currency: string }[] }[], chosen: string | undefined, fallback: string, preferred?: string): string {
  const offered = currenciesOf(plans)
  if (chosen && offered.includes(chosen)) return chosen
  const sold = (currency: string) => plans.filter((plan) => plan.prices.some((price) => price.currency === currency)).length
  const most = Math.max(0, ...offered.map(sold))
  const best = offered.filter((one) => sold(one) === most)
  const region = navigator.language.split('-')[1] ?? ''
  const byRegion: Record<string, string> = { US: 'USD', GB: 'GBP', CH: 'CHF', JP: 'JPY', CA: 'CAD', AU: 'AUD', SE: 'SEK', NO: 'NOK', DK: 'DKK', PL: 'PLN' }
  return [preferred, byRegion[region], fallback, ...best].find((one): one is string => !!one && best.includes(one)) ?? fallback
}

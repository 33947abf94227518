import { useLingui } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import type { Schema } from '../api/client'
import { useFormat } from './format'

type Priced = Pick<Schema<'Plan'>, 'interval_unit' | 'interval_count' | 'pricing_type'>

/** Returns words for prices of plans: a month, a seat and month. */
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
    /** a seat and month, for plans priced by seat */
    per(plan: Priced): string {
      const time = each(plan)
      if (plan.pricing_type !== 'seat') return time
      if (plan.interval_count > 1) return t`per seat, ${time}`
      return { day: t`per seat per day`, week: t`per seat per week`, month: t`per seat per month`, year: t`per seat per year` }[plan.interval_unit]
    },
    /** Returns the price of a plan in a currency, or undefined if there is none. */
    price(plan: { prices: { currency: string; price_cents: number }[] }, currency: string): string | undefined {
      const found = plan.prices.find((one) => one.currency === currency)
      return found && format.money(found.price_cents, currency, { whole: true })
    },
    /** Returns the value of an entitlement: 500 signed documents; unlimited; not included. */
    entitlement(one: { type: Schema<'EntitlementType'>; value?: number | null }): string {
      if (one.type === 'boolean') return t`Included`
      return one.value === null || one.value === undefined ? t`Unlimited` : format.number(one.value)
    },
  }
}

/** Returns the currencies in which at least one plan has a price. */
export function currenciesOf(plans: { prices: { currency: string }[] }[]): string[] {
  return [...new Set(plans.flatMap((plan) => plan.prices.map((price) => price.currency)))].sort()
}

/**
 * Returns the initial currency: the reader's choice, otherwise the currency with the most plans. If
 * several have equally many, it prefers the tenant's, then the reader's region's, then the
 * service's.
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

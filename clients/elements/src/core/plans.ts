import { plans } from '../texts/plans'
import type { Schema } from './client'
import type { Formats } from './format'
import type { Message } from './texts'

type Write = (message: Message, values?: Record<string, string | number>) => string
type Timed = Pick<Schema<'Plan'>, 'interval_unit' | 'interval_count'>
type Priced = Timed & Pick<Schema<'Plan'>, 'pricing_type'>

/** a month; every 3 months */
export function each(t: Write, { interval_unit, interval_count }: Timed): string {
  const [one, several] = ({ day: ['day', 'days'], week: ['week', 'weeks'], month: ['month', 'months'], year: ['year', 'years'] } as const)[interval_unit]
  return interval_count === 1 ? t(plans[one]) : t(plans[several], { count: interval_count })
}

/** a seat and month, where the plan is priced by seats */
export function per(t: Write, plan: Priced): string {
  const time = each(t, plan)
  if (plan.pricing_type !== 'seat') return time
  if (plan.interval_count > 1) return t(plans.seatEach, { time })
  return t(plans[({ day: 'seatDay', week: 'seatWeek', month: 'seatMonth', year: 'seatYear' } as const)[plan.interval_unit]])
}

/** The plan with its seats: Team, 4 seats. */
export function planWithSeats(t: Write, name: string, type: Schema<'PricingType'>, quantity: number): string {
  return type === 'seat' ? t(plans.planSeats, { name, places: t(plans.seats, { count: quantity }) }) : name
}

/** The interval of a plan as one word, to group plans by it. */
export function intervalOf({ interval_unit, interval_count }: Timed): string {
  return `${interval_count}-${interval_unit}`
}

/** The price of a plan in words, for whoever reads it. */
export function priceOf(t: Write, format: Formats, cents: number, currency: string): string {
  return cents === 0 ? t(plans.free) : format.money(cents, currency, true)
}

type Wish = string | null | undefined

/** The currency to show at first: the one that was chosen, else the one in which most plans are sold. Of several the first that is preferred. */
export function firstCurrency(offers: { prices: { currency: string }[] }[], chosen: Wish[], preferred: Wish[]): string {
  const sold = new Map<string, number>()
  for (const { prices } of offers) for (const { currency } of prices) sold.set(currency, (sold.get(currency) ?? 0) + 1)
  const most = Math.max(...sold.values())
  const best = [...sold.keys()].filter((one) => sold.get(one) === most)
  return chosen.find((one): one is string => !!one && sold.has(one)) ?? preferred.find((one): one is string => !!one && best.includes(one)) ?? best[0] ?? 'EUR'
}

/** The currency of the reader's region, where it is not the euro. */
export function currencyOfRegion(): string | undefined {
  const byRegion: Record<string, string> = { US: 'USD', GB: 'GBP', CH: 'CHF', JP: 'JPY', CA: 'CAD', AU: 'AUD', SE: 'SEK', NO: 'NOK', DK: 'DKK', PL: 'PLN' }
  return byRegion[navigator.language.split('-')[1] ?? '']
}

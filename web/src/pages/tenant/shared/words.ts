import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'

type Interval = Pick<Schema<'Subscription'>, 'interval_unit' | 'interval_count'>

/** Words that several pages have in common. */
export function useWords() {
  const { t } = useLingui()
  const format = useFormat()

  /** How often a price is paid: a month, every 3 months. */
  function each({ interval_unit: unit, interval_count: count }: Interval): string {
    if (unit === 'day') return plural(count, { one: 'a day', other: 'every # days' })
    if (unit === 'week') return plural(count, { one: 'a week', other: 'every # weeks' })
    if (unit === 'year') return plural(count, { one: 'a year', other: 'every # years' })
    return plural(count, { one: 'a month', other: 'every # months' })
  }

  function seats(count: number): string {
    return plural(count, { one: '# seat', other: '# seats' })
  }

  /** The plan with its seats: Team, 4 seats. */
  function planWithSeats(name: string, type: Schema<'PricingType'>, quantity: number): string {
    const places = seats(quantity)
    return type === 'seat' ? t`${name}, ${places}` : name
  }

  /** A role's name: those that everybody has are in the reader's language. */
  function role(name: string | null): string {
    const known: Record<string, string> = { owner: t`Owner`, admin: t`Admin`, member: t`Member` }
    return name === null ? t`None` : (known[name] ?? name)
  }

  /** A quantity with its unit: 18.2 GB. Units that repeat the meter's name are left away. */
  function quantity(value: number, unit: string | null): string {
    return unit && /^[A-Za-z]{1,3}$/.test(unit) ? `${format.number(value)} ${unit}` : format.number(value)
  }
  return { each, seats, planWithSeats, role, quantity }
}

/** Returns what one period costs, without usage. */
export function regularPrice(subscription: Schema<'Subscription'>): number {
  return subscription.price_cents * subscription.quantity
}

import { useLingui } from '@lingui/react'
import { useMemo } from 'react'
import type { Schema } from '../api/client'
import { now } from './clock'
import { decimalsOf } from './currencies'

/** Formats for a locale. Times are in the reader's time zone. */
export function formats(locale: string) {
  const date = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, options)
    // A date without a time is the same date in every time zone.
    const utc = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { ...options, timeZone: 'UTC' })
    return (at: string | Date) => (typeof at === 'string' && at.length === 10 ? utc : format).format(new Date(at))
  }
  const range = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const shortRange = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const wholeMonth = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const inUTC = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { ...options, timeZone: 'UTC' })
    return (at: string) => format.format(new Date(at))
  }
  const utc = {
    shortDay: inUTC({ day: 'numeric', month: 'short' }), dayWithYear: inUTC({ day: 'numeric', month: 'long', year: 'numeric' }),
    dayOnly: inUTC({ day: 'numeric', month: 'long' }), monthOnly: inUTC({ month: 'long' }),
    shortMonth: inUTC({ month: 'short' }), shortMonthWithYear: inUTC({ month: 'short', year: 'numeric' }), monthWithYear: inUTC({ month: 'long', year: 'numeric' }),
  }
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const day = date({ day: 'numeric', month: 'long' })
  const dayWithYear = date({ day: 'numeric', month: 'long', year: 'numeric' })
  const marks = new Intl.NumberFormat(locale).formatToParts(1234567.5)
  const mark = (type: 'group' | 'decimal') => marks.find((part) => part.type === type)?.value ?? '.'
  const nameOf = (type: 'currency' | 'region', code: string) => {
    try {
      return new Intl.DisplayNames(locale, { type }).of(code) ?? code
    } catch {
      return code // Intl throws for an invalid code
    }
  }
  const thisYear = (at: string | Date) => new Date(at).getFullYear() === new Date(now()).getFullYear()
  return {
    /** The colon after a label, with the space that French puts before it. */
    colon: locale === 'fr' ? '\u00a0:' : ':',
    /** Formats an amount in minor units; whole omits zero cents, brief all cents from 1,000 on. */
    money(cents: number, currency: string, { whole = false, brief = false, sign = false } = {}): string {
      const decimals = decimalsOf(currency)
      const digits = brief && Math.abs(cents) >= 10 ** (decimals + 3) ? 0 : decimals
      const fractions = whole && cents % 10 ** decimals === 0 ? 0 : digits
      const format = new Intl.NumberFormat(locale, {
        style: 'currency', currency, minimumFractionDigits: fractions, maximumFractionDigits: digits,
        signDisplay: sign ? 'exceptZero' : 'negative', currencyDisplay: 'narrowSymbol',
      })
      return format.format(cents / 10 ** decimals).replace('-', '−')
    },
    /** Formats the price of a unit in minor units, with all its decimals. */
    unitPrice(cents: number, currency: string): string {
      const digits = decimalsOf(currency)
      const format = new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits + 12, currencyDisplay: 'narrowSymbol' })
      return format.format(Number((cents / 10 ** digits).toPrecision(15)))
    },
    /** Formats an amount for figures at a glance: with its cents if it is below 1,000. */
    about(cents: number, currency: string, { sign = false } = {}): string {
      return this.money(cents, currency, { whole: true, brief: true, sign })
    },
    /** Formats an amount briefly, for the axis of a chart: €40K. */
    compact(cents: number, currency: string): string {
      const format = new Intl.NumberFormat(locale, { style: 'currency', currency, notation: 'compact', maximumFractionDigits: 1, minimumFractionDigits: 0, currencyDisplay: 'narrowSymbol' })
      return format.format(cents / 10 ** decimalsOf(currency))
    },
    sum(money: Schema<'Money'>): string {
      return this.money(money.amount_cents, money.currency)
    },
    /**
     * Formats a quantity with all its decimals, at most six in the service. Round estimates first.
     */
    number: (value: number) => new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }).format(value),
    /** Formats an exchange rate, with at most ten decimals. */
    precise: (value: number) => new Intl.NumberFormat(locale, { maximumFractionDigits: 10, useGrouping: false }).format(value),
    /**
     * Parses a number as people of the locale write it, with at most the given decimals; undefined
     * if it is not one.
     */
    parse(text: string, decimals = 0): number | undefined {
      const group = mark('group')
      const plain = text.trim().replace(/[\s'’]/g, '').replaceAll(group, '').replace(mark('decimal'), '.')
      return new RegExp(decimals > 0 ? `^\\d{1,13}(\\.\\d{0,${decimals}})?$` : '^\\d{1,15}$').test(plain) ? Number(plain) : undefined
    },
    /** Formats a quantity with its unit: 18.2 GB. Omits units that repeat the meter's name. */
    quantity(value: number, unit: string | null): string {
      return unit && /^[A-Za-z]{1,3}$/.test(unit) ? `${this.number(value)}\u00a0${unit}` : this.number(value)
    },
    percent: (share: number) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(share),
    wholePercent: (share: number) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(share),
    /** 1 December, with the year unless it is the current one. */
    day: (at: string | Date) => (thisYear(at) ? day(at) : dayWithYear(at)),
    dayWithYear,
    /** Wednesday, 2 December */
    weekday: date({ weekday: 'long', day: 'numeric', month: 'long' }),
    /** 1 Dec */
    shortDay: date({ day: 'numeric', month: 'short' }),
    month: date({ month: 'long' }),
    shortMonth: date({ month: 'short' }),
    monthWithYear: date({ month: 'long', year: 'numeric' }),
    /**
     * Formats a period without its end day: the name of a month, or from day to day. In UTC, like
     * billing periods; short omits the year.
     */
    period(from: string, to: string, { short = false } = {}): string {
      const [start, after] = [new Date(from), new Date(to)]
      const last = new Date(Math.max(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate()) - 86_400_000, start.getTime()))
      const months = (after.getUTCFullYear() - start.getUTCFullYear()) * 12 + after.getUTCMonth() - start.getUTCMonth()
      if (start.getUTCDate() === 1 && after.getUTCDate() === 1 && months === 1) return wholeMonth.format(start)
      return (short ? shortRange : range).formatRange(start, last)
    },
    /** Capitalizes the first letter of a text that begins with a name of a month or day. */
    first: (text: string) => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1),
    /** Days and months of usage series, which are in UTC. */
    utc,
    time: date({ hour: '2-digit', minute: '2-digit' }),
    /** 1 Dec, 23:40:18 */
    dayAndTime: date({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    /** The full day and time, for tooltips. */
    exact: date({ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' }),
    /** 3 minutes ago for less than a week, otherwise the day. */
    ago(at: string | Date): string {
      const seconds = (new Date(at).getTime() - now()) / 1000
      const size = Math.abs(seconds)
      if (size < 45) return relative.format(0, 'second')
      if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute')
      if (size < 86_400) return relative.format(Math.round(seconds / 3600), 'hour')
      if (size < 7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
      return this.day(at)
    },
    currency: (code: string) => nameOf('currency', code),
    country: (code: string) => nameOf('region', code),
    /** €10.00 or $12.00 */
    either: (items: string[]) => new Intl.ListFormat(locale, { type: 'disjunction' }).format(items),
    list: (items: string[]) => new Intl.ListFormat(locale, { type: 'conjunction' }).format(items),
  }
}

export type Formats = ReturnType<typeof formats>

/** Returns the formats for the reader's language. */
export function useFormat(): Formats {
  const { i18n } = useLingui()
  return useMemo(() => formats(i18n.locale), [i18n.locale])
}

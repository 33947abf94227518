import type { Schema } from './client'

/** Formats of one language for all that people read. Times are the reader's own. */
export function formats(language: string) {
  const locale = language === 'en' ? 'en-GB' : language
  const date = (options: Intl.DateTimeFormatOptions) => (at: string | number | Date) => new Intl.DateTimeFormat(locale, options).format(new Date(at))
  const day = date({ day: 'numeric', month: 'long' })
  const dayWithYear = date({ day: 'numeric', month: 'long', year: 'numeric' })
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })
  return {
    /** A sum in minor units of its currency; whole leaves zero cents away. */
    money(cents: number, currency: string, whole = false): string {
      const digits = new Intl.NumberFormat(language, { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
      const least = whole && cents % 10 ** digits === 0 ? 0 : digits
      return new Intl.NumberFormat(language, {
        style: 'currency', currency, minimumFractionDigits: least, maximumFractionDigits: digits, currencyDisplay: 'narrowSymbol',
      }).format(cents / 10 ** digits).replace('-', '−')
    },
    /** The price of a unit in minor units, with as many decimals as it has. */
    unitPrice(cents: number, currency: string): string {
      const digits = new Intl.NumberFormat(language, { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
      return new Intl.NumberFormat(language, {
        style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits + 12, currencyDisplay: 'narrowSymbol',
      }).format(Number((cents / 10 ** digits).toPrecision(15)))
    },
    sum(money: Schema<'Money'>): string {
      return this.money(money.amount_cents, money.currency)
    },
    number: (value: number) => number.format(value),
    /** 1 December, with the year where it is another one. */
    day: (at: string) => (new Date(at).getFullYear() === new Date().getFullYear() ? day : dayWithYear)(at),
    dayWithYear,
    currency: (code: string) => new Intl.DisplayNames(language, { type: 'currency' }).of(code) ?? code,
  }
}

export type Formats = ReturnType<typeof formats>

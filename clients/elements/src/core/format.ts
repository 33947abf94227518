import type { Client, Schema } from './client'

/** The decimals that ISO 4217 gives a currency that the service no longer offers; two for any other. */
const standard: Record<string, number> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
])

const known = new Map<string, number>()

/** Loads the decimals of the currencies. A browser has others for HUF, IDR and more. An element calls it before it shows an amount. */
export async function loadDecimals(client: Client): Promise<void> {
  if (known.size > 0) return
  const { data } = await client.get<{ data: Schema<'Currency'>[] }>('/currencies')
  for (const one of data) known.set(one.code, one.minor_units)
}

function decimalsOf(currency: string): number {
  return known.get(currency) ?? standard[currency] ?? 2
}

/** The first letter of a word as a reader counts it: an emoji or a letter with its marks is one. */
export function firstLetter(word: string): string {
  return [...new Intl.Segmenter().segment(word)][0]?.segment ?? ''
}

/** Formats of one language for all that people read. Times are the reader's own. */
export function formats(language: string) {
  const locale = language === 'en' ? 'en-GB' : language
  const date = (options: Intl.DateTimeFormatOptions) => (at: string | number | Date) => new Intl.DateTimeFormat(locale, options).format(new Date(at))
  const day = date({ day: 'numeric', month: 'long' })
  const dayWithYear = date({ day: 'numeric', month: 'long', year: 'numeric' })
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 6 })
  return {
    /** A sum in minor units of its currency; whole leaves zero cents away. */
    money(cents: number, currency: string, whole = false): string {
      const digits = decimalsOf(currency)
      const least = whole && cents % 10 ** digits === 0 ? 0 : digits
      return new Intl.NumberFormat(language, {
        style: 'currency', currency, minimumFractionDigits: least, maximumFractionDigits: digits, currencyDisplay: 'narrowSymbol',
      }).format(cents / 10 ** digits).replace('-', '−')
    },
    /** The price of a unit in minor units, with as many decimals as it has. */
    unitPrice(cents: number, currency: string): string {
      const digits = decimalsOf(currency)
      return new Intl.NumberFormat(language, {
        style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits + 12, currencyDisplay: 'narrowSymbol',
      }).format(Number((cents / 10 ** digits).toPrecision(15)))
    },
    sum(money: Schema<'Money'>): string {
      return this.money(money.amount_cents, money.currency)
    },
    /** A quantity with all its decimals, of which the service stores at most six. */
    number: (value: number) => number.format(value),
    /** 1 December, with the year where it is another one. */
    day: (at: string) => (new Date(at).getFullYear() === new Date().getFullYear() ? day : dayWithYear)(at),
    dayWithYear,
    currency: (code: string) => new Intl.DisplayNames(language, { type: 'currency' }).of(code) ?? code,
  }
}

export type Formats = ReturnType<typeof formats>

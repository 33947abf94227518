import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client'

/**
 * The decimals of ISO 4217, by default two. Used for currencies that the service no longer offers.
 */
const standard: Record<string, number> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
])

const known = new Map<string, number>()

/**
 * Sets the service's decimals of currencies. Browsers use different ones for HUF, IDR and others.
 */
export function setDecimals(currencies: { code: string; minor_units: number }[]): void {
  for (const one of currencies) known.set(one.code, one.minor_units)
}

/** Returns the number of decimals of a currency. */
export function decimalsOf(currency: string): number {
  return known.get(currency) ?? standard[currency] ?? 2
}

/** The offered currencies. No amount is shown before they are loaded. */
export const offeredCurrenciesQuery = queryOptions({
  queryKey: ['currencies', 'offered'],
  queryFn: async () => {
    const currencies = (await api.GET('/api/v1/currencies')).data!.data
    setDecimals(currencies)
    return currencies
  },
  staleTime: Infinity,
})

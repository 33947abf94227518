import { useQuery } from '@tanstack/react-query'
import { currenciesQuery } from '../catalog/reads'
import type { Digits } from './draft'

/** Returns the service's decimals of each currency, or two until they are loaded. */
export function useDigits(): Digits {
  const currencies = useQuery(currenciesQuery).data
  return (code) => currencies?.find((one) => one.code === code)?.minor_units ?? 2
}

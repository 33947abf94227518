import { useQuery } from '@tanstack/react-query'
import { currenciesQuery } from '../catalog/reads'
import type { Digits } from './draft'

/** The decimals of each currency, as the service has them; two where it is not known yet. */
export function useDigits(): Digits {
  const currencies = useQuery(currenciesQuery).data
  return (code) => currencies?.find((one) => one.code === code)?.minor_units ?? 2
}

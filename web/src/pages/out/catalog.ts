import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'

/** The plans on sale in the reader's language. */
export function plansQuery(locale: string) {
  return queryOptions({
    queryKey: ['plans', locale],
    queryFn: async () => {
      const plans = (await api.GET('/api/v1/catalog/plans')).data!.data
      return [...plans].sort((a, b) => a.sort_order - b.sort_order)
    },
  })
}

/** The products by id, in the reader's language. */
export function productsQuery(locale: string) {
  return queryOptions({
    queryKey: ['products', locale],
    queryFn: async () => (await api.GET('/api/v1/catalog/products')).data!.data,
  })
}

/** The currencies in which some plan has a price. */
export function currenciesOf(plans: Schema<'Plan'>[]): string[] {
  return [...new Set(plans.flatMap((plan) => plan.prices.map((price) => price.currency)))].sort()
}

import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client'

/** The available plans in the reader's language. */
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

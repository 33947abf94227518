import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'
import { setDecimals } from '../../../app/currencies'
import { countQuery } from '../lists/reads'

/** All queries of the catalog share this key, so that a change reloads all of them. */
export const catalogKey = ['catalog']

export const productsQuery = (query: { search?: string; page: number }) => queryOptions({
  queryKey: [...catalogKey, 'products', query],
  queryFn: async () => (await api.GET('/api/v1/admin/products', { params: { query: { 'filter[search]': query.search, page: query.page, include: ['plans'] } } })).data!,
  placeholderData: (before) => before,
})

/** All products with their plans, for selections and names. */
export const allProductsQuery = queryOptions({
  queryKey: [...catalogKey, 'products', 'all'],
  queryFn: async () => (await api.GET('/api/v1/admin/products', { params: { query: { per_page: 100, include: ['plans'] } } })).data!.data,
})

export const planQuery = (id: string) => queryOptions({
  queryKey: [...catalogKey, 'plans', id],
  queryFn: async () => (await api.GET('/api/v1/admin/plans/{plan}', { params: { path: { plan: id } } })).data!.data,
})

/** Compares each price of a plan with the provider's price. It queries the provider. */
export const priceStatusQuery = (id: string) => queryOptions({
  queryKey: [...catalogKey, 'plans', id, 'prices'],
  queryFn: async () => (await api.GET('/api/v1/admin/plans/{plan}/psp-price-status', { params: { path: { plan: id } } })).data!.data,
  staleTime: 60_000,
  refetchOnWindowFocus: false,
})

/** All features in the order that customers see, for selections. */
export const allFeaturesQuery = queryOptions({
  queryKey: [...catalogKey, 'features', 'all'],
  queryFn: async () => (await api.GET('/api/v1/admin/features', { params: { query: { per_page: 100, sort: ['sort_order', 'code'] } } })).data!.data,
})

export const featuresQuery = (query: { search?: string; page: number }) => queryOptions({
  queryKey: [...catalogKey, 'features', query],
  queryFn: async () => (await api.GET('/api/v1/admin/features', { params: { query: { 'filter[search]': query.search, page: query.page, sort: ['sort_order', 'code'] } } })).data!,
  placeholderData: (before) => before,
})

export const currenciesQuery = queryOptions({
  queryKey: ['currencies'],
  queryFn: async () => {
    const currencies = (await api.GET('/api/v1/admin/currencies')).data!.data
    setDecimals(currencies)
    return currencies
  },
})

/** The number of tenants with a plan, by the price that they pay. */
export const customersQuery = (id: string) => queryOptions({
  queryKey: [...catalogKey, 'plans', id, 'customers'],
  queryFn: async () => (await api.GET('/api/v1/admin/plans/{plan}/customers', { params: { path: { plan: id } } })).data!.data,
})

/** The number of organizations without a subscription, which the default plan applies to. */
export const unsubscribedQuery = queryOptions({
  ...countQuery('tenants', { 'filter[status]': 'none' }),
  select: ({ total }) => total,
})

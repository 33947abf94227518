import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'

/** The newest hundred tenants, which are all tenants of a small platform. */
export const newestQuery = queryOptions({
  queryKey: ['tenants', 'newest'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants', { params: { query: { per_page: 100 } } })).data!,
  staleTime: 60_000,
})

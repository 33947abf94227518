import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'

/** The newest hundred tenants: all of them on a platform that has no more. */
export const newestQuery = queryOptions({
  queryKey: ['tenants', 'newest'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants', { params: { query: { per_page: 100 } } })).data!,
  staleTime: 60_000,
})

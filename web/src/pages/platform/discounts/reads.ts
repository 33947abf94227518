import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'
import { catalogKey } from '../catalog/reads'

export const discountsQuery = (query: { code?: string; active?: boolean; page: number }) => queryOptions({
  queryKey: [...catalogKey, 'discounts', query],
  queryFn: async () => (await api.GET('/api/v1/admin/discounts', { params: { query: { 'filter[code]': query.code, 'filter[is_active]': query.active, page: query.page } } })).data!,
  placeholderData: (before) => before,
})

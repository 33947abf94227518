import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'
import { catalogKey } from '../catalog/reads'

export const packsQuery = (query: { page: number }) => queryOptions({
  queryKey: [...catalogKey, 'packs', query],
  queryFn: async () => (await api.GET('/api/v1/admin/packs', { params: { query: { page: query.page } } })).data!,
  placeholderData: (before) => before,
})

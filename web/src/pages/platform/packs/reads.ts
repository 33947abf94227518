import { queryOptions } from '@tanstack/react-query'
import { ahead, type AdminPack } from '../../../api/ahead'
import { catalogKey } from '../catalog/reads'

interface Page {
  data: AdminPack[]
  meta: { current_page: number; last_page: number; per_page: number; total: number }
}

export const packsQuery = (query: { page: number }) => queryOptions({
  queryKey: [...catalogKey, 'packs', query],
  queryFn: async () => (await ahead.GET<Page>('/api/v1/admin/packs', { params: { query: { page: query.page } } })).data!,
  placeholderData: (before) => before,
})

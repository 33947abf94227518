import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client'
import { useTenant } from '../../../app/session'

/** The granted and purchased units, newest first. */
export function useGrants(every: number | false = false) {
  const { id } = useTenant()
  return useQuery({
    queryKey: ['get', '/api/v1/tenant/{tenantId}/grants', id],
    queryFn: async () => (await api.GET('/api/v1/tenant/{tenantId}/grants', { params: { path: { tenantId: id } } })).data!.data,
    refetchInterval: every,
  })
}

/** The packs on sale. */
export function usePacks() {
  return useQuery({
    queryKey: ['get', '/api/v1/catalog/packs'],
    queryFn: async () => (await api.GET('/api/v1/catalog/packs')).data!.data,
    retry: false,
  })
}

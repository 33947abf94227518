import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../../api/client'
import { toast } from '../../../ui/Toast'

/** Starts to impersonate a member of a tenant and opens their home page. */
export function useActAs(tenantId: string) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (userId: number) => api.POST('/api/v1/admin/impersonation/start', { body: { tenant_id: tenantId, user_id: userId } }),
    onSuccess: async () => {
      queries.clear()
      await navigate({ to: '/' })
    },
    onError: (error) => toast(error.message),
  })
}

import { Trans } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { toast } from '../../../ui/Toast'
import { catalogKey } from './reads'

/** Returns the actions for a plan in a list and in its editor. */
export function usePlanActions(plan: Schema<'AdminPlan'>) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const params = { path: { plan: plan.id } }
  const reload = () => queries.invalidateQueries({ queryKey: catalogKey })
  const onError = (error: Error) => toast(error.message)
  const duplicate = useMutation({
    mutationFn: async () => (await api.POST('/api/v1/admin/plans/{plan}/duplicate', { params })).data!.data,
    onSuccess: async (made) => {
      await reload()
      await navigate({ to: '/platform/catalog/plans/$planId', params: { planId: made.id } })
      toast(<Trans>This is the copy. It is not on sale yet.</Trans>)
    },
    onError,
  })
  const turn = useMutation({
    mutationFn: (is_active: boolean) => api.PATCH('/api/v1/admin/plans/{plan}', { params, body: { is_active } }),
    onSuccess: async (_, on) => { await reload(); toast(on ? <Trans>The plan is on sale.</Trans> : <Trans>The plan is off sale. Subscriptions continue.</Trans>) },
    onError,
  })
  return { duplicate, turn, remove: () => api.DELETE('/api/v1/admin/plans/{plan}', { params }), reload }
}

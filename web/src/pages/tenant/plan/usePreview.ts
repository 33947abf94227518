import { keepPreviousData } from '@tanstack/react-query'
import { $api, type Schema } from '../../../api/client'
import { useHere } from '../shared/reads'

/** The statuses in which a plan can be changed. */
const changeable = new Set(['active', 'trialing', 'past_due'])

export function canChange(subscription: Schema<'Subscription'> | null): boolean {
  return subscription !== null && changeable.has(subscription.status)
}

/** What a change would cost. The answer binds the service for 15 minutes. */
export function usePreview(plan: Schema<'OfferedPlan'>, quantity: number, enabled: boolean) {
  const here = useHere()
  const init = { params: { ...here.params, query: { new_plan_id: plan.id, quantity: plan.pricing_type === 'seat' ? quantity : undefined } } }
  const path = '/api/v1/tenant/{tenantId}/subscription/preview-change' as const
  const key = $api.queryOptions('get', path, init).queryKey
  const query = $api.useQuery('get', path, init, { enabled, placeholderData: keepPreviousData, staleTime: 10 * 60_000, retry: false })
  return { query, key }
}

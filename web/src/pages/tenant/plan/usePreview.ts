import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { $api, api, type Schema } from '../../../api/client'
import { useHere } from '../shared/reads'

/** The statuses in which the plan can be changed. */
const changeable = new Set(['active', 'trialing', 'past_due'])

export function canChange(subscription: Schema<'Subscription'> | null): boolean {
  return subscription !== null && changeable.has(subscription.status)
}

/** The amounts of a preview that older versions of the service do not have. */
interface Amounts {
  balance_applied?: { cents: number }
  due_now?: { cents: number }
  next_billing_at?: string | null
  next_amount?: { cents: number } | null
  next_due?: { cents: number } | null
}

/** Returns what a change charges now after the credit, and the next regular invoice. */
export function amountsOf(preview: Schema<'ChangePreview'> & Amounts) {
  return {
    applied: preview.balance_applied?.cents ?? 0,
    dueNow: preview.due_now?.cents ?? Math.max(0, preview.net.cents),
    nextAt: preview.next_billing_at ?? undefined,
    nextAmount: preview.next_amount?.cents,
    nextDue: preview.next_due?.cents,
  }
}

/** Returns the cost of a change. It is binding for the service for 15 minutes. */
export function usePreview(plan: Schema<'OfferedPlan'>, quantity: number, enabled: boolean) {
  const here = useHere()
  const init = { params: { ...here.params, query: { new_plan_id: plan.id, quantity: plan.pricing_type === 'seat' ? quantity : undefined } } }
  const path = '/api/v1/tenant/{tenantId}/subscription/preview-change' as const
  const key = $api.queryOptions('get', path, init).queryKey
  const query = $api.useQuery('get', path, init, { enabled, placeholderData: keepPreviousData, staleTime: 10 * 60_000, retry: false })
  return { query, key }
}

/** Returns the cost of a first purchase. It is not binding, and the payment page shows it again. */
export function usePurchasePreview(plan: Schema<'OfferedPlan'>, quantity: number, currency: string, enabled: boolean) {
  const here = useHere()
  const body = { plan_id: plan.id, currency, quantity: plan.pricing_type === 'seat' ? quantity : undefined }
  return useQuery({
    queryKey: ['post', '/api/v1/tenant/{tenantId}/checkout/preview', here.params.path.tenantId, body],
    queryFn: async () => (await api.POST('/api/v1/tenant/{tenantId}/checkout/preview', { ...here, body })).data!.data,
    enabled, placeholderData: keepPreviousData, staleTime: 60_000, retry: false,
  })
}

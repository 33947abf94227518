import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { readWithCode } from '../../../parts/PromotionCode'
import { useHere } from '../shared/reads'
import type { Moment } from '../../../parts/scheduled'

/** The statuses in which the plan can be changed. */
const changeable = new Set(['active', 'trialing', 'past_due'])

export function canChange(subscription: Schema<'Subscription'> | null): boolean {
  return subscription !== null && changeable.has(subscription.status)
}

/** The options of a purchase or a change. */
export interface Options {
  plan: Schema<'OfferedPlan'>
  seats: number
  currency: string
  when: Moment
  /** The promotion code, which may be refused. */
  code?: string
}

/** Returns the number of units to send. */
export const quantityOf = ({ plan, seats }: Options) => (plan.pricing_type === 'seat' ? seats : undefined)

/** The data of a preview, and the reason if the promotion code was refused. */
export interface Previewed<T> {
  data: T
  refused?: string
}

/** Returns the cost of a change. It is binding for the service for 15 minutes. */
export function usePreview(options: Options, enabled: boolean) {
  const here = useHere()
  const path = '/api/v1/tenant/{tenantId}/subscription/preview-change' as const
  const { when } = options
  const query = { new_plan_id: options.plan.id, quantity: quantityOf(options), when: when === 'period_end' ? when : undefined }
  const code = when === 'now' ? options.code : undefined
  const key = ['get', path, here.params.path.tenantId, query, code]
  return {
    key,
    query: useQuery({
      queryKey: key,
      queryFn: (): Promise<Previewed<Schema<'ChangePreview'>>> =>
        readWithCode(code, async (promotion_code) => (await api.GET(path, { params: { ...here.params, query: { ...query, promotion_code } } })).data!.data),
      enabled, placeholderData: keepPreviousData, staleTime: 10 * 60_000, retry: false,
    }),
  }
}

/** Returns the cost of a first purchase. It is not binding, and the payment page shows it again. */
export function usePurchasePreview(options: Options, enabled: boolean) {
  const here = useHere()
  const body = { plan_id: options.plan.id, currency: options.currency, quantity: quantityOf(options) }
  return useQuery({
    queryKey: ['post', '/api/v1/tenant/{tenantId}/checkout/preview', here.params.path.tenantId, body, options.code],
    queryFn: (): Promise<Previewed<Schema<'PurchasePreview'>>> =>
      readWithCode(options.code, async (promotion_code) => (await api.POST('/api/v1/tenant/{tenantId}/checkout/preview', { ...here, body: { ...body, promotion_code } })).data!.data),
    enabled, placeholderData: keepPreviousData, staleTime: 60_000, retry: false,
  })
}

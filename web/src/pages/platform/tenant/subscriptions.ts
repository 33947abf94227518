import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import type { Moment } from '../../../parts/scheduled'

const path = '/api/v1/admin/tenants/{tenant}/subscriptions'

/** A change of a subscription that is asked for. */
export interface Change {
  new_plan_id: string
  quantity?: number
  when: Moment
}

/** The cost of a change. It binds the service for 15 minutes if the same admin makes the change. */
export const changePreviewQuery = (tenant: string, subscription: string, change: Change) => queryOptions({
  queryKey: ['preview-change', tenant, subscription, change],
  queryFn: async () => (await api.GET(`${path}/{subscription}/preview-change`, { params: { path: { tenant, subscription }, query: change } })).data!.data,
  retry: false, staleTime: 10 * 60_000, gcTime: 0,
})

/** Changes the plan, the seats or both. The answer says whether the change is made, scheduled or waits for the customer. */
export const changePlan = async (tenant: string, subscription: string, body: Change) =>
  (await api.POST(`${path}/{subscription}/change-plan`, { params: { path: { tenant, subscription } }, body })).data!.data

/** Cancels the scheduled change. */
export const keepPlan = (tenant: string, subscription: string) =>
  api.DELETE(`${path}/{subscription}/pending-change`, { params: { path: { tenant, subscription } } })

/** The request that makes a subscription. */
export type NewSubscription = Schema<'AdminCreateSubscriptionRequest'>

/** The cost of a new subscription. It creates nothing. */
export const previewSubscription = async (tenant: string, body: NewSubscription) =>
  (await api.POST(`${path}/preview`, { params: { path: { tenant } }, body })).data!.data

export const makeSubscription = async (tenant: string, body: NewSubscription, key: string) =>
  (await api.POST(path, { params: { path: { tenant }, header: { 'Idempotency-Key': key } }, body })).data!.data!

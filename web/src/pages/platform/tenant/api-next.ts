import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import type { Moment } from '../../../parts/scheduled'
import { tenantKey } from './reads'

type Untyped = Record<'GET' | 'POST' | 'DELETE', (path: string, init: object) => Promise<{ data?: { data: unknown } }>>
const untyped = api as unknown as Untyped
const base = '/api/v1/admin/tenants/{tenant}'

/** A change of a subscription that is asked for. */
export interface Change {
  new_plan_id: string
  quantity?: number
  when: Moment
}

/** The cost of a change. It binds the service for 15 minutes if the same admin makes the change. */
export const changePreviewQuery = (tenant: string, subscription: string, change: Change) => queryOptions({
  queryKey: ['preview-change', tenant, subscription, change],
  queryFn: async () => (await untyped.GET(`${base}/subscriptions/{subscription}/preview-change`, { params: { path: { tenant, subscription }, query: change } })).data!.data as Schema<'ChangePreview'>,
  retry: false, staleTime: 10 * 60_000, gcTime: 0,
})

/** Changes the plan, the seats or both. The answer says whether the change is made, scheduled or waits for the customer. */
export async function changePlan(tenant: string, subscription: string, body: Change): Promise<{ action: string }> {
  return (await untyped.POST(`${base}/subscriptions/{subscription}/change-plan`, { params: { path: { tenant, subscription } }, body })).data!.data as { action: string }
}

/** Cancels the scheduled change. */
export async function keepPlan(tenant: string, subscription: string): Promise<void> {
  await untyped.DELETE(`${base}/subscriptions/{subscription}/pending-change`, { params: { path: { tenant, subscription } } })
}

/** The request that makes a subscription. */
export type NewSubscription = Schema<'AdminCreateSubscriptionRequest'> & { promotion_code?: string }

/** The cost of a new subscription. It creates nothing. */
export async function previewSubscription(tenant: string, body: NewSubscription): Promise<Schema<'PurchasePreview'>> {
  return (await untyped.POST(`${base}/subscriptions/preview`, { params: { path: { tenant } }, body })).data!.data as Schema<'PurchasePreview'>
}

export async function makeSubscription(tenant: string, body: NewSubscription, key: string): Promise<Schema<'Subscription'>> {
  return (await untyped.POST(`${base}/subscriptions`, { params: { path: { tenant }, header: { 'Idempotency-Key': key } }, body })).data!.data as Schema<'Subscription'>
}

/** The API keys of a tenant. */
export const tenantKeysQuery = (tenant: string) => queryOptions({
  queryKey: [...tenantKey(tenant), 'api-keys'],
  queryFn: async () => (await untyped.GET(`${base}/api-keys`, { params: { path: { tenant }, query: { per_page: 100 } } })).data!.data as Schema<'APIKey'>[],
})

/** The webhook endpoints of a tenant. */
export const tenantHooksQuery = (tenant: string) => queryOptions({
  queryKey: [...tenantKey(tenant), 'webhook-endpoints'],
  queryFn: async () => (await untyped.GET(`${base}/webhook-endpoints`, { params: { path: { tenant }, query: { per_page: 100 } } })).data!.data as Schema<'WebhookEndpoint'>[],
})

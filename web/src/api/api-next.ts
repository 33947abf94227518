import { api, type Schema } from './client'

/**
 * Routes that api/openapi.yaml does not describe yet, by hand. Once it does, use api and Schema
 * instead.
 */

export interface Month {
  month: string
  opening: number
  new: number
  expansion: number
  contraction: number
  churn: number
  reactivation: number
  exchange: number
  closing: number
  customers_opening: number
  customers_new: number
  customers_churned: number
  customers_reactivated: number
  customers_closing: number
  trials_ended: number
  trials_converted: number
}

export interface Analytics {
  mrr: number
  arr: number
  customers: number
  arpu: number | null
  net_revenue_retention: number | null
  customer_churn: number | null
  revenue_churn: number | null
  trial_conversion: number | null
  months: Month[]
  by_plan: { plan: { id: string; name: string }; subscriptions: number; mrr: number }[]
  by_currency: { currency: string; mrr: number; rate: number | null; mrr_base: number | null }[]
}

export interface AnalyticsMeta {
  from: string
  to: string
  currency: string | null
  missing_rates: { currency: string; month: string }[]
}

export type Kind = 'new' | 'expansion' | 'contraction' | 'churn' | 'reactivation'

export interface Movement {
  tenant: { id: string | null; name: string | null }
  before: Schema<'Money'>
  after: Schema<'Money'>
  change: Schema<'Money'>
}

export interface Cohort { month: string; customers: number; values: (number | null)[] }

export interface DayRates { date: string; rates: Record<string, number> }

export interface DeliveryRow extends Schema<'WebhookDelivery'> {
  endpoint: { id: string; url: string }
  tenant: { id: string; name: string } | null
}

export interface Sent { url: string; headers: Record<string, string>; body: string }

export interface Answered { headers: Record<string, string>; body: string; truncated: boolean }

/** A delivery with the last request, and the response to each attempt. */
export type DeliveryDetail = Omit<Schema<'WebhookDelivery'>, 'attempts'> & Partial<Pick<DeliveryRow, 'endpoint' | 'tenant'>> & {
  request: Sent | null
  attempts: (Schema<'WebhookAttempt'> & { response: Answered | null })[]
}

export interface UserRow {
  id: number
  name: string
  email: string
  is_platform_admin: boolean
  permissions: string[] | null
  mfa_enabled: boolean
  last_login_at: string | null
  created_at: string
}

export interface PageOf<Row> { data: Row[]; meta: Schema<'PageMeta'> }

export interface RequestPage { data: LoggedRequest[]; meta: { next_cursor: string | null; sampled: boolean } }

export interface LoggedRequest {
  id: number
  at: string
  method: string
  route: string | null
  path: string | null
  status: number
  duration_ms: number
  code: string | null
  api_key: { id: string; name: string } | null
  user: { id: number; name: string } | null
  acting_as: { id: number; name: string } | null
  ip: string
  tenant?: { id: string; name: string } | null
}

interface Wanted { params?: { path?: Record<string, unknown>; query?: object }; body?: unknown }

type Method = <Answer>(path: string, init?: Wanted) => Promise<{ data?: Answer }>

/** The API without its description. */
export const next = api as unknown as { GET: Method; PUT: Method; POST: Method; DELETE: Method }

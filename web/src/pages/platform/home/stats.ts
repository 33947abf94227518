import { queryOptions } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { coming } from '../../../api/coming'

type Money = Schema<'Money'>

interface Health {
  status: 'ok' | 'warning' | 'error'
}

interface Queue extends Health {
  waiting: number
  lag_seconds: number
}

export interface Movement {
  from_cents: number
  new_cents: number
  expansion_cents: number
  contraction_cents: number
  ended_cents: number
}

export interface Mrr {
  currency: string
  amount_cents: number
  change_cents: number | null
  movement: Movement | null
}

/** How the platform is doing. */
export interface Stats {
  at: string
  tenants: { total: number; new: number; new_before: number }
  subscriptions: Record<'active' | 'trialing' | 'past_due' | 'unpaid' | 'paused' | 'incomplete' | 'none', number> & { active_change: number | null }
  mrr: Mrr[]
  failed_payments: { open: number; new: number; amounts: Money[] }
  quota_refusals: { count: number; count_before: number; tenants: number }
  health: {
    notifications: Queue & { last_at: string | null }
    provider: Health & { calls: number; failed: number; mean_ms: number | null }
    database: Health & { ms: number }
    mail: Queue
    jobs: Queue & { dead: number }
    webhooks: Queue & { endpoints_failing: number }
  }
}

export type Figure = 'mrr' | 'tenants' | 'active' | 'failed_payments' | 'quota_refusals'

export interface Point {
  on: string
  value: number | null
}

/** The figures of now, read again every minute. */
export const statsQuery = queryOptions({
  queryKey: ['stats'],
  queryFn: async () => (await coming<{ data: Stats }>('/api/v1/admin/stats')).data,
  refetchInterval: 60_000,
})

/** A figure over time, by day for the last 30 or by month for the last 13. */
export const seriesQuery = (figure: Figure, interval: 'day' | 'month', currency?: string) => queryOptions({
  queryKey: ['stats', figure, interval, currency],
  queryFn: async () => (await coming<{ data: { points: Point[] } }>('/api/v1/admin/stats/series', { figure, interval, currency })).data.points,
  staleTime: 300_000,
})

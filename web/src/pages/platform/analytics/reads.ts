import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { address, api, ApiError, type Schema } from '../../../api/client'
import { now, onNow } from '../../../app/clock'

/** The movement of a month, with its opening and closing revenue. */
export type Month = Schema<'MonthFigures'>

/** A kind of movement. */
export type Kind = Schema<'MovementKind'>

/** What the figures are restricted to. Without a base currency, currency is required if there are several. */
export interface Scope {
  plan?: string
  currency?: string
}

/** The months of a span, with the current one. */
export const spans = { quarter: 3, year: 12, years: 36 } as const

export type SpanName = keyof typeof spans

/** Returns the month a number of months before another, as YYYY-MM. */
export function monthsBefore(month: string, count: number): string {
  const [year = 0, at = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, at - 1 - count, 1)).toISOString().slice(0, 7)
}

/** Returns the current month of the service, which counts in UTC. */
export const thisMonth = () => new Date(now()).toISOString().slice(0, 7)

/** Returns the current month of the service, and again when the sandbox moves it. */
export const useThisMonth = () => useSyncExternalStore(onNow, thisMonth)

export const analyticsKey = ['analytics']

export interface Found { data: Schema<'Analytics'>; meta: Schema<'AnalyticsMeta'>; scope: Scope }

const read = async (query: Scope & { from: string; to: string }) =>
  (await api.GET('/api/v1/admin/analytics', { params: { query } })).data!

/** The currency with the most revenue. */
const largest = async () => (await api.GET('/api/v1/admin/stats')).data!.data.mrr[0]?.currency

/**
 * The figures of the months up to one. Several currencies without a base cannot be added up: then the
 * largest one is shown, and scope names it.
 */
export const analyticsQuery = (scope: Scope, span: SpanName, to: string) => queryOptions({
  queryKey: [...analyticsKey, scope, span, to],
  queryFn: async (): Promise<Found> => {
    const query = { ...scope, from: monthsBefore(to, spans[span] - 1), to }
    try {
      return { ...await read(query), scope }
    } catch (error) {
      if (scope.currency || !(error instanceof ApiError && error.fields.currency)) throw error
      const chosen = { ...scope, currency: await largest() }
      return { ...await read({ ...query, ...chosen }), scope: chosen }
    }
  },
  placeholderData: keepPreviousData,
})

/** The tenants behind a figure of a month. */
export const movementsQuery = (scope: Scope, month: string, kind: Kind, page: number) => queryOptions({
  queryKey: [...analyticsKey, 'movements', scope, month, kind, page],
  queryFn: async () => (await api.GET('/api/v1/admin/analytics/movements', { params: { query: { ...scope, month, kind, page } } })).data!,
  placeholderData: keepPreviousData,
})

export type Measure = Schema<'CohortMeasure'>

/** The share of the customers of a month that stayed, for the last twelve months. */
export const cohortsQuery = (scope: Scope, measure: Measure) => queryOptions({
  queryKey: [...analyticsKey, 'cohorts', scope, measure],
  queryFn: async () => (await api.GET('/api/v1/admin/analytics/cohorts', { params: { query: { ...scope, measure, months: 12 } } })).data!.data,
  placeholderData: keepPreviousData,
})

/** The exchange rates of some days, newest first. */
export const ratesQuery = (from?: string, to?: string) => queryOptions({
  queryKey: [...analyticsKey, 'rates', from, to],
  queryFn: async () => (await api.GET('/api/v1/admin/rates', { params: { query: { from, to } } })).data!.data,
})

/** Returns the address of an export as CSV. */
export function csvOf(path: string, query: Record<string, string | undefined>): string {
  const set = Object.entries({ ...query, format: 'csv', bom: 'true' }).filter((one): one is [string, string] => !!one[1])
  return address(`/api/v1/admin/analytics${path}?${new URLSearchParams(set)}`)
}

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'

export type Stats = Schema<'PlatformStats'>

export type Health = Stats['health']

export type Mrr = Schema<'CurrencyRevenue'>

export type Point = Schema<'StatsPoint'>

export type Figure = Schema<'StatsFigure'>

/** The part of a figure's history to read; by default the last twelve months. */
export interface Span { figure: Figure; interval: 'day' | 'month'; from?: string; to?: string; currency?: string }

/** The current state of the platform. */
export const statsQuery = queryOptions({
  queryKey: ['stats'],
  queryFn: async () => (await api.GET('/api/v1/admin/stats')).data!.data,
  refetchInterval: 60_000,
})

/** The history of a figure, one series per currency. */
export const seriesQuery = (query: Span) => queryOptions({
  queryKey: ['stats', 'series', query],
  queryFn: async () => (await api.GET('/api/v1/admin/stats/series', { params: { query } })).data!.data,
  placeholderData: keepPreviousData,
})

/** Returns the last days up to a day, in UTC like the service. */
export function lastDays(at: string, count: number): { interval: 'day'; from: string; to: string } {
  const to = at.slice(0, 10)
  return { interval: 'day', from: new Date(Date.parse(to) - (count - 1) * 86_400_000).toISOString().slice(0, 10), to }
}

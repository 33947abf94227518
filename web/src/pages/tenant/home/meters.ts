import { useQueries } from '@tanstack/react-query'
import { $api, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useEntitlements, useHere, useSubscription } from '../shared/reads'

const day = 86_400_000

/** A meter with its usage and forecast. */
export interface Gauge {
  code: string
  name: string
  unit: string | null
  used: number
  /** The lower of the plan's limit and the tenant's own cap. */
  limit: number | null
  /** The limit is the tenant's own cap. */
  capped: boolean
  /** Usage over the limit is rejected. */
  hard: boolean
  /** The plan includes it. A meter that the plan does not limit is recorded nevertheless. */
  inPlan: boolean
  /** Whether and when it resets. */
  resets: Schema<'ResetInterval'>
  /** At the end of the period; undefined if it cannot be predicted. */
  forecast?: number
  /** When the forecast reaches the limit, within the period. */
  reached?: Date
  /** The quota row: the cap, grants, reservations, prices and alerts. */
  quota?: Schema<'MeterQuota'>
  /** The cumulative usage at the end of each day of the period until today. */
  days: number[]
}

export interface Period {
  start: Date
  end: Date
  /** The service's time. In a sandbox it differs from the browser's. */
  now: Date
}

/** Returns the cumulative value of each day: sums add up, levels and maxima stay as they are. */
function totals(points: Schema<'SeriesPoint'>[], aggregation: Schema<'Aggregation'>): number[] {
  let sum = 0
  return points.map(({ value }) => {
    if (aggregation === 'last_value') return value
    sum = aggregation === 'max' ? Math.max(sum, value) : sum + value
    return sum
  })
}

/** Rounds a forecast to three digits. */
function rounded(value: number): number {
  return Number(Math.max(0, value).toPrecision(3))
}

function gauge(meter: Schema<'MeterSummary'>, quota: Schema<'MeterQuota'> | undefined, points: Schema<'SeriesPoint'>[], period: Period, inPlan: boolean): Gauge {
  const days = totals(points, meter.aggregation_type)
  const cap = quota?.cap ?? null
  const capped = cap !== null && (meter.quota_limit === null || cap < meter.quota_limit)
  const told: Gauge = {
    code: meter.meter_code, name: meter.meter_name, unit: meter.unit_label, used: meter.current_usage, limit: capped ? cap : meter.quota_limit, capped, quota,
    hard: capped || meter.quota_enforcement === 'hard', inPlan: inPlan || meter.quota_limit !== null, resets: meter.reset_interval, days,
  }
  const passed = (period.now.getTime() - period.start.getTime()) / day
  const left = (period.end.getTime() - period.now.getTime()) / day
  const level = meter.aggregation_type === 'last_value'
  const summed = meter.reset_interval === 'monthly' && (meter.aggregation_type === 'sum' || meter.aggregation_type === 'count')
  // Two days are too short for a forecast, and a maximum cannot be predicted.
  if (passed < 2 || left <= 0 || (!level && !summed)) return told
  if (told.hard && told.limit !== null && told.used >= told.limit) return told // further usage is rejected
  const pace = level ? (meter.current_usage - (days[0] ?? meter.current_usage)) / passed : meter.current_usage / passed
  told.forecast = Math.max(meter.current_usage, rounded(meter.current_usage + pace * left))
  if (told.limit !== null && pace > 0 && told.used < told.limit && told.forecast > told.limit) {
    told.reached = new Date(period.now.getTime() + ((told.limit - told.used) / pace) * day)
  }
  return told
}

/** The quota rows of all meters. */
export function useQuotas() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/quotas', useHere(), { select: ({ data }) => data.meters })
}

/** Returns the meters in this period, closest to their limit first. */
export function useGauges() {
  const here = useHere()
  const usage = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage', here)
  const summary = usage.data?.data
  const quotas = useQuotas()
  const granted = useEntitlements()
  const billed = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/cost-estimate', here, { enabled: useSubscription().data?.data?.plan.pricing_type === 'usage' })
  const inPlan = new Set([...(granted.data?.data.map((one) => one.key) ?? []), ...(billed.data?.data.lines.map((one) => one.meter_code) ?? [])])
  const from = summary?.period_start ?? ''
  const series = useQueries({
    queries: (summary?.meters ?? []).map(({ meter_code }) => ({
      ...$api.queryOptions('get', '/api/v1/tenant/{tenantId}/usage/series', { params: { ...here.params, query: { meter_code, interval: 'day', from } } }),
    })),
  })
  const read = series.map((one) => one.data?.data.points ?? [])
  const latest = read.find((points) => points.length > 0)?.at(-1)
  const today = latest ? new Date(latest.at).getTime() : now()
  // The last point is the service's current day. If that is today, use the exact time.
  const at = Math.abs(now() - today) < 2 * day ? now() : today + day / 2
  const period = summary && { start: new Date(summary.period_start), end: new Date(summary.period_end), now: new Date(at) }
  const gauges = summary && period && summary.meters.map((meter, i) => gauge(meter, quotas.data?.find((one) => one.meter_code === meter.meter_code), read[i]!, period, inPlan.has(meter.meter_code)))
    .sort((a, b) => share(b) - share(a))
  return { usage, gauges, period, charted: series.every((one) => !one.isPending), settled: !granted.isPending && !quotas.isPending && !billed.isLoading }
}

/** Returns the share of its limit that a meter will reach, or 0 without a limit. */
export function share({ used, forecast, limit }: Gauge): number {
  return limit ? Math.max(used, forecast ?? 0) / limit : 0
}

import type { Schema } from '../../api/client'
import type { Formats } from '../../app/format'

/** The ranges of a history, with the interval of their points. */
export const ranges = ['30', '90', '12'] as const
export type Range = (typeof ranges)[number]

export const intervalOf = (range: Range): Schema<'SeriesInterval'> => (range === '12' ? 'month' : 'day')

/** A meter whose history can be shown. */
export interface Counted {
  code: string
  name: string
  unit: string | null
  used: number
  limit: number | null
  /** The start of the current period; undefined if the meter never resets. */
  start?: string
}

/** Returns the first moment of a range that ends now: whole UTC days or months, today included. */
export function startOf(range: Range, now: Date): string {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  return new Date(range === '12' ? Date.UTC(year, month - 11, 1) : Date.UTC(year, month, day - Number(range) + 1)).toISOString()
}

/** Names the span of a point in UTC: a day, or a month. */
export function spanName(at: string, range: Range, format: Formats, short = false): string {
  if (range === '12') return short ? format.utc.shortMonth(at) : format.utc.monthWithYear(at)
  return short ? format.utc.shortDay(at) : format.utc.dayWithYear(at)
}

/** Returns round ticks of an axis, the last one at or above the largest value. */
export function ticks(most: number): number[] {
  if (most <= 0) return [0]
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999)!
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)))
}

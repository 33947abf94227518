import { t } from '@lingui/core/macro'
import { now } from '../../app/clock'
import type { Formats } from '../../app/format'

const day = 86_400_000

const isDay = (at: string, time: number) => new Date(at).toDateString() === new Date(time).toDateString()

/** Reports whether a time is today or yesterday, which have their own headings. */
export function hasOwnDay(at: string): boolean {
  return isDay(at, now()) || isDay(at, now() - day)
}

/** Returns the heading for a time: today, yesterday, or its month. */
export function dayWord(at: string, format: Formats): string {
  if (isDay(at, now())) return t`Today`
  if (isDay(at, now() - day)) return t`Yesterday`
  return new Date(at).getFullYear() === new Date(now()).getFullYear() ? format.month(at) : format.monthWithYear(at)
}

/** Returns the start of a day (YYYY-MM-DD) in the reader's time zone as a time, or undefined for another text; after adds days. */
export function momentOf(day: string | undefined, after = 0): string | undefined {
  if (!day || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const at = new Date(`${day}T00:00:00`)
  at.setDate(at.getDate() + after)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

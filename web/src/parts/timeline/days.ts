import { t } from '@lingui/core/macro'
import { now } from '../../app/clock'
import type { Formats } from '../../app/format'

const day = 86_400_000

const isDay = (at: string, time: number) => new Date(at).toDateString() === new Date(time).toDateString()

/** Reports whether something happened today or yesterday, so that its heading names the day. */
export function hasOwnDay(at: string): boolean {
  return isDay(at, now()) || isDay(at, now() - day)
}

/** The heading below which an entry stands: today, yesterday, else its month. */
export function dayWord(at: string, format: Formats): string {
  if (isDay(at, now())) return t`Today`
  if (isDay(at, now() - day)) return t`Yesterday`
  return new Date(at).getFullYear() === new Date(now()).getFullYear() ? format.month(at) : format.monthWithYear(at)
}

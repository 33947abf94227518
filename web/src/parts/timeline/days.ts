import { t } from '@lingui/core/macro'
import { now } from '../../app/clock'
import type { Formats } from '../../app/format'

const day = 86_400_000

/** The heading below which an entry stands: today, yesterday, else its month. */
export function dayWord(at: string, format: Formats): string {
  const then = new Date(at)
  const today = new Date(now())
  if (then.toDateString() === today.toDateString()) return t`Today`
  if (then.toDateString() === new Date(now() - day).toDateString()) return t`Yesterday`
  return then.getFullYear() === today.getFullYear() ? format.month(at) : format.monthWithYear(at)
}

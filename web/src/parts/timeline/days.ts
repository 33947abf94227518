import { t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'

/** The heading below which an entry stands: today, yesterday, else its month. */
export function dayWord(at: string, format: Formats): string {
  const day = new Date(at).toDateString()
  const now = new Date()
  if (day === now.toDateString()) return t`Today`
  if (day === new Date(now.getTime() - 86_400_000).toDateString()) return t`Yesterday`
  const then = new Date(at)
  return then.getFullYear() === now.getFullYear() ? format.month(at) : format.monthWithYear(at)
}

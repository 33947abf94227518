import { t } from '@lingui/core/macro'
import type { Schema } from '../../../api/client'

export const aggregations: Schema<'Aggregation'>[] = ['sum', 'count', 'max', 'last_value']
export const resets: Schema<'ResetInterval'>[] = ['monthly', 'weekly', 'daily', 'none']
export const enforcements: Schema<'QuotaEnforcement'>[] = ['hard', 'soft', 'none']

export function aggregationWord(of: Schema<'Aggregation'>): string {
  return { sum: t`the sum of what is recorded`, count: t`the number of events`, max: t`the highest value`, last_value: t`the latest value` }[of] ?? of
}

export function resetWord(of: Schema<'ResetInterval'>): string {
  return { monthly: t`each billing month`, weekly: t`each week`, daily: t`each day`, none: t`never` }[of] ?? of
}

export function enforcementWord(of: Schema<'QuotaEnforcement'>): string {
  return { hard: t`refuses more`, soft: t`tells, and lets more through`, none: t`does nothing` }[of] ?? of
}

import { t } from '@lingui/core/macro'
import type { Schema } from '../../../api/client'

export const aggregations: Schema<'Aggregation'>[] = ['sum', 'count', 'max', 'last_value']
export const resets: Schema<'ResetInterval'>[] = ['monthly', 'weekly', 'daily', 'none']
export const enforcements: Schema<'QuotaEnforcement'>[] = ['hard', 'soft', 'none']

export function aggregationWord(of: Schema<'Aggregation'>): string {
  return { sum: t`sum of recorded values`, count: t`number of events`, max: t`highest value`, last_value: t`latest value` }[of] ?? of
}

export function resetWord(of: Schema<'ResetInterval'>): string {
  return { monthly: t`every billing month`, weekly: t`every week`, daily: t`every day`, none: t`never` }[of] ?? of
}

export function enforcementWord(of: Schema<'QuotaEnforcement'>): string {
  return { hard: t`rejects usage`, soft: t`only sends alerts`, none: t`does nothing` }[of] ?? of
}

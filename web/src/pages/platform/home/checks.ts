import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../../app/format'
import type { Stats } from './stats'

/** A part of the service and how it is doing. */
export interface Check {
  key: string
  label: string
  status: 'ok' | 'warning' | 'error'
  value: string
}

/** How late something is, in the largest unit that says it. */
function late(seconds: number): string {
  if (seconds < 90) return t`${seconds} s late`
  if (seconds < 5400) return t`${Math.round(seconds / 60)} min late`
  return t`${Math.round(seconds / 3600)} h late`
}

/** Late where it is, else how many wait. */
function queue(of: { status: string; waiting: number; lag_seconds: number }, format: Formats): string {
  return of.status !== 'ok' && of.lag_seconds > 0 ? late(of.lag_seconds) : t`${format.number(of.waiting)} waiting`
}

/** The six checks in the order in which one looks for a fault. */
export function checks({ health }: Stats, format: Formats): Check[] {
  const { notifications, provider, database, mail, jobs, webhooks } = health
  const answers = () => {
    if (provider.failed > 0) return t`${format.number(provider.failed)} of ${format.number(provider.calls)} calls failed`
    return provider.mean_ms === null ? t`no calls just now` : t`${format.number(provider.mean_ms)} ms`
  }
  const work = () => (jobs.dead > 0 ? plural(jobs.dead, { one: '# given up', other: '# given up' }) : queue(jobs, format))
  const told = () => (webhooks.endpoints_failing > 0 ? plural(webhooks.endpoints_failing, { one: '# endpoint fails', other: '# endpoints fail' }) : queue(webhooks, format))
  return [
    { key: 'notifications', label: t`Notifications from the payment provider`, status: notifications.status, value: queue(notifications, format) },
    { key: 'provider', label: t`The payment provider’s API`, status: provider.status, value: answers() },
    { key: 'database', label: t`Database`, status: database.status, value: t`${format.number(database.ms)} ms` },
    { key: 'mail', label: t`Mail`, status: mail.status, value: queue(mail, format) },
    { key: 'jobs', label: t`Jobs`, status: jobs.status, value: work() },
    { key: 'webhooks', label: t`Webhooks to customers`, status: webhooks.status, value: told() },
  ]
}

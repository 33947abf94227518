import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../../app/format'
import type { Health } from './stats'

/** A health check with its result. */
export interface Check {
  key: string
  name: string
  /** plain: unknown, because it never ran. */
  tone: 'good' | 'warn' | 'bad' | 'plain'
  /** A figure or a few words. */
  text: string
  /** The problem, as a complete sentence. */
  trouble?: string
}

/** Notifications are late after this many seconds, because the provider itself takes some. */
const lateAfter = 60

/** The minimum share of successful webhook deliveries. */
const fewest = 0.95

function lateness(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return plural(minutes, { one: '# minute late', other: '# minutes late' })
  return plural(Math.round(minutes / 60), { one: '# hour late', other: '# hours late' })
}

function notifications({ provider }: Health, format: Formats): Check {
  const late = provider.waiting > 0 && provider.delay_seconds >= lateAfter
  const since = provider.last_notification_at
  const text = late ? lateness(provider.delay_seconds) : since ? format.ago(since) : t`none yet`
  return { key: 'notifications', name: t`Provider notifications`, tone: late ? 'warn' : since ? 'good' : 'plain', text, trouble: late ? t`The payment provider’s notifications are delayed` : undefined }
}

function provider({ provider: of }: Health, format: Formats): Check {
  const name = t`Payment provider`
  if (!of.reachable) return { key: 'provider', name, tone: 'bad', text: t`no response`, trouble: t`The payment provider is not responding` }
  if (of.latency_ms === null) return { key: 'provider', name, tone: 'plain', text: t`not checked yet` }
  return { key: 'provider', name, tone: 'good', text: t`${format.number(Math.round(of.latency_ms))} ms` }
}

function database({ database_ms: ms }: Health, format: Formats): Check {
  const name = t`Database`
  if (ms === null) return { key: 'database', name, tone: 'bad', text: t`no response`, trouble: t`The database is not responding` }
  const slow = ms >= 250
  return { key: 'database', name, tone: slow ? 'warn' : 'good', text: t`${format.number(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))} ms`, trouble: slow ? t`The database is slow` : undefined }
}

function jobs({ jobs: of }: Health): Check {
  const name = t`Background jobs`
  if (of.dead > 0) return { key: 'jobs', name, tone: 'bad', text: plural(of.dead, { one: '# failed job', other: '# failed jobs' }), trouble: t`Some background jobs failed` }
  if (of.late > 0) return { key: 'jobs', name, tone: 'warn', text: plural(of.late, { one: '# delayed job', other: '# delayed jobs' }), trouble: t`Background jobs are delayed` }
  return { key: 'jobs', name, tone: 'good', text: plural(of.waiting, { one: '# waiting', other: '# waiting' }) }
}

function mails({ mail: of }: Health): Check {
  const name = t`Email delivery`
  if (of.failing > 0 || of.sent === false) {
    return { key: 'mail', name, tone: 'bad', text: plural(of.failing, { one: '# failed email', other: '# failed emails' }), trouble: t`Emails cannot be sent` }
  }
  if (of.sent === null) return { key: 'mail', name, tone: 'plain', text: of.waiting > 0 ? plural(of.waiting, { one: '# waiting', other: '# waiting' }) : t`none sent yet` }
  return { key: 'mail', name, tone: 'good', text: plural(of.waiting, { one: '# waiting', other: '# waiting' }) }
}

function webhooks({ webhooks: of }: Health, format: Formats): Check {
  const name = t`Customer webhooks`
  const all = of.delivered + of.failed
  if (all === 0) return { key: 'webhooks', name, tone: 'plain', text: t`none today` }
  const few = of.delivered / all < fewest
  return { key: 'webhooks', name, tone: few ? 'warn' : 'good', text: t`${format.percent(of.delivered / all)} delivered`, trouble: few ? t`Many customer webhooks are not delivered` : undefined }
}

/** Returns the health checks with their results in words. */
export function checksOf(health: Health, format: Formats): Check[] {
  return [
    notifications(health, format), provider(health, format), database(health, format),
    mails(health),
    jobs(health), webhooks(health, format),
  ]
}

import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../../app/format'
import type { Health } from './stats'

/** One of the things that have to work, with how it is doing. */
export interface Check {
  key: string
  name: string
  /** plain: not known, because it was never asked. */
  tone: 'good' | 'warn' | 'bad' | 'plain'
  /** A figure or a few words. */
  text: string
  /** What is wrong, as a sentence of its own. */
  trouble?: string
}

/** From how many seconds on notifications are late: the provider itself takes some. */
const lateAfter = 60

/** The share of deliveries below which webhooks are in trouble. */
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
  return { key: 'notifications', name: t`Provider’s notifications`, tone: late ? 'warn' : since ? 'good' : 'plain', text, trouble: late ? t`The payment provider’s notifications are late` : undefined }
}

function provider({ provider: of }: Health, format: Formats): Check {
  const name = t`Payment provider`
  if (!of.reachable) return { key: 'provider', name, tone: 'bad', text: t`no answer`, trouble: t`The payment provider does not answer` }
  if (of.latency_ms === null) return { key: 'provider', name, tone: 'plain', text: t`not asked yet` }
  return { key: 'provider', name, tone: 'good', text: t`${format.number(Math.round(of.latency_ms))} ms` }
}

function database({ database_ms: ms }: Health, format: Formats): Check {
  const name = t`Database`
  if (ms === null) return { key: 'database', name, tone: 'bad', text: t`no answer`, trouble: t`The database does not answer` }
  const slow = ms >= 250
  return { key: 'database', name, tone: slow ? 'warn' : 'good', text: t`${format.number(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))} ms`, trouble: slow ? t`The database is slow` : undefined }
}

function jobs({ jobs: of }: Health): Check {
  const name = t`Background work`
  if (of.dead > 0) return { key: 'jobs', name, tone: 'bad', text: plural(of.dead, { one: '# job given up', other: '# jobs given up' }), trouble: t`Some background work was given up` }
  if (of.late > 0) return { key: 'jobs', name, tone: 'warn', text: plural(of.late, { one: '# job late', other: '# jobs late' }), trouble: t`Background work is late` }
  return { key: 'jobs', name, tone: 'good', text: plural(of.waiting, { one: '# waiting', other: '# waiting' }) }
}

function mails({ mail: of }: Health): Check {
  const name = t`Mail`
  if (of.failing > 0 || of.sent === false) {
    return { key: 'mail', name, tone: 'bad', text: plural(of.failing, { one: '# mail failed', other: '# mails failed' }), trouble: t`Mail cannot be sent` }
  }
  if (of.sent === null) return { key: 'mail', name, tone: 'plain', text: of.waiting > 0 ? plural(of.waiting, { one: '# waiting', other: '# waiting' }) : t`none sent yet` }
  return { key: 'mail', name, tone: 'good', text: plural(of.waiting, { one: '# waiting', other: '# waiting' }) }
}

function webhooks({ webhooks: of }: Health, format: Formats): Check {
  const name = t`Webhooks to customers`
  const all = of.delivered + of.failed
  if (all === 0) return { key: 'webhooks', name, tone: 'plain', text: t`none today` }
  const few = of.delivered / all < fewest
  return { key: 'webhooks', name, tone: few ? 'warn' : 'good', text: t`${format.percent(of.delivered / all)} delivered`, trouble: few ? t`Many webhooks do not reach customers` : undefined }
}

/** What has to work, each with how it is doing in words. */
export function checksOf(health: Health, format: Formats): Check[] {
  return [
    notifications(health, format), provider(health, format), database(health, format),
    mails(health),
    jobs(health), webhooks(health, format),
  ]
}

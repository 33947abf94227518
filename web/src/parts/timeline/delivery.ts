import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import type { Said } from './say'
import type { Entry } from './types'

function hostOf(url: string | undefined): string {
  try {
    return new URL(url ?? '').host
  } catch {
    return url ?? ''
  }
}

/** How an event reached a program outside. */
export function sayDelivery(entry: Entry, format: Formats): Said | undefined {
  if (entry.type !== 'webhook.delivery') return undefined
  const { facts } = entry
  const type = facts.event_type ?? ''
  const host = hostOf(facts.url)
  const attempts = facts.attempts ?? 0
  const tries = plural(attempts, { one: '# attempt', other: '# attempts' })
  const answer = facts.status_code ? t`the last answer was ${facts.status_code}` : t`the last had no answer`
  if (facts.status === 'delivered') {
    const duration = format.number(facts.duration_ms ?? 0)
    return { icon: 'hook', text: t`Webhook ${type} reached ${host} in ${duration} ms` }
  }
  if (facts.status === 'failed') return { icon: 'hook', tone: 'warn', text: t`Webhook ${type} did not reach ${host}`, small: `${tries}, ${answer}.` }
  if (attempts === 0) return { icon: 'hook', text: t`Webhook ${type} is on its way to ${host}` }
  const next = facts.next_attempt_at ? format.exact(facts.next_attempt_at) : ''
  return { icon: 'hook', tone: 'warn', text: t`Webhook ${type} has not reached ${host} yet`, small: t`${tries}, ${answer}. Next on ${next}.` }
}

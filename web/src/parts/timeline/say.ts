import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import { sayChange } from './changes'
import type { Entry, NameOf, PaymentFacts, Said, UsageFacts, WebhookFacts } from './types'
import { plainType } from './words'

function sayPayment(type: string, facts: PaymentFacts, format: Formats): Said {
  const sum = format.money(facts.amount, facts.currency)
  const number = facts.number ?? ''
  const about = facts.invoice && number ? { invoice: { id: facts.invoice, number } } : {}
  const next = facts.next_attempt_at && t`Next attempt on ${format.day(facts.next_attempt_at)}.`
  const small = [facts.decline_message, next].filter(Boolean).join(' ') || undefined
  switch (type) {
    case 'payment.succeeded': return { icon: 'card', text: t`${sum} paid`, ...about }
    case 'payment.failed': return { icon: 'alert', tone: 'bad', text: t`A payment of ${sum} was declined`, small, ...about }
    case 'payment.action_required': return { icon: 'clock', tone: 'warn', text: t`A payment of ${sum} is waiting for bank confirmation`, small, ...about }
    case 'invoice.issued': return facts.amount < 0
      ? { icon: 'receipt', text: t`${format.money(-facts.amount, facts.currency)} was credited to the balance`, ...about }
      : { icon: 'receipt', text: t`An invoice for ${sum} was issued`, ...about }
    case 'invoice.voided': return { icon: 'x', text: t`An invoice for ${sum} was voided`, ...about }
    case 'refund.created': return { icon: 'undo', text: t`${sum} refunded`, ...about }
    case 'refund.failed': return { icon: 'alert', text: t`The refund of ${sum} failed`, ...about }
    default: return { icon: 'card', text: `${plainType(type)}: ${sum}`, small, ...about }
  }
}

function sayUsage(type: string, facts: UsageFacts, format: Formats): Said {
  const number = (of: string | null) => (of === null ? '' : format.number(Number(of)))
  const [meter, used, limit] = [facts.meter_name, number(facts.used), number(facts.limit)]
  switch (type) {
    case 'usage.alert': {
      const share = format.percent((facts.threshold ?? 100) / 100)
      const small = used && limit ? t`${used} of ${limit}` : undefined
      return facts.threshold !== null && facts.threshold < 100
        ? { icon: 'gauge', tone: 'warn', text: t`${meter}: ${share} of the limit used`, small }
        : { icon: 'gauge', tone: 'bad', text: t`${meter}: limit reached`, small }
    }
    case 'usage.refused': {
      const count = facts.refused ?? 0
      const small = limit ? t`The limit is ${limit}.` : undefined
      return { icon: 'gauge', tone: 'bad', text: plural(count, { one: `${meter}: # event rejected`, other: `${meter}: # events rejected` }), small }
    }
    default: return { icon: 'gauge', text: `${meter}: ${plainType(type)}` }
  }
}

function sayWebhook(type: string, facts: WebhookFacts): Said {
  const { event_type: event, url, status } = facts
  if (type !== 'webhook.failed') return { icon: 'hook', text: `${plainType(type)}: ${url}`, small: event }
  const attempts = plural(facts.attempts, { one: '# attempt', other: '# attempts' })
  return {
    icon: 'hook', tone: 'warn', text: t`Event ${event} was not delivered to ${url}`,
    small: status === null ? t`${attempts}; the last one got no response` : t`${attempts}; last response: ${status}`,
  }
}

/**
 * Describes a time line entry in plain words. Types that this version does not know remain
 * readable.
 */
export function say(entry: Entry, name: NameOf, format: Formats, language: string): Said {
  switch (entry.kind) {
    case 'payments': return sayPayment(entry.type, entry.facts, format)
    case 'usage': return sayUsage(entry.type, entry.facts, format)
    case 'webhooks': return sayWebhook(entry.type, entry.facts)
    default: return sayChange(entry, name, format, language)
  }
}

import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import type { Said } from './say'
import type { Entry, Facts } from './types'

/** Why a bank refused, in words that help. */
export function declineWords(code: string | null | undefined): string {
  const words: Record<string, string> = {
    insufficient_funds: t`Not enough money in the account.`,
    expired_card: t`The card has expired.`,
    authentication_required: t`The bank wants the owner to confirm the payment.`,
    incorrect_cvc: t`The security code is wrong.`,
    incorrect_number: t`The card number is wrong.`,
    processing_error: t`The bank could not be reached.`,
    lost_card: t`The bank has blocked the card.`,
    stolen_card: t`The bank has blocked the card.`,
  }
  return words[code ?? ''] ?? t`The bank gave no reason.`
}

function nextAttempt(facts: Facts, format: Formats): string {
  if (!facts.next_attempt_at) return t`It is not tried again by itself.`
  const day = format.day(facts.next_attempt_at)
  return t`Next attempt on ${day}.`
}

/** What happened to money. */
export function sayPayment(entry: Entry, format: Formats): Said | undefined {
  const { facts } = entry
  const number = facts.number ?? ''
  const total = facts.total ? format.sum(facts.total) : ''
  switch (entry.type) {
    case 'payment.failed': {
      const due = facts.amount_due ? format.sum(facts.amount_due) : total
      const attempts = facts.attempts ?? 1
      const text = attempts > 1 ? t`${due} was declined, attempt ${attempts}` : t`${due} was declined`
      return { icon: 'alert', tone: 'bad', text, small: `${declineWords(facts.decline_code)} ${nextAttempt(facts, format)}` }
    }
    case 'invoice.issued': return { icon: 'receipt', text: t`Invoice ${number} over ${total}` }
    case 'invoice.paid':
      if (entry.id.startsWith('audit')) return undefined
      return { icon: 'card', text: t`${total} was paid`, small: t`Invoice ${number}` }
    case 'invoice.voided':
      if (entry.id.startsWith('audit')) return undefined
      return { icon: 'x', text: t`Invoice ${number} was voided` }
    case 'invoice.uncollectible': return { icon: 'x', tone: 'warn', text: t`Invoice ${number} was written off`, small: total }
    default: return undefined
  }
}

/** What happened to limits. */
export function sayUsage(entry: Entry, format: Formats): Said | undefined {
  if (!entry.type.startsWith('quota.')) return undefined
  const { facts } = entry
  const meter = facts.meter_name ?? ''
  const unit = facts.unit_label ?? ''
  const used = format.number(facts.current_usage ?? 0)
  const limit = format.number(facts.quota_limit ?? 0)
  const small = t`${used} of ${limit} ${unit}`.trim()
  if (entry.type === 'quota.reached') return { icon: 'gauge', tone: 'warn', text: t`${meter}: the limit is reached`, small }
  const percent = format.percent((facts.usage_percent ?? 80) / 100)
  return { icon: 'gauge', text: t`${meter}: ${percent} of the limit are used`, small }
}

/** The number of seats in words. */
export function seats(quantity: number): string {
  return plural(quantity, { one: '# seat', other: '# seats' })
}

import type { Schema } from '../../api/client'
import type { IconName } from '../../ui/Icon'

/** The groups of entries that readers ask for. */
export const kinds = ['payments', 'changes', 'usage', 'webhooks'] as const

export type Kind = (typeof kinds)[number]

/** What a person, a program or the service changed. */
export interface ChangeFacts {
  resource: string
  resource_id: string
  /** The present name of what was changed, where the service knows it. */
  resource_name: string | null
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** A payment, a refund or an invoice. The amount is in minor units. */
export interface PaymentFacts {
  invoice: string | null
  number: string | null
  currency: string
  amount: number
  decline_code: string | null
  decline_message: string | null
  next_attempt_at: string | null
}

/** A limit that is near or reached, or usage that was refused for one. */
export interface UsageFacts {
  meter: string
  meter_name: string
  limit: string | null
  used: string | null
  refused: number | null
  /** The share of the limit that was reached, in percent. */
  threshold: number | null
}

/** An event that did not reach an endpoint. */
export interface WebhookFacts {
  endpoint: string
  url: string
  event_type: string
  status: number | null
  attempts: number
}

type Facts =
  | { kind: 'changes'; facts: ChangeFacts }
  | { kind: 'payments'; facts: PaymentFacts }
  | { kind: 'usage'; facts: UsageFacts }
  | { kind: 'webhooks'; facts: WebhookFacts }

/** Something that has happened, with the names that the service knows. */
export type Entry = Omit<Schema<'TimelineEntry'>, 'kind' | 'facts'> & Facts

/** A change of the trail. */
export type Change = Extract<Entry, { kind: 'changes' }>

/** Finds the name of a record by its kind and id, where a page knows more of them than the service tells. */
export type NameOf = (resource: string, id: string) => string | undefined

/** An entry in words, with what it looks like. */
export interface Said {
  icon: IconName
  text: string
  /** What exactly, below. */
  small?: string
  tone?: 'warn' | 'bad'
  /** The invoice that it is about. */
  invoice?: { id: string; number: string }
}

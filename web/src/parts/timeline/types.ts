import type { Schema } from '../../api/client'
import type { IconName } from '../../ui/Icon'

/** The groups of entries to filter by. */
export const kinds = ['payments', 'changes', 'usage', 'webhooks'] as const

export type Kind = (typeof kinds)[number]

/** A change by a user, an API key or the service. */
export interface ChangeFacts {
  resource: string
  resource_id: string
  /** The current name of the changed object, if the service knows it. */
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

/** A limit that is almost or completely reached, or usage that it rejected. */
export interface UsageFacts {
  meter: string
  meter_name: string
  limit: string | null
  used: string | null
  refused: number | null
  /** The reached share of the limit, in percent. */
  threshold: number | null
}

/** An event that could not be delivered to an endpoint. */
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

/** A time line entry, with the names that the service knows. */
export type Entry = Omit<Schema<'TimelineEntry'>, 'kind' | 'facts'> & Facts

/** An audit entry. */
export type Change = Extract<Entry, { kind: 'changes' }>

/**
 * Finds the name of an object by kind and id, or of a feature by code, if a page knows names that
 * the service does not return.
 */
export type NameOf = (resource: string, id: string) => string | undefined

/** An entry in words, with its appearance. */
export interface Said {
  icon: IconName
  text: string
  /** Details, shown below. */
  small?: string
  tone?: 'warn' | 'bad'
  /** The related invoice. */
  invoice?: { id: string; number: string }
}

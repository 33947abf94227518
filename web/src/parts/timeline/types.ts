import type { Schema } from '../../api/client'

type Money = Schema<'Money'>

export interface Named {
  id: number | string
  name: string
}

/** What a time line can be narrowed to. */
export type Kind = 'payments' | 'changes' | 'usage' | 'webhooks'

/** The states of a subscription that an entry compares. */
export interface SubscriptionFacts {
  status?: string
  plan?: Named | null
  quantity?: number
  mrr?: Money | null
  period_end?: string | null
}

/** What is known of an entry: which fields there are depends on its type. */
export interface Facts extends SubscriptionFacts {
  invoice_id?: string
  number?: string
  total?: Money
  amount_due?: Money
  attempts?: number
  next_attempt_at?: string | null
  decline_code?: string | null
  payment_method?: { type: string; brand: string | null; last4: string | null } | null
  resource?: string
  resource_id?: string
  resource_name?: string | null
  before?: Record<string, unknown> | null
  after?: Record<string, unknown> | null
  meter_name?: string
  unit_label?: string | null
  current_usage?: number
  quota_limit?: number | null
  usage_percent?: number | null
  endpoint_id?: string
  endpoint_of?: 'platform' | 'tenant'
  url?: string
  event_type?: string
  status_code?: number | null
  duration_ms?: number | null
}

/** Something that happened. */
export interface Entry {
  id: string
  type: string
  kind: Kind
  at: string
  tenant: Named | null
  actor: Named | null
  acting_as: Named | null
  api_key: Named | null
  facts: Facts
}

export interface EntryPage {
  data: Entry[]
  meta: { next_cursor: string | null; per_page: number }
}

import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../api/client'

/** The shapes of a status: tick, half disc, triangle, octagon, struck ring, ring. */
export type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'off' | 'plain'

/** A status as a shape and a word. */
export function Status({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`st ${tone}`}>{children}</span>
}

export function SubscriptionState({ status }: { status: Schema<'SubscriptionStatus'> | null | undefined }) {
  const { t } = useLingui()
  const looks: Record<string, [Tone, string]> = {
    active: ['good', t`Active`], trialing: ['wait', t`In trial`], past_due: ['bad', t`Past due`], unpaid: ['bad', t`Unpaid`],
    paused: ['off', t`Paused`], incomplete: ['warn', t`Payment incomplete`], incomplete_expired: ['off', t`Never activated`], canceled: ['off', t`Canceled`],
  }
  const [tone, word] = looks[status ?? ''] ?? ['plain', status ?? t({ message: 'None', context: 'subscription' })]
  return <Status tone={tone}>{word}</Status>
}

/** The status of an invoice; for customers also how it is settled without an action. */
export function InvoiceState({ status }: { status: Schema<'InvoiceStatus'> | 'in progress' | 'credited' | 'from balance' }) {
  const { t } = useLingui()
  const looks: Record<string, [Tone, string]> = {
    draft: ['plain', t`Draft`], open: ['bad', t`Open`], paid: ['good', t({ message: 'Paid', context: 'an invoice' })], void: ['off', t`Void`], uncollectible: ['off', t`Written off`],
    'in progress': ['wait', t`Payment in progress`], credited: ['good', t`Credited`], 'from balance': ['good', t`Paid from balance`],
  }
  const [tone, word] = looks[status] ?? ['plain', status]
  return <Status tone={tone}>{word}</Status>
}

import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react'
import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import type { Sold } from '../tenant/plans'
import type { Draft, Preview } from './draft'

/** The new subscription as a sentence: what the tenant gets, and what it pays when. */
export function Sentence({ draft, plan, tenant, seats, preview }: { draft: Draft; plan: Sold; tenant: string; seats: number; preview: Preview }) {
  useLingui()
  const format = useFormat()
  const words = usePlanWords()
  const what = plan.pricing_type === 'seat' ? plural(seats, { one: `${plan.name} with # seat`, other: `${plan.name} with # seats` }) : plan.name
  const until = preview.trial_ends_at && format.dayWithYear(preview.trial_ends_at)
  const { cents, currency } = preview.trial_ends_at ? preview.next_amount : preview.total
  const cost = `${format.money(cents, currency)} ${words.each(plan)}`
  const due = Number(draft.due)
  const days = plural(due, { one: '# day', other: '# days' })
  const pays = draft.collection === 'invoice'
    ? due > 0 ? <Trans>Then we send an invoice for <em>{cost}</em>, due within <em>{days}</em>.</Trans> : <Trans>Then we send an invoice for <em>{cost}</em>, due on receipt.</Trans>
    : <Trans>Then the card is charged <em>{cost}</em>.</Trans>
  const paysNow = draft.collection === 'invoice'
    ? due > 0 ? <Trans>We send an invoice for <em>{cost}</em>, due within <em>{days}</em>.</Trans> : <Trans>We send an invoice for <em>{cost}</em>, due on receipt.</Trans>
    : <Trans>The card is charged <em>{cost}</em>.</Trans>
  return (
    <p className="sentence">
      {until ? <><Trans><em>{tenant}</em> gets <em>{what}</em>, free until <em>{until}</em>.</Trans> {pays}</> : <><Trans><em>{tenant}</em> gets <em>{what}</em> from today.</Trans> {paysNow}</>}
    </p>
  )
}

/** Returns the words of the button: the first amount, and its day or what is charged. */
export function useButton({ draft, preview, billing }: { draft: Draft; preview: Preview | undefined; billing: Schema<'TenantBilling'> | undefined }): ReactNode {
  const format = useFormat()
  if (!preview) return <Trans>Create subscription</Trans>
  const { due_now: due, next_amount: next, trial_ends_at: ends } = preview
  const amount = format.money(ends ? next.cents : due.cents, due.currency)
  const day = ends && format.day(ends)
  if (day) return <Trans>Create subscription — {amount} on {day}</Trans>
  if (draft.collection === 'invoice') return due.cents > 0 ? <Trans>Create subscription and send invoice for {amount}</Trans> : <Trans>Create subscription</Trans>
  if (due.cents === 0) return <Trans>Create subscription</Trans>
  return billing?.payment_method ? <Trans>Charge {amount} and create subscription</Trans> : <Trans>Create subscription and send payment link</Trans>
}

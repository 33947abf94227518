import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { dayOf, today } from './limits'
import { billingQuery } from './reads'
import { fieldError, useSaved } from './useSaved'

interface Props {
  of: Schema<'Subscription'>
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

const day = 86_400_000

/** The longest trial, in days from its start. */
const longest = 730

/** Moves the end of a trial, or ends it. */
export function ExtendTrial(props: Props) {
  return (
    <Dialog open={props.open && props.of.status === 'trialing'} onClose={props.onClose} title={<Trans>Extend trial</Trans>}>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ of, tenant, onClose }: Props) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const billing = useQuery(billingQuery(tenant.id)).data
  const ends = new Date(of.trial_ends_at ?? of.current_period_end)
  const after = (days: number) => dayOf(new Date(ends.getTime() + days * day))
  const [to, setTo] = useState(after(7))
  const ending = to === 'now'
  // The trial keeps its time of day.
  const moment = () => new Date(new Date(`${to}T00:00:00`).getTime() + (ends.getTime() - new Date(`${dayOf(ends)}T00:00:00`).getTime()))
  const last = dayOf(new Date(new Date(of.current_period_start).getTime() + longest * day))
  const [old, latest, wanted] = [format.dayWithYear(ends), format.dayWithYear(last), ending || !to ? '' : format.day(to)]
  const card = !!billing?.payment_method
  const price = format.money(of.price_cents * of.quantity, of.currency)
  const owner = tenant.owner?.name ?? ''
  return (
    <Form
      className="stack"
      onSubmit={async () => {
        if (!ending && (!to || moment().getTime() <= now())) throw fieldError('trial_ends_at', t`Choose a day in the future.`)
        await api.PATCH('/api/v1/admin/tenants/{tenant}/subscriptions/{subscription}', {
          params: { path: { tenant: tenant.id, subscription: of.id } }, body: { trial_ends_at: ending ? 'now' : moment().toISOString() },
        })
        await saved(ending ? <Trans>The trial has ended.</Trans> : <Trans>The trial ends on {wanted}.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat"><Trans>The trial of {of.plan.name} ends on {old}.</Trans> {billing && !card && <Trans>No card is saved.</Trans>}</p>
          <TextField name="trial_ends_at" type="date" label={t`New end date`} min={today()} max={last} disabled={ending} value={ending ? '' : to} onChange={(event) => setTo(event.target.value)} help={t`Up to ${latest}.`} data-autofocus />
          <div className="quick" role="group" aria-label={t`Shortcuts`}>
            {([[7, t`+ 7 days`], [14, t`+ 14 days`], [30, t`+ 30 days`]] as const).map(([days, label]) => (
              <button key={days} type="button" className="chip" aria-pressed={to === after(days)} onClick={() => setTo(after(days))}>{label}</button>
            ))}
            <button type="button" className="chip" aria-pressed={ending} onClick={() => setTo('now')}><Trans>End now</Trans></button>
          </div>
          {(ending || wanted) && (
            <p className="outcome" role="status">
              {ending
                ? <b>{card ? <Trans>The first invoice of {price} is issued now.</Trans> : <Trans>Without a card, the subscription is canceled now.</Trans>}</b>
                : <><b><Trans>The trial then ends on {wanted}.</Trans></b> {card ? <Trans>On that day, the first invoice of {price} is issued.</Trans> : <Trans>Without a card, the subscription is canceled on that day.</Trans>}</>}{' '}
              {owner && <Trans>{owner} gets an email.</Trans>}
            </p>
          )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look={ending ? 'danger solid' : 'primary'} busy={busy}>{ending ? <Trans>End trial now</Trans> : wanted ? <Trans>Extend trial to {wanted}</Trans> : <Trans>Extend trial</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

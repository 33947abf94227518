import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { scheduledOf } from '../../../parts/scheduled'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { useDigits } from '../plan/digits'
import { minorUnits, written } from '../plan/draft'
import { priceOf, usePlans } from './plans'
import { fieldError, useSaved } from './useSaved'
import { intervalWord } from './words'

interface Props {
  of: Schema<'Subscription'>
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

/** Reports whether the price of a subscription can be changed at the end of its period. */
export function isPriceable(of: Schema<'Subscription'> | undefined): of is Schema<'Subscription'> {
  return !!of && ['active', 'trialing', 'past_due'].includes(of.status) && of.plan.pricing_type !== 'usage' && !of.cancel_at && !of.cancel_at_period_end
}

/** Agrees on another price from the next period on, or returns to the list price. */
export function ChangePrice(props: Props) {
  return <Dialog open={props.open && isPriceable(props.of)} onClose={props.onClose} title={<Trans>Change price</Trans>}><Body {...props} /></Dialog>
}

function Body({ of, tenant, onClose }: Props) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()(of.currency)
  const saved = useSaved(onClose)
  const { plans } = usePlans()
  const plan = plans.find((one) => one.id === of.plan.id)
  const list = plan && priceOf(plan, of.currency)
  const scheduled = scheduledOf(of)
  const other = scheduled && scheduled.plan.id !== of.plan.id ? scheduled.plan.name : ''
  const [text, setText] = useState(written(scheduled && !other ? scheduled.price_cents : of.price_cents, digits))
  const cents = minorUnits(text, digits)
  const money = (amount: number) => format.money(amount, of.currency)
  const { name } = of.plan
  const [day, listed, total, before, each] = [format.dayWithYear(of.current_period_end), list === undefined ? '' : money(list), money((cents ?? 0) * of.quantity), money(of.price_cents * of.quantity), intervalWord(of)]
  const perSeat = of.plan.pricing_type === 'seat'

  async function save(price: number | null) {
    try {
      await api.PATCH('/api/v1/admin/tenants/{tenant}/subscriptions/{subscription}', { params: { path: { tenant: tenant.id, subscription: of.id } }, body: { price_cents: price } })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'change_waits') throw new ApiError(409, t`A payment for another change is open.`, error.code)
      throw error
    }
    await saved(<Trans>The price of {name} changes on {day}.</Trans>)
  }
  return (
    <Form
      className="stack"
      onSubmit={async () => {
        if (cents === undefined) throw fieldError('price_cents', t`Enter an amount.`)
        if (cents === of.price_cents && !scheduled) throw fieldError('price_cents', t`This is the current price.`)
        await save(list !== undefined && cents === list && of.custom_price ? null : cents)
      }}
    >
      {({ busy }) => (
        <>
          <TextField
            name="price_cents" label={perSeat ? t`Price per seat (${of.currency})` : t`Price (${of.currency})`} inputMode="decimal" autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} data-autofocus
            help={listed && <Trans>List price: {listed} {each}.</Trans>}
          />
          {of.custom_price && listed && <div className="quick"><button type="button" className="chip" aria-pressed={cents === list} onClick={() => setText(written(list!, digits))}><Trans>Return to list price</Trans></button></div>}
          {cents !== undefined && (
            <p className="outcome" role="status">
              <Trans>From {day}, {name} costs <b>{total}</b> {each} instead of {before}.</Trans>{' '}
              {perSeat && <Plural value={of.quantity} one="For # seat." other="For # seats." />}{' '}
              {other && <Trans>The scheduled change to {other} is canceled.</Trans>}
            </p>
          )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Change price on {day}</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}

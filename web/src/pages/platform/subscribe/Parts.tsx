import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import { SelectField, Stepper, TextField, Field } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'
import { useDigits } from '../plan/digits'
import { minorUnits, written } from '../plan/draft'
import { mostSeats, priceOf, type Sold } from '../tenant/plans'
import { ratio, type Draft } from './draft'

export interface Part {
  draft: Draft
  change: (to: Partial<Draft>) => void
  plan: Sold
  tenant: Schema<'AdminTenant'>
  /** The fields that are wrong, by their name in the request. */
  mistakes: Record<string, string>
  billing: Schema<'TenantBilling'> | undefined
}

/** A framed choice, with a field or an amount at its end. */
function Pick({ name, on, onChoose, small, end, children }: { name: string; on: boolean; onChoose: () => void; small?: ReactNode; end?: ReactNode; children: ReactNode }) {
  return (
    <label className="check">
      <input type="radio" name={name} checked={on} onChange={onChoose} />
      <span>{children}{small && <small>{small}</small>}</span>
      {end && <span className="end">{end}</span>}
    </label>
  )
}

function Wrong({ text }: { text: string | undefined }) {
  return text ? <p className="error" role="alert"><Icon name="alert" />{text}</p> : null
}

/** The plan, its currency, the seats, and the list price or a custom one. */
export function PlanAndPrice({ draft, change, plan, tenant, plans, onPlan, mistakes }: Part & { plans: Sold[]; onPlan: (to: Sold) => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const words = usePlanWords()
  const digits = useDigits()(draft.currency)
  const perSeat = plan.pricing_type === 'seat'
  const list = priceOf(plan, draft.currency)
  const most = mostSeats(plan)
  const price = minorUnits(draft.price, digits)
  const each = words.per(plan)
  const currencies = [...new Set(plans.flatMap((one) => one.prices.map(({ currency }) => currency)))].sort()
  const atMost = most === undefined ? '' : format.number(most)
  return (
    <section className="form-sec">
      <h2><Trans>Plan and price</Trans></h2>
      <div className="three">
        <SelectField name="plan_id" label={t`Plan`} value={plan.id} onChange={(event) => onPlan(plans.find((one) => one.id === event.target.value)!)}>
          {plans.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
        </SelectField>
        <SelectField name="currency" label={t`Currency`} value={draft.currency} onChange={(event) => change({ currency: event.target.value })} error={mistakes.currency}>
          {currencies.map((code) => <option key={code} value={code}>{`${code}, ${format.currency(code)}`}</option>)}
        </SelectField>
        {perSeat && (
          <Field label={t`Seats`} name="quantity" error={mistakes.quantity} help={<><Plural value={tenant.member_count} one="# member" other="# members" />{atMost && <>, <Trans>at most {atMost}</Trans></>}</>}>
            {() => <Stepper value={Number(draft.seats) || 0} onChange={(to) => change({ seats: String(to) })} min={Math.max(1, tenant.member_count)} max={most ?? 999_999} label={t`Seats`} fewer={t`Remove a seat`} more={t`Add a seat`} />}
          </Field>
        )}
      </div>
      <fieldset>
        <legend className="label"><Trans>Price</Trans></legend>
        <div className="pick">
          <Pick name="price" on={!draft.custom} onChoose={() => change({ custom: false })} end={list === undefined ? <Trans>Not available in {draft.currency}</Trans> : <>{format.money(list, draft.currency)} {each}</>}><Trans>List price</Trans></Pick>
          <Pick
            name="price" on={draft.custom} onChoose={() => change({ custom: true, price: draft.price || (list === undefined ? '' : written(list, digits)) })}
            small={<>{draft.custom && price !== undefined && list ? `${ratio(price, list, format)} ` : ''}<Trans>Changes to the list price do not affect it.</Trans></>}
            end={draft.custom && <><input className="input dense" name="price_cents" aria-label={t`Custom price, ${format.currency(draft.currency)}`} inputMode="decimal" autoComplete="off" value={draft.price} onChange={(event) => change({ price: event.target.value })} aria-invalid={mistakes.price_cents ? true : undefined} /> {each}</>}
          >
            <Trans>Custom price</Trans>
          </Pick>
        </div>
        <Wrong text={draft.custom && draft.price ? mistakes.price_cents : undefined} />
      </fieldset>
    </section>
  )
}

/** Now, or with a trial. */
export function Start({ draft, change, mistakes }: Part) {
  const { t } = useLingui()
  const format = useFormat()
  const ends = format.dayWithYear(new Date(now() + (Number(draft.days) || 0) * 86_400_000))
  return (
    <section className="form-sec">
      <h2><Trans>Start</Trans></h2>
      <div className="pick">
        <Pick name="start" on={!draft.trial} onChoose={() => change({ trial: false })} small={<Trans>The first invoice is issued today.</Trans>}><Trans>Now</Trans></Pick>
        <Pick
          name="start" on={draft.trial} onChoose={() => change({ trial: true })} small={draft.trial && !mistakes.trial_days ? <Trans>Ends on {ends}. The first invoice is issued then.</Trans> : undefined}
          end={draft.trial && <><input className="input dense days" name="trial_days" aria-label={t`Trial, days`} inputMode="numeric" autoComplete="off" value={draft.days} onChange={(event) => change({ days: event.target.value })} aria-invalid={mistakes.trial_days ? true : undefined} /> <Trans>days</Trans></>}
        >
          <Trans>With a free trial</Trans>
        </Pick>
      </div>
      <Wrong text={mistakes.trial_days} />
    </section>
  )
}

/** A card that is charged, or invoices that are sent. */
export function Payment({ draft, change, tenant, mistakes, billing }: Part) {
  const { t } = useLingui()
  const method = billing?.payment_method
  const to = tenant.billing_email ?? tenant.owner?.email ?? ''
  const last4 = method?.last4 ?? ''
  const card = !billing ? undefined : method
    ? last4 ? <Trans>The saved payment method ending in {last4} is charged.</Trans> : <Trans>The saved payment method is charged.</Trans>
    : draft.trial ? <Trans>No card is saved. The owner gets a link to add one before the trial ends.</Trans> : <Trans>No card is saved. The owner gets a link to pay. The subscription starts with the payment.</Trans>
  return (
    <section className="form-sec">
      <h2><Trans>Payment</Trans></h2>
      <div className="pick">
        <Pick name="collection" on={draft.collection === 'card'} onChoose={() => change({ collection: 'card' })} small={card}><Trans>Charge a card automatically</Trans></Pick>
        <Pick name="collection" on={draft.collection === 'invoice'} onChoose={() => change({ collection: 'invoice' })} small={<Trans>By email to {to}, with a link to pay and the PDF.</Trans>}><Trans>Send invoices</Trans></Pick>
      </div>
      <div className="two">
        {draft.collection === 'invoice' && <TextField name="days_until_due" label={t`Days until due`} inputMode="numeric" autoComplete="off" value={draft.due} onChange={(event) => change({ due: event.target.value })} error={mistakes.days_until_due} help={t`0 to 180`} />}
        <TextField name="purchase_order" label={t`Purchase order`} hint={t`optional`} maxLength={140} autoComplete="off" value={draft.order} onChange={(event) => change({ order: event.target.value })} help={t`Printed on every invoice`} />
      </div>
    </section>
  )
}

import { t as say } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { nextBill } from '../../../parts/bill'
import { momentsOf, scheduledOf, startsPeriod, type Moment } from '../../../parts/scheduled'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { changePlan, changePreviewQuery, type Change } from './subscriptions'
import { mostSeats, priceOf, usePlans, type Sold } from './plans'
import { fieldError, useSaved } from './useSaved'
import { useSettled } from './useSettled'

interface Props {
  of: Schema<'Subscription'>
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

/** Changes the plan or the seats of a subscription, now or at the end of the period, with the amounts of both. */
export function ChangePlan(props: Props) {
  const { open, onClose } = props
  const { plans, isLoading } = usePlans()
  const { of } = props
  const offered = plans.filter((one) => one.id === of.plan.id || (one.is_active && priceOf(one, of.currency) !== undefined))
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Change plan</Trans>} wide>
      {!isLoading && (offered.length === 0 ? <p className="flat"><Trans>No other plan is sold in this currency.</Trans></p> : <Body plans={offered} {...props} />)}
    </Dialog>
  )
}

type Previewed = UseQueryResult<Schema<'ChangePreview'>>

/** Returns the cost of a change at both moments. */
function useCosts(tenant: string, subscription: string, change: Omit<Change, 'when'>, moments: Moment[], enabled: boolean): Record<Moment, Previewed> {
  const settled = useSettled(change)
  const isSettled = JSON.stringify(settled) === JSON.stringify(change)
  const cost = (when: Moment) => ({ ...changePreviewQuery(tenant, subscription, { ...settled, when }), enabled: enabled && isSettled && moments.includes(when) })
  return { now: useQuery(cost('now')), period_end: useQuery(cost('period_end')) }
}

function Body({ plans, of, tenant, onClose }: Props & { plans: Sold[] }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const saved = useSaved(onClose)
  const scheduled = scheduledOf(of)
  const others = plans.filter((one) => one.id !== of.plan.id)
  const [planId, setPlanId] = useState(scheduled?.plan.id ?? others.find((one) => (priceOf(one, of.currency) ?? 0) > of.price_cents)?.id ?? others[0]?.id ?? of.plan.id)
  const [text, setText] = useState(String(Math.max(scheduled?.quantity ?? of.quantity, tenant.member_count, 1)))
  const [wanted, setWhen] = useState<Moment>()
  const plan = plans.find((one) => one.id === planId) ?? plans[0]!
  const perSeat = plan.pricing_type === 'seat'
  const seats = perSeat ? format.parse(text) ?? 0 : 1
  const price = plan.id === of.plan.id ? of.price_cents : priceOf(plan, of.currency) ?? 0
  const moments = momentsOf(price * seats, plan, of)
  const when = moments.find((one) => one === wanted) ?? moments[0]!
  const same = plan.id === of.plan.id && seats === of.quantity
  const change = { new_plan_id: plan.id, quantity: perSeat ? seats : undefined }
  const costs = useCosts(tenant.id, of.id, change, moments, !same && seats > 0)
  const cost = costs[when]
  const most = mostSeats(plan)
  const { name } = plan
  const day = format.dayWithYear(of.current_period_end)
  const regular = format.money(of.price_cents, of.currency)
  const failed = !same && cost.isError ? cost.error : undefined
  const busy = !same && !cost.isError && (cost.isPending || cost.isFetching)

  async function save() {
    if (seats < 1) throw fieldError('quantity', t`Enter a number of seats.`)
    if (same) throw fieldError('new_plan_id', t`Choose another plan or another number of seats.`)
    try {
      const { action } = await changePlan(tenant.id, of.id, { ...change, when })
      await saved(
        action === 'scheduled' ? <Trans>The change to {name} is scheduled for {day}.</Trans>
          : action === 'confirmation_required' || action === 'checkout_required' ? <Trans>The change waits for the customer’s payment. The owner received the link by email.</Trans>
            : <Trans>{tenant.name} is now on {name}.</Trans>,
      )
    } catch (error) {
      if (error instanceof ApiError && error.code === 'preview_outdated') await queries.invalidateQueries({ queryKey: changePreviewQuery(tenant.id, of.id, { ...change, when }).queryKey.slice(0, 3) })
      throw explained(error)
    }
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy: sending }) => (
        <>
          <p className="flat">
            {of.quantity > 1 ? <Plural value={of.quantity} one={`${of.plan.name}, # seat at ${regular}.`} other={`${of.plan.name}, # seats at ${regular}.`} /> : <Trans>{of.plan.name}, {regular}.</Trans>}{' '}
            {of.status === 'trialing' ? <Trans>The trial ends on {day}.</Trans> : <Trans>The period ends on {day}.</Trans>}
          </p>
          <div className="two">
            <SelectField name="new_plan_id" label={t`Plan`} value={plan.id} onChange={(event) => setPlanId(event.target.value)} data-autofocus>
              {plans.map((one) => {
                const cents = one.id === of.plan.id ? of.price_cents : priceOf(one, of.currency) ?? 0
                const [label, amount] = [one.name, format.money(cents, of.currency)]
                return <option key={one.id} value={one.id}>{t`${label}, ${amount}`}</option>
              })}
            </SelectField>
            {perSeat && (
              <TextField
                name="quantity" label={t`Seats`} inputMode="numeric" autoComplete="off" value={text} onChange={(event) => setText(event.target.value)}
                help={<><Plural value={tenant.member_count} one="# member" other="# members" />{most !== undefined && <>, <Trans>at most {format.number(most)}</Trans></>}</>}
              />
            )}
          </div>
          {failed
            ? <Refused error={failed} />
            : !same && seats > 0 && (
                <>
                  <fieldset>
                    <legend className="label"><Trans>When</Trans></legend>
                    <div className="pick">
                      {moments.map((one) => <When key={one} when={one} chosen={when} onChoose={setWhen} of={of} plan={plan} cost={costs[one].data} cheaper={moments[0] === 'period_end'} />)}
                    </div>
                  </fieldset>
                  {cost.data && <p className="outcome" role="status"><Outcome of={of} when={when} cost={cost.data} /></p>}
                </>
              )}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={sending || busy} disabled={!!failed}>{labelOf(when, name, cost.data, (cents) => format.money(cents, of.currency))}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Returns the words of the button, with the amount that is charged now. */
function labelOf(when: Moment, name: string, cost: Schema<'ChangePreview'> | undefined, money: (cents: number) => string): ReactNode {
  if (when === 'period_end') return <Trans>Schedule change to {name}</Trans>
  const due = cost && cost.due_now.cents > 0 ? money(cost.due_now.cents) : ''
  return due ? <Trans>Change to {name} — {due} now</Trans> : <Trans>Change to {name} now</Trans>
}

/** One of the moments, with its amount. */
function When({ when, chosen, onChoose, of, plan, cost, cheaper }: {
  when: Moment; chosen: Moment; onChoose: (to: Moment) => void; of: Schema<'Subscription'>; plan: Sold; cost: Schema<'ChangePreview'> | undefined; cheaper: boolean
}) {
  const format = useFormat()
  const day = format.dayWithYear(of.current_period_end)
  const trial = of.status === 'trialing'
  const money = (cents: number) => format.money(cents, of.currency)
  const left = cost?.breakdown.days_remaining ?? 0
  const total = cost?.breakdown.total_days ?? 0
  const [next, due, credit] = [money(cost?.next_amount.cents ?? 0), money(cost?.due_now.cents ?? 0), money(-(cost?.net.cents ?? 0))]
  const end = cost && (when === 'period_end' ? <Trans>{next} then</Trans> : cost.net.cents < 0 ? <Trans>{credit} credit</Trans> : due)
  const small = when === 'period_end'
    ? cheaper ? <Trans>{day}. Suggested for a cheaper plan.</Trans> : day
    : trial ? <Trans>The rest of the trial moves to the new plan.</Trans> : startsPeriod(plan, of) ? <Trans>A new period starts now.</Trans> : left > 0 && <Trans>Prorated for {left} of {total} days.</Trans>
  return (
    <label className="check">
      <input type="radio" name="when" value={when} checked={when === chosen} onChange={() => onChoose(when)} />
      <span>{when === 'now' ? <Trans>Now</Trans> : trial ? <Trans>When the trial ends</Trans> : <Trans>At the end of the period</Trans>}{small && <small>{small}</small>}</span>
      {end && <span className="end">{end}</span>}
    </label>
  )
}

/** What follows from the change. */
function Outcome({ of, when, cost }: { of: Schema<'Subscription'>; when: Moment; cost: Schema<'ChangePreview'> }) {
  const format = useFormat()
  const money = (cents: number) => format.money(cents, of.currency)
  const [next, old, due, credit] = [money(cost.next_amount.cents), money(nextBill(of, 0, undefined).total), money(cost.due_now.cents), money(-cost.net.cents)]
  const day = format.dayWithYear(cost.next_billing_at ?? of.current_period_end)
  if (when === 'period_end') return <Trans>The next invoice is <b>{next} on {day}</b> instead of {old}, even if the list price changes before then.</Trans>
  const then = <Trans>The next invoice is {next} on {day}.</Trans>
  if (cost.net.cents < 0) return <><Trans><b>{credit}</b> is added to the balance.</Trans> {then}</>
  if (cost.due_now.cents === 0) return <><Trans>Nothing is charged now.</Trans> {then}</>
  return <>{of.collection === 'invoice' ? <Trans>An invoice for <b>{due}</b> is sent now.</Trans> : <Trans><b>{due}</b> is charged now.</Trans>} {then}</>
}

/** Why a change is not possible. */
function Refused({ error }: { error: unknown }) {
  const code = error instanceof ApiError ? error.code : undefined
  if (code === 'change_waits') return <Note tone="warn" title={<Trans>A payment for another change is open</Trans>}><Trans>It has to be paid or expire first.</Trans></Note>
  return <Note tone="bad" title={<Trans>This change is not possible</Trans>}>{error instanceof ApiError && error.status < 500 ? Object.values(error.fields)[0]?.[0] ?? error.message : <Trans>The payment provider did not respond. Try again.</Trans>}</Note>
}

/** Explains the refusals of a change. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  if (error.code === 'change_waits') return new ApiError(409, say`A payment for another change is open.`, error.code)
  if (error.code === 'preview_outdated') return new ApiError(409, say`The amounts have changed. Check them again.`, error.code)
  return error
}

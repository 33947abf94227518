import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { costOf, scheduledOf } from '../../../parts/scheduled'
import { Button, ButtonLink } from '../../../ui/Button'
import { Copy } from '../../../ui/Copy'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Icon } from '../../../ui/Icon'
import { Status, SubscriptionState, type Tone } from '../../../ui/Status'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { isPriceable } from './ChangePrice'
import { useLimited } from './limits'
import { currentOf, MoneyFacts } from './MoneyFacts'
import { PaymentFacts } from './PaymentFacts'
import { usePlans, type Sold } from './plans'
import { subscriptionsQuery } from './reads'
import { Scheduled } from './Scheduled'
import { useCustomer } from './useCustomer'
import { intervalWord } from './words'

/** The value of a feature in a plan: a number, null without a limit, undefined if it is not included. */
type Value = number | null | undefined

interface Row { code: string; name: string; unit: string | null; before: Value; after: Value; used: number | undefined }

const valueIn = (plan: Sold | undefined, code: string): Value => {
  const found = plan?.entitlements.find((one) => one.feature.code === code)
  return found && (found.type === 'quota' ? found.value : null)
}

/** Returns the features that a change takes from the tenant or lowers, with their usage. */
function useDifferences(tenant: Schema<'AdminTenant'>, from: string, to: string): Row[] {
  const { plans } = usePlans()
  const { counted, others, missing } = useLimited(tenant.id)
  const [before, after] = [plans.find((one) => one.id === from), plans.find((one) => one.id === to)]
  if (!before || !after) return []
  const lower = (a: Value, b: Value) => (b === undefined ? a !== undefined : a !== undefined && b !== null && (a === null || b < a))
  return [...counted, ...others, ...missing].map((one): Row => ({
    code: one.code, name: one.name, unit: one.unit, before: valueIn(before, one.code), after: valueIn(after, one.code), used: one.code === 'team-members' ? tenant.member_count : one.quota?.current_usage,
  })).filter((row) => lower(row.before, row.after))
}

function Difference({ of }: { of: Row }) {
  const { t } = useLingui()
  const format = useFormat()
  const word = (value: Value) => (value === undefined ? t`Not included` : value === null ? (of.used === undefined ? t`Included` : t`Unlimited`) : format.quantity(value, of.unit))
  const left = typeof of.after === 'number' && of.used !== undefined ? of.after - of.used : undefined
  const room = left !== undefined ? format.quantity(left, of.unit) : ''
  const over = left !== undefined && left < 0 ? format.quantity(-left, of.unit) : ''
  const [tone, check]: [Tone, ReactNode] = of.after === undefined ? ['warn', <Trans key="0">Will be turned off</Trans>]
    : left === undefined ? ['plain', '']
      : left < 0 ? ['bad', <Trans key="1">{over} too many</Trans>]
        : left <= (of.after ?? 0) * 0.1 ? ['warn', <Trans key="2">{room} left</Trans>] : ['good', <Trans key="3">Within the limit</Trans>]
  return (
    <tr>
      <td className="k1">{of.name}</td>
      <td className="num k2 muted">{word(of.before)}</td>
      <td className="num k3"><b>{word(of.after)}</b></td>
      <td className="num k4">{of.used === undefined ? '–' : format.quantity(of.used, of.unit)}</td>
      <td className="k5">{check && <Status tone={tone}>{check}</Status>}</td>
    </tr>
  )
}

/** The terms before and after a scheduled change, and what the tenant loses. */
function Comparison({ of, tenant }: { of: Schema<'Subscription'>; tenant: Schema<'AdminTenant'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const change = scheduledOf(of)!
  const rows = useDifferences(tenant, of.plan.id, change.plan.id)
  const { quantity, price, total } = costOf(change)
  const each = intervalWord(of)
  const money = (cents: number) => format.money(cents, of.currency)
  const day = format.dayWithYear(change.effective_at)
  const terms = (name: string, seats: number, unit: number, sum: number) => (
    <>
      <h3>{seats > 1 ? <Plural value={seats} one={`${name}, # seat`} other={`${name}, # seats`} /> : name}</h3>
      <p>{seats > 1 && `${format.number(seats)} × ${money(unit)} = `}<b>{money(sum)}</b> {each}</p>
    </>
  )
  return (
    <>
      <div className="fromto">
        <div><p><Trans>Until {day}</Trans></p>{terms(of.plan.name, of.quantity, of.price_cents, of.price_cents * of.quantity)}</div>
        <Icon name="right" />
        <div><p><Trans>From {day}</Trans></p>{terms(change.plan.name, quantity, price, total)}</div>
      </div>
      {rows.length > 0 && (
        <table className="table mid cards diff">
          <thead><tr><th scope="col"><Trans>What changes</Trans></th><th scope="col" className="num">{of.plan.name}</th><th scope="col" className="num">{change.plan.name}</th><th scope="col" className="num"><Trans>Used now</Trans></th><th scope="col"><span className="sr">{t`Result`}</span></th></tr></thead>
          <tbody>{rows.map((one) => <Difference key={one.code} of={one} />)}</tbody>
        </table>
      )}
      <div className="gap-top"><Scheduled of={of} tenant={tenant} link={false} /></div>
      <p className="help gap-s"><Trans>Usage is checked again during the last hour of the period. If it does not fit then, the change is dropped and the owner gets an email.</Trans></p>
    </>
  )
}

/** A tenant's subscription: its scheduled change, its terms and its earlier subscriptions. */
export default function Subscription() {
  const tenant = useCustomer()
  const format = useFormat()
  const may = usePlatformMay()
  const ask = useAsk()
  const subscriptions = useQuery(subscriptionsQuery(tenant.id))
  return (
    <Read query={subscriptions} lines={8}>
      {(all) => {
        const of = currentOf(all)
        if (!of) return <Empty slim icon="plan" title={<Trans>No subscription yet</Trans>} actions={may('subscriptions.manage') && <ButtonLink to="/platform/tenants/$tenantId/new-subscription" params={{ tenantId: tenant.id }}><Trans>New subscription</Trans></ButtonLink>}><Trans>The tenant buys a plan on its page Plan, or you create a subscription for it.</Trans></Empty>
        return (
          <>
            <p className="t13 back"><Link to="/platform/tenants/$tenantId" params={{ tenantId: tenant.id }}><Trans>Overview</Trans></Link></p>
            <div className="sub-head"><h2>{of.quantity > 1 ? <Plural value={of.quantity} one={`${of.plan.name}, # seat`} other={`${of.plan.name}, # seats`} /> : of.plan.name} <SubscriptionState status={of.status} /></h2><Copy text={of.id} />{may('subscriptions.manage') && isPriceable(of) && <div className="acts"><Button onClick={() => ask({ dialog: 'price' })}><Trans>Change price</Trans></Button></div>}</div>
            {scheduledOf(of) && <Section className="gap-below" title={<Trans>Scheduled change</Trans>}><Comparison of={of} tenant={tenant} /></Section>}
            <div className="cols">
              <section><h2><Trans>Terms</Trans></h2><MoneyFacts of={tenant} /></section>
              <section><h2><Trans>Payment</Trans></h2><PaymentFacts id={tenant.id} /></section>
            </div>
            {all.length > 1 && (
              <Section title={<Trans>Earlier subscriptions</Trans>}>
                <ul className="list">
                  {all.filter((one) => one.id !== of.id).map((one) => (
                    <li key={one.id}><b>{one.plan.name}</b><span className="muted">{format.period(one.created_at, one.canceled_at ?? one.current_period_end)}</span><span className="end"><SubscriptionState status={one.status} /></span></li>
                  ))}
                </ul>
              </Section>
            )}
          </>
        )
      }}
    </Read>
  )
}

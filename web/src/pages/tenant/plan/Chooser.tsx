import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useFilters } from '../../../app/filters'
import type { Schema } from '../../../api/client'
import { useHolds, useSettings } from '../../../app/session'
import { Segments, Stepper } from '../../../ui/Field'
import { Empty, Skeleton } from '../../../ui/Messages'
import { useTeamStats } from '../shared/reads'
import { useWords } from '../shared/words'
import { hindranceOf, intervalOf, rowsOf } from './compare'
import { PlanColumn, RowNames } from './PlanColumn'
import { PaymentSection } from './PaymentSection'
import { Receipt } from './Receipt'

/** The number of plans that fit next to the receipt; more use the whole width. */
const beside = 3

/** The number of plans above which the columns are narrow. */
const narrow = 5

/** The plans, the seats, and the cost of the choice. */
export function Chooser({ plans, subscription, currency, catalog }: {
  plans: Schema<'OfferedPlan'>[]; subscription: Schema<'Subscription'> | null; currency: string; catalog: Schema<'Plan'>[]
}) {
  const { t } = useLingui()
  const words = useWords()
  const holds = useHolds()
  const [search, filter] = useFilters()
  const team = useTeamStats()
  const { app_name } = useSettings()
  const stats = team.data?.data
  const members = Math.max(1, stats?.members ?? 1)
  const [wanted, setWanted] = useState(0)

  const intervals = [...new Map(plans.map((plan) => [intervalOf(plan), plan])).entries()].map(([value, plan]) => ({ value, label: words.each(plan) }))
  const interval = intervals.find((one) => one.value === search.every)?.value ?? (subscription && intervals.find((one) => one.value === intervalOf(subscription))?.value) ?? intervals[0]?.value
  const shown = plans.filter((plan) => intervalOf(plan) === interval || plan.id === subscription?.plan.id)
  const chosen = shown.find((plan) => plan.slug === search.plan && !hindranceOf(plan, subscription)) ?? shown.find((plan) => plan.id === subscription?.plan.id)
  const rows = rowsOf(shown)
  const seats = chosen?.pricing_type === 'seat' ? Math.max(members, wanted || subscription?.quantity || members) : 1
  const quota = chosen?.features.find((one) => one.code === 'team-members' && one.type === 'quota')?.value
  const people = plural(members, { one: 'The team has # member', other: 'The team has # members' })

  if (plans.length === 0) return <Empty icon="plan" title={<Trans>No plans yet</Trans>}><Trans>Plans appear here as soon as the {app_name} team offers them.</Trans></Empty>
  // Without the size of the team, the preview would first use a wrong number of seats.
  if (team.isPending) return <Skeleton lines={8} />
  const comparison = (
    <div className={shown.length > narrow ? 'plans many' : 'plans'} role="radiogroup" aria-label={t`Plans`} style={{ '--plans': shown.length, '--rows': rows.length + 3 } as React.CSSProperties}>
      <RowNames rows={rows} />
      {shown.map((plan) => (
        <PlanColumn
          key={plan.id} plan={plan} rows={rows} currency={currency} others={catalog.find((one) => one.id === plan.id)?.prices.map((one) => one.currency) ?? []}
          onCurrency={subscription ? undefined : (code) => filter({ currency: code })} subscription={subscription} chosen={plan.id === chosen?.id} readOnly={!holds('billing.manage')}
          onChoose={() => filter({ plan: plan.slug, when: undefined, done: undefined, checkout: undefined })}
        />
      ))}
    </div>
  )
  const choice = chosen?.pricing_type === 'seat' && holds('billing.manage') && (
    <section className="seats" id="seats">
      <div>
        <h2><Trans>Seats</Trans></h2>
        <p className="muted t13"><Trans>{people}. All seats are billed, used or not.</Trans></p>
      </div>
      <Stepper value={seats} onChange={setWanted} min={members} max={Math.max(members, quota ?? 100_000)} label={t`Seats`} fewer={t`Remove a seat`} more={t`Add a seat`} />
    </section>
  )
  const receipt = chosen && <Receipt plan={chosen} seats={seats} subscription={subscription} currency={currency} />
  return (
    <>
      {intervals.length > 1 && (
        <div className="toolbar"><Segments label={t({ message: 'Paid', context: 'how often' })} value={interval ?? ''} options={intervals} onChange={(every) => filter({ every, plan: undefined })} /></div>
      )}
      {shown.length > beside
        ? <div className="stack wide-gap plan-page">{comparison}<div className="aside"><div className="stack wide-gap">{choice}<PaymentSection className="" subscription={subscription} /></div>{receipt}</div></div>
        : <><div className="aside plan-page"><div className="stack">{comparison}{choice}</div>{receipt}</div><PaymentSection subscription={subscription} /></>}
    </>
  )
}

import { Plural, Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Icon } from '../../../ui/Icon'
import { customersQuery, unsubscribedQuery } from '../catalog/reads'
import { priceChanges, type PriceChange } from './changes'
import { useDigits } from './digits'
import type { Draft } from './draft'

/**
 * The customers who keep their current price in a currency. Some may still pay an earlier price.
 */
function Keepers({ of, customers }: { of: PriceChange; customers: Schema<'PlanCustomers'> | undefined }) {
  const format = useFormat()
  if (of.before === undefined) return null
  const old = format.money(of.before, of.currency)
  if (!customers) return <Trans>Tenants that pay {old} keep this price until they change their plan.</Trans>
  const keep = customers.by_price.filter((one) => one.currency === of.currency && one.tenants > 0)
  if (keep.length === 0) return <Trans>No tenant pays {old}.</Trans>
  return keep.map((one) => {
    const amount = format.money(one.amount, one.currency)
    return (
      <span key={`${one.price ?? ''} ${one.amount} ${one.interval_unit} ${one.interval_count}`} className="block">
        <Plural value={one.tenants} one={`# tenant keeps ${amount} until they change their plan.`} other={`# tenants keep ${amount} until they change their plan.`} />
      </span>
    )
  })
}

/** A changed price: the customers who keep the old one and those who pay the new one. */
function PriceLine({ of, customers }: { of: PriceChange; customers: Schema<'PlanCustomers'> | undefined }) {
  const format = useFormat()
  const { currency, after } = of
  return (
    <li>
      <Icon name={after === undefined ? 'minus' : 'card'} />
      <span>
        <Keepers of={of} customers={customers} />{' '}
        {after !== undefined ? <Trans>New customers pay {format.money(after, currency)} as soon as you save.</Trans> : <Trans>New customers cannot buy it in {currency}.</Trans>}
      </span>
    </li>
  )
}

/** The customers that saving affects, shown before saving. */
export function Affected({ plan, draft, before }: { plan: string; draft: Draft; before: Draft }) {
  const digits = useDigits()
  const customers = useQuery(customersQuery(plan)).data
  const count = customers?.tenants ?? 0
  const prices = priceChanges(draft, before, digits)
  const differs = (key: keyof Draft) => JSON.stringify(draft[key]) !== JSON.stringify(before[key])
  const gives = differs('entitlements')
  const sale = differs('is_active')
  const interval = differs('interval_unit') || differs('interval_count')
  const standard = differs('is_default')
  const unsubscribed = useQuery({ ...unsubscribedQuery, enabled: standard }).data
  const nothing = prices.length === 0 && !gives && !sale && !interval && !standard
  return (
    <section className="sec">
      <div className="sec-head"><h2><Trans>Who is affected</Trans></h2></div>
      <ul className="affected icons">
        {prices.map((one) => <PriceLine key={one.currency} of={one} customers={customers} />)}
        {interval && <li><Icon name="clock" /><span><Trans>Existing customers keep their billing interval. The new one applies to new customers.</Trans></span></li>}
        {gives && (
          <li>
            <Icon name="team" />
            <span>
              {customers
                ? <Plural value={count} _0="No tenants have this plan yet. The features apply to new subscriptions." one="The features change immediately for # tenant, even where they are reduced." other="The features change immediately for # tenants, even where they are reduced." />
                : <Trans>The features change immediately for all tenants on the plan, even where they are reduced.</Trans>}
            </span>
          </li>
        )}
        {sale && (
          <li>
            <Icon name="plan" />
            {draft.is_active
              ? <span><Trans>Customers can buy it within a minute.</Trans></span>
              : <span><Trans>New customers cannot buy it.</Trans> {customers && <Plural value={count} _0="No tenants have it." one="# tenant keeps it." other="# tenants keep it." />}</span>}
          </li>
        )}
        {standard && (
          <li>
            <Icon name="team" />
            <span>
              {draft.is_default ? <Trans>The plan applies immediately to tenants without a subscription.</Trans> : <Trans>Tenants without a subscription have no plan.</Trans>}{' '}
              {unsubscribed !== undefined && <Plural value={unsubscribed} _0="No tenants are affected." one="# tenant is affected." other="# tenants are affected." />}
            </span>
          </li>
        )}
        {nothing && (
          <li>
            <Icon name="team" />
            <span className="muted">
              {customers && <><Plural value={count} _0="No tenants have this plan." one="# tenant has this plan." other="# tenants have this plan." />{' '}</>}
              <Trans>Make a change to see who is affected.</Trans>
            </span>
          </li>
        )}
      </ul>
    </section>
  )
}

import { Trans } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { Icon } from '../../../ui/Icon'
import { priceChanges } from './changes'
import { useDigits } from './digits'
import type { Draft } from './draft'

/** Whom saving concerns, before it is done. */
export function Affected({ draft, before }: { draft: Draft; before: Draft }) {
  const format = useFormat()
  const digits = useDigits()
  const prices = priceChanges(draft, before, digits)
  const differs = (key: keyof Draft) => JSON.stringify(draft[key]) !== JSON.stringify(before[key])
  const gives = differs('entitlements')
  const sale = differs('is_active')
  const interval = differs('interval_unit') || differs('interval_count')
  const nothing = prices.length === 0 && !gives && !sale && !interval
  return (
    <section className="sec">
      <div className="sec-head"><h2><Trans>Who is affected</Trans></h2></div>
      <ul className="affected icons">
        {prices.map(({ currency, before: old, after }) => (
          <li key={currency}>
            <Icon name={after === undefined ? 'minus' : 'card'} />
            <span>
              {old !== undefined && <Trans>Who pays {format.money(old, currency)} keeps it until they change their plan.</Trans>}{' '}
              {after !== undefined && <Trans>New customers pay {format.money(after, currency)} from the moment you save.</Trans>}
              {after === undefined && <Trans>Nobody new can buy it in {currency}.</Trans>}
            </span>
          </li>
        ))}
        {interval && <li><Icon name="clock" /><span><Trans>Who has the plan keeps the interval; the new one is for new customers.</Trans></span></li>}
        {gives && <li><Icon name="team" /><span><Trans>What is in it changes at once for everybody who has the plan, also where it becomes less.</Trans></span></li>}
        {sale && <li><Icon name="plan" /><span>{draft.is_active ? <Trans>Everybody can buy it within a minute.</Trans> : <Trans>Nobody new can buy it. Subscriptions go on.</Trans>}</span></li>}
        {nothing && <li><Icon name="check" /><span className="muted"><Trans>Nobody, so far. Change something and it says here for whom.</Trans></span></li>}
      </ul>
    </section>
  )
}

import { Trans } from '@lingui/react/macro'
import { $api } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import type { Gauge } from '../home/meters'
import { useHere, useSubscription } from '../shared/reads'
import { useWords } from '../shared/words'

/** The usage charges of the next invoice, for plans that bill usage. */
export function Charges({ gauges }: { gauges: Gauge[] }) {
  const here = useHere()
  const words = useWords()
  const format = useFormat()
  const subscription = useSubscription().data?.data
  const billed = subscription?.plan.pricing_type === 'usage'
  const estimate = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/cost-estimate', here, { enabled: billed })
  if (!subscription || !billed) {
    return <Section className="" title={<Trans>Estimated usage charges</Trans>}><p className="t13 muted"><Trans>Your plan does not charge for usage.</Trans></p></Section>
  }
  const day = format.day(subscription.current_period_end)
  const metered = new Map(gauges.map((one) => [one.code, one]))
  return (
    <Section className="" title={<Trans>Estimated usage charges</Trans>} end={<Trans>Billed on {day}</Trans>} lead={<Trans>On top of your plan. The invoice may differ slightly.</Trans>}>
      <Read query={estimate} lines={3}>
        {({ data }) => {
          const lines = data.lines.filter((one) => metered.has(one.meter_code))
          const total = lines.reduce((sum, one) => sum + one.amount_cents, 0)
          return (
            <dl className="sums">
              {lines.map((one, i) => {
                const price = metered.get(one.meter_code)?.quota?.unit_price_cents
                const count = words.quantity(one.quantity, one.unit_label)
                const each = price === null || price === undefined ? '' : format.unitPrice(price, one.currency)
                return (
                  <div key={`${one.meter_code} ${i}`}>
                    <dt>{one.meter_name}<small>{one.amount_cents === 0 && one.quantity > 0 ? <Trans>{count} prepaid or free</Trans> : each ? <Trans>{count} × {each}</Trans> : count}</small></dt>
                    <dd>{format.money(one.amount_cents, one.currency)}</dd>
                  </div>
                )
              })}
              <div className="tot"><dt><Trans>So far</Trans></dt><dd>{format.money(total, data.currency)}</dd></div>
            </dl>
          )
        }}
      </Read>
    </Section>
  )
}

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useFormat } from '../../../app/format'
import { Segments } from '../../../ui/Field'
import { Empty } from '../../../ui/Messages'
import { MrrChart } from './MrrChart'
import type { Mrr, Stats } from './stats'

function Moved({ of }: { of: Mrr }) {
  const format = useFormat()
  const sum = (cents: number) => format.money(cents, of.currency, { whole: true })
  const change = (cents: number) => format.money(cents, of.currency, { whole: true, sign: true })
  if (!of.movement) return <p className="muted t13"><Trans>The first comparison is here after 30 days.</Trans></p>
  const then = format.day(new Date(Date.now() - 30 * 86_400_000))
  const { movement } = of
  return (
    <dl className="sums">
      <div><dt><Trans>On {then}</Trans></dt><dd>{sum(movement.from_cents)}</dd></div>
      <div><dt><Trans>New customers</Trans></dt><dd>{change(movement.new_cents)}</dd></div>
      <div><dt><Trans>More seats, larger plans</Trans></dt><dd>{change(movement.expansion_cents)}</dd></div>
      <div><dt><Trans>Fewer seats, smaller plans</Trans></dt><dd>{change(movement.contraction_cents)}</dd></div>
      <div><dt><Trans>Ended</Trans></dt><dd>{change(movement.ended_cents)}</dd></div>
      <div className="tot"><dt><Trans>Today</Trans></dt><dd>{sum(of.amount_cents)}</dd></div>
    </dl>
  )
}

/** Monthly recurring revenue in one currency: its course, and how it moved. */
export function Money({ stats }: { stats: Stats }) {
  const { t } = useLingui()
  const format = useFormat()
  const all = [...stats.mrr].sort((a, b) => b.amount_cents - a.amount_cents)
  const [currency, setCurrency] = useState(all[0]?.currency)
  const of = all.find((one) => one.currency === currency) ?? all[0]
  if (!of) {
    return (
      <section className="sec plain" id="mrr">
        <Empty slim icon="card" title={<Trans>No revenue yet</Trans>}><Trans>With the first paid subscription its course shows here.</Trans></Empty>
      </section>
    )
  }
  const name = format.currency(of.currency)
  return (
    <div className="split sec plain" id="mrr">
      <section>
        <div className="sec-head">
          <h2><Trans>MRR in {name}</Trans></h2>
          {all.length > 1 && (
            <span className="end">
              <Segments className="s" label={t`Currency`} value={of.currency} onChange={setCurrency} options={all.map((one) => ({ value: one.currency, label: one.currency }))} />
            </span>
          )}
        </div>
        <MrrChart currency={of.currency} />
      </section>
      <section>
        <div className="sec-head"><h2><Trans>How it moved in 30 days</Trans></h2></div>
        <Moved of={of} />
      </section>
    </div>
  )
}

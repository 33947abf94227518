import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { allProductsQuery } from '../catalog/reads'
import { usePlatformMay } from '../may'
import { RateDialog, RateList } from './Rates'

/** The MRR of each plan. */
export function ByPlan({ of, currency }: { of: Schema<'Analytics'>; currency: string }) {
  const format = useFormat()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') })
  const slugs = new Map(products.data?.flatMap((one) => one.plans ?? []).map((one) => [one.id, one.slug]))
  const all = of.by_plan.reduce((sum, one) => sum + one.mrr, 0)
  return (
    <section>
      <div className="sec-head"><h2><Trans>MRR by plan</Trans></h2></div>
      <table className="table">
        <thead><tr><th scope="col"><Trans>Plan</Trans></th><th scope="col" className="num"><Trans>Subscriptions</Trans></th><th scope="col" className="num"><Trans>MRR</Trans></th><th scope="col" className="num"><Trans>Share</Trans></th></tr></thead>
        <tbody>
          {of.by_plan.map((one) => {
            const slug = slugs.get(one.plan.id)
            return (
              <tr key={one.plan.id}>
                <td>{slug ? <Link className="rowlink" to="/platform/tenants" search={{ plan: slug }}>{one.plan.name}</Link> : <b>{one.plan.name}</b>}</td>
                <td className="num">{format.number(one.subscriptions)}</td>
                <td className="num">{format.money(one.mrr, currency, { whole: true })}</td>
                <td className="num muted">{all > 0 ? format.wholePercent(one.mrr / all) : '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

/** Returns the base currency of the figures. Without one nothing is converted, and no rate can be missing. */
export const baseOf = (of: Schema<'Analytics'>, meta: Schema<'AnalyticsMeta'>) =>
  (meta.missing_rates.length > 0 || of.by_currency.some((one) => one.mrr_base !== null) ? meta.currency ?? undefined : undefined)

/** The MRR in each currency, and in the base currency. */
export function ByCurrency({ of, meta }: { of: Schema<'Analytics'>; meta: Schema<'AnalyticsMeta'> }) {
  const format = useFormat()
  const may = usePlatformMay()
  const [adding, setAdding] = useState(false)
  const base = baseOf(of, meta)
  const others = of.by_currency.filter((one) => one.currency !== base).map((one) => one.currency)
  const name = base && format.currency(base)
  return (
    <section id="currencies">
      <div className="sec-head">
        <h2><Trans>MRR by currency</Trans></h2>
        {base && others.length > 0 && may('rates.manage') && <span className="end"><button type="button" className="as-link" onClick={() => setAdding(true)}><Trans>Add exchange rate</Trans></button></span>}
      </div>
      <table className="table">
        <thead>
          <tr>
            <th scope="col"><Trans>Currency</Trans></th><th scope="col" className="num"><Trans>MRR</Trans></th>
            {base && <><th scope="col" className="num"><Trans>Rate</Trans></th><th scope="col" className="num"><Trans>In {base}</Trans></th></>}
          </tr>
        </thead>
        <tbody>
          {of.by_currency.map((one) => (
            <tr key={one.currency}>
              <td>{one.currency} {one.currency === base && <span className="tag"><Trans>Base</Trans></span>}</td>
              <td className="num">{format.money(one.mrr, one.currency)}</td>
              {base && <td className="num muted">{one.currency === base ? '1' : one.rate === null ? '–' : format.precise(one.rate)}</td>}
              {base && <td className="num">{one.mrr_base === null ? '–' : format.money(one.mrr_base, base)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {base
        ? others.length > 0 && <><p className="help"><Trans>A rate is the amount of the currency for 1 {base} ({name}). Past months use the rates of their last day.</Trans></p><RateList base={base} /></>
        : of.by_currency.length > 1 && <p className="help"><Trans>To add up all currencies, set <code>TENANTRY_BASE_CURRENCY</code> where the service runs.</Trans></p>}
      {base && <RateDialog base={base} currencies={others} open={adding} onClose={() => setAdding(false)} />}
    </section>
  )
}

/** The currencies and months without a rate, and the way to add one. */
export function MissingRates({ of, meta }: { of: Schema<'Analytics'>; meta: Schema<'AnalyticsMeta'> }) {
  const format = useFormat()
  const may = usePlatformMay()
  const [adding, setAdding] = useState(false)
  const base = baseOf(of, meta)
  if (meta.missing_rates.length === 0 || !base) return null
  const missing = [...new Set(meta.missing_rates.map((one) => one.currency))]
  const lines: ReactNode[] = missing.map((currency) => {
    const row = of.by_currency.find((one) => one.currency === currency)
    const months = meta.missing_rates.filter((one) => one.currency === currency).map((one) => one.month)
    if (row && row.mrr_base === null) {
      const amount = format.money(row.mrr, currency, { whole: true })
      return <span key={currency} className="block"><Trans>No rate for {currency}. {amount} is not included.</Trans></span>
    }
    const more = months.length - 3
    const list = format.list([...months.slice(0, 3).map((one) => format.utc.shortMonthWithYear(`${one}-01`)), ...(more > 0 ? [plural(more, { one: '# more month', other: '# more months' })] : [])])
    return <span key={currency} className="block"><Trans>No rate for {currency} in {list}: the nearest rate is used.</Trans></span>
  })
  const month = meta.missing_rates.map((one) => one.month).toSorted().at(-1)
  return (
    <>
      <Note tone="warn" actions={may('rates.manage') && <Button size="s" onClick={() => setAdding(true)}><Trans>Add exchange rate</Trans></Button>}>{lines}</Note>
      <RateDialog base={base} currencies={missing} month={month} open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

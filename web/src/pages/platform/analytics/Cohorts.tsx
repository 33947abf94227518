import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { CSSProperties } from 'react'
import type { Schema } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { ButtonAnchor } from '../../../ui/Button'
import { Segments } from '../../../ui/Field'
import { Read } from '../../../ui/Read'
import { cohortsQuery, csvOf, type Measure, type Scope } from './reads'

/** The months that a phone shows. */
const narrow = [1, 3, 6, 11]

/** Returns the strength of the ink for a share, in steps that leave the text readable. */
const ink = (share: number) => Math.round(Math.min(40, Math.max(4, 40 - (1 - share) * 90)))

function Row({ of, count, measure }: { of: Schema<'Cohort'>; count: number; measure: Measure }) {
  const { t } = useLingui()
  const format = useFormat()
  const customers = format.number(of.customers)
  return (
    <tr>
      <th scope="row">{format.utc.shortMonthWithYear(`${of.month}-01`)}</th>
      <td className="n">{customers}</td>
      {Array.from({ length: count }, (_, k) => {
        const value = of.values[k]
        const hide = narrow.includes(k) ? '' : 'hide'
        if (value === undefined || value === null) return <td key={k} className={hide} />
        const stayed = format.number(Math.round(value * of.customers))
        return <td key={k} className={`r ${hide}`} style={{ '--p': ink(value) } as CSSProperties} title={measure === 'customers' ? t`${stayed} of ${customers} customers` : undefined}>{format.wholePercent(value)}</td>
      })}
    </tr>
  )
}

/** Reports whether there are three months of payments. */
const tellsSomething = (all: Schema<'Cohort'>[]) => all.some((one) => one.values.length >= 3)

/** How many customers of a month stay, or how much of their revenue. */
export function Cohorts({ scope }: { scope: Scope }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const measure: Measure = search.measure === 'revenue' ? 'revenue' : 'customers'
  const cohorts = useQuery(cohortsQuery(scope, measure))
  const caption = measure === 'customers' ? t`Share of customers who still pay, by month of first payment` : t`Share of revenue that stays, by month of first payment`
  return (
    <section className="sec" id="retention">
      <div className="sec-head">
        <h2><Trans>Retention by month of first payment</Trans></h2>
        <span className="end acts">
          <Segments className="s" label={t`Measure`} value={measure} onChange={(to) => change({ measure: to === 'revenue' ? to : undefined }, { replace: true })} options={[{ value: 'customers', label: t`Customers` }, { value: 'revenue', label: t`Revenue` }]} />
          <ButtonAnchor size="s" look="quiet" icon="download" aria-label={t`Export retention as CSV`} href={csvOf('/cohorts', { ...scope, measure, months: '12' })} download />
        </span>
        <p>{measure === 'customers' ? <Trans>Share of customers still paying after 1, 2, 3… months.</Trans> : <Trans>Share of the first month’s revenue that remains after 1, 2, 3… months.</Trans>} <span className="only-narrow"><Trans>A wider screen shows every month.</Trans></span></p>
      </div>
      <Read query={cohorts} lines={6}>
        {(found) => tellsSomething(found)
          ? (
            <table className={cohorts.isPlaceholderData ? 'cohort is-old' : 'cohort'}>
              <caption className="sr">{caption}</caption>
              <thead>
                <tr>
                  <th scope="col" className="l"><Trans>First payment</Trans></th><th scope="col" className="n"><Trans>Customers</Trans></th>
                  {found.map((_, k) => <th key={k} scope="col" className={narrow.includes(k) ? undefined : 'hide'}>{k}</th>)}
                </tr>
              </thead>
              <tbody>{found.map((one) => <Row key={one.month} of={one} count={found.length} measure={measure} />)}</tbody>
            </table>
          )
          : <p className="t13 muted"><Trans>Retention needs three months of payments.</Trans></p>}
      </Read>
    </section>
  )
}

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { ButtonAnchor, ButtonLink } from '../../ui/Button'
import { Segments } from '../../ui/Field'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Chart, MonthTable } from './analytics/Chart'
import { Cohorts } from './analytics/Cohorts'
import { Definitions, Figures } from './analytics/Figures'
import { isEmpty, lastComplete } from './analytics/figures'
import { Movements } from './analytics/Movements'
import { MonthSum } from './analytics/MonthSum'
import { analyticsQuery, csvOf, spans, thisMonth, useThisMonth, type Found, type SpanName } from './analytics/reads'
import { ByCurrency, ByPlan, MissingRates, baseOf } from './analytics/Shares'
import { kinds } from './analytics/words'
import { allProductsQuery } from './catalog/reads'
import { nameIn } from './catalog/texts'
import { statsQuery } from './home/stats'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** Restricts the figures to a plan and a currency, both in the URL. currency is set if there is no sum of all. */
function Filters({ currency }: { currency?: string }) {
  const { t, i18n } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const [search, change] = useFilters()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') })
  const mrr = useQuery(statsQuery).data?.mrr ?? []
  const plans = products.data?.flatMap((one) => one.plans ?? []) ?? []
  return (
    <>
      {plans.length > 1 && (
        <select className="select dense w-auto" aria-label={t`Plan`} value={search.plan ?? ''} onChange={(event) => change({ plan: event.target.value || undefined, kind: undefined })}>
          <option value="">{t`All plans`}</option>
          {plans.map((one) => <option key={one.id} value={one.slug}>{nameIn(one.translations, i18n.locale)}</option>)}
        </select>
      )}
      {(mrr.length > 1 || search.currency) && (
        <select className="select dense w-auto" aria-label={t`Currency`} value={search.currency ?? currency ?? ''} onChange={(event) => change({ currency: event.target.value || undefined, kind: undefined })}>
          {!currency && <option value="">{t`All currencies`}</option>}
          {[...new Set([...mrr.map((one) => one.currency), ...(search.currency ? [search.currency] : [])])].map((code) => <option key={code} value={code}>{format.currency(code)}</option>)}
        </select>
      )}
    </>
  )
}

/** The chart, or its figures as a table, with the selected month beside it. */
function MovementOf({ of }: { of: Found }) {
  const [search, change] = useFilters()
  const { data, meta, scope } = of
  const latest = data.months.at(-1)!
  const chosen = data.months.find((one) => one.month === search.month) ?? lastComplete(data, thisMonth())[0] ?? latest
  const kind = kinds.find((one) => one === search.kind)
  const [table, setTable] = useState(false)
  return (
    <>
      <div className="split sec plain">
        <section>
          <div className="sec-head">
            <h2><Trans>MRR movement</Trans></h2>
            <span className="end"><button type="button" className="as-link" aria-pressed={table} onClick={() => setTable(!table)}>{table ? <Trans>Show as chart</Trans> : <Trans>Show as table</Trans>}</button></span>
          </div>
          {table
            ? <MonthTable months={data.months} currency={meta.currency!} />
            : <Chart months={data.months} currency={meta.currency!} chosen={chosen.month} onChoose={(month) => change({ month }, { replace: true })} />}
        </section>
        <MonthSum of={chosen} latest={latest} currency={meta.currency!} kind={kind} />
      </div>
      {kind && <Movements scope={scope} month={chosen.month} kind={kind} />}
    </>
  )
}

/** Revenue figures with their definitions, the movement of each month, and retention. */
export default function Analytics() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const [search, change] = useFilters()
  const span: SpanName = search.span === 'quarter' || search.span === 'years' ? search.span : 'year'
  const scope = { plan: search.plan, currency: search.currency }
  const month = useThisMonth()
  const analytics = useQuery({ ...analyticsQuery(scope, span, month), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Analytics`} />
  const found = analytics.data
  const [from, to] = [found && format.first(format.utc.monthWithYear(`${found.meta.from}-01`)), found && format.utc.monthWithYear(`${found.meta.to}-01`)]
  const unit = found?.meta.currency
  const several = found && found.data.by_currency.length > 1 && baseOf(found.data, found.meta) && !found.scope.currency
  // The service decides the currency if it cannot add up all of them.
  const forced = found && !scope.currency ? found.scope.currency : undefined
  const none = found && (!found.meta.currency || isEmpty(found.data))
  const keep = { span: search.span, plan: search.plan, currency: search.currency }
  return (
    <Page
      title={t`Analytics`} lead={found && unit && (several ? <Trans>{from} – {to}, all currencies in {unit}</Trans> : <Trans>{from} – {to}, in {unit}</Trans>)}
      actions={(none && !scope.plan && !scope.currency) ? null : (
        <>
          <Filters currency={forced} />
          <Segments
            label={t`Time range`} value={span} onChange={(to) => change({ span: to === 'year' ? undefined : to, month: undefined, kind: undefined }, { replace: true })}
            options={(Object.keys(spans) as SpanName[]).map((value) => ({ value, label: { quarter: t`Quarter`, year: t`Year`, years: t`3 years` }[value] }))}
          />
          {found && <ButtonAnchor icon="download" href={csvOf('', { ...found.scope, from: found.meta.from, to: found.meta.to })} download><Trans>Export CSV</Trans></ButtonAnchor>}
        </>
      )}
    >
      <Read query={analytics} lines={9}>
        {(of) => !of.meta.currency || none
          ? scope.plan || scope.currency
            ? <Empty icon="chart" title={<Trans>No recurring revenue with these filters</Trans>} actions={<ButtonLink to="/platform/analytics"><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty icon="chart" title={<Trans>No recurring revenue yet</Trans>} actions={<ButtonLink to="/platform/catalog"><Trans>Open catalog</Trans></ButtonLink>}><Trans>Figures appear with the first paid subscription.</Trans></Empty>
          : (
            <div className={analytics.isPlaceholderData ? 'is-old' : undefined}>
              <MissingRates of={of.data} meta={of.meta} />
              <Figures of={of} span={keep} />
              <MovementOf of={of} />
              <Cohorts scope={of.scope} />
              <div className="cols sec"><ByPlan of={of.data} currency={of.meta.currency} /><ByCurrency of={of.data} meta={of.meta} /></div>
              <Definitions />
            </div>
          )}
      </Read>
    </Page>
  )
}

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'
import { $api } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useHere } from '../shared/reads'

/** The total of a year's invoices in each currency. The year is in the URL. */
export function YearTotals() {
  const { t } = useLingui()
  const here = useHere()
  const format = useFormat()
  const [search, filter] = useFilters()
  const year = Number(search.year) || undefined
  const summary = $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices/summary', { params: { ...here.params, query: { year } } })
  const read = summary.data?.data
  // The line keeps its place while it loads and is empty without invoices.
  if (!read || read.years.length === 0) return <div className="yearline" />
  const years = read.years.includes(read.year) ? read.years : [read.year, ...read.years]
  return (
    <div className="yearline">
      <select className="select plain dense" aria-label={t`Year`} value={read.year} onChange={(event) => filter({ year: event.target.value })}>
        {years.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
      {read.totals.length === 0 && <span className="muted"><Trans>No invoices</Trans></span>}
      {read.totals.map(({ currency, paid, open, refunded, count }) => {
        const sums = { paid: format.money(paid, currency), open: format.money(open, currency), back: format.money(refunded, currency) }
        return (
          <span key={currency}>
            <b><Trans>{sums.paid} paid</Trans></b>
            {open > 0 && <> · <Trans>{sums.open} open</Trans></>}
            {refunded > 0 && <> · <Trans>{sums.back} refunded</Trans></>}
            <span className="faint"> · <Plural value={count} one="# invoice" other="# invoices" /></span>
          </span>
        )
      })}
    </div>
  )
}

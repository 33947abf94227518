import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'
import { $api } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useHere } from '../shared/reads'

/** The totals of a year, the current one by default. */
function useSummary(year?: number, isNeeded = true) {
  const here = useHere()
  const options = { params: { ...here.params, query: { year } } }
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices/summary', options, { enabled: isNeeded }).data?.data
}

/** The total of a year's invoices in each currency. The year is in the URL, otherwise the latest one with invoices. */
export function YearTotals() {
  const { t } = useLingui()
  const format = useFormat()
  const [search, filter] = useFilters()
  const year = Number(search.year) || undefined
  const first = useSummary(year)
  const latest = first && !year && !first.years.includes(first.year) ? first.years[0] : undefined
  const last = useSummary(latest, latest !== undefined)
  const read = latest ? last : first
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
